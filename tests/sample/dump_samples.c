/* Prints the samples of a perf.data file, one per line, for perfscript.py:
 * event pid tid time ip period branches */
#include "perf/perfdata.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct fp_arena arena = {0};
    struct fp_perf_data data;
    struct fp_error error = {0};
    if (argc != 2) return 2;
    if (!fp_perf_read(&arena, argv[1], &data, &error)) {
        fprintf(stderr, "%s: %s\n", error.file, error.what);
        return 1;
    }
    for (size_t i = 0; i < data.samples.len; i++) {
        const struct fp_perf_sample *s = &data.samples.at[i];
        printf("%s %u %u %" PRIu64 " %" PRIx64 " %" PRIu64 "\n", data.events.at[s->event].name, s->pid, s->tid,
               s->time, s->ip, s->period);
    }
    fprintf(stderr, "pipe=%d compressed=%d cut=%d unknown=%" PRIu64 "\n", data.pipe, data.compressed, data.cut,
            data.unknown);
    fp_arena_free(&arena);
    return data.cut;
}
