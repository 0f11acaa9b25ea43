/* perf.data: compressed records, branch records, and which code was hit. */
#include "fuzz.h"

#include "perf/attribute.h"

#include <stdlib.h>

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_perf_data data;
    struct fp_attribution found;
    struct fp_error error = {0};
    bool ok = fp_perf_parse(&arena, bytes, len, "perf.data", &data, &error);
    if (!ok && !error.set) abort(); /* a failure says why */
    for (size_t i = 0; ok && i < data.samples.len; i++) {
        const struct fp_perf_sample *s = &data.samples.at[i];
        if (s->event >= data.events.len) abort();
        if (s->nbranches && (size_t)s->first_branch + s->nbranches > data.branches.len) abort();
    }
    for (size_t i = 0; ok && i < data.changes.len; i++) data.changes.at[i].path = "/nowhere";
    if (ok) {
        fp_attribute(&arena, &data, NULL, &found);
        fp_attribution_close(&found);
    }
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums, but for those of zstd, which are optional */
}
