/* perf.data with registers and stacks, of a small program: the seed `machine`. What its samples
 * hold is followed forward. */
#include "fuzz.h"

#include "base/io.h"
#include "binary/edgeprofile.h"
#include "perf/forward.h"

#include <stdio.h>
#include <stdlib.h>

static const char *program_path(void)
{
    static char path[4096];
    const char *folder = getenv("FUZZ_SEEDS");
    struct fp_file file;
    struct fp_error error = {0};
    if (*path) return path;
    char found[4000];
    snprintf(found, sizeof found, "%s/machine/tiny-O2", folder ? folder : ".cache/fuzz/seeds");
    if (!realpath(found, path) || !fp_file_open(&file, path, &error)) {
        fprintf(stderr, "%s is not there; set FUZZ_SEEDS\n", found);
        exit(1);
    }
    fp_file_close(&file);
    return path;
}

static void follow(struct fp_arena *arena, const struct fp_perf_object *s, uint32_t nevents)
{
    struct fp_edge_profile p;
    fp_edge_profile_init(&p, arena, s->object);
    for (uint32_t event = 0; event < nevents && event < 4; event++) {
        struct fp_forward forward = {0};
        fp_forward_follow(arena, &p.machine, s, event, &forward);
        for (size_t i = 0; i < forward.ways.len; i++) {
            const struct fp_way *way = &forward.ways.at[i];
            const struct fp_cfg *cfg = p.machine.functions[way->function].cfg;
            if (!cfg || way->edge >= cfg->nedges || !way->count) abort();
            if (way->walks > forward.walks || way->walks > way->count) abort();
        }
    }
    fp_edge_profile_free(&p);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_perf_data data;
    struct fp_attribution found;
    struct fp_error error = {0};
    bool ok = fp_perf_parse(&arena, bytes, len, "perf.data", &data, &error);
    for (size_t i = 0; ok && i < data.changes.len; i++) data.changes.at[i].path = program_path();
    if (ok) {
        fp_attribute(&arena, &data, NULL, &found);
        for (size_t i = 0; i < found.objects.len; i++)
            if (found.objects.at[i]->object) follow(&arena, found.objects.at[i], found.nevents);
        fp_attribution_close(&found);
    }
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums, but for those of zstd, which are optional */
}
