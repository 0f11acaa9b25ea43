/* The map reader, and the report of a program with that map and made-up counts. */
#include "readers.h"

#include "base/checksum.h"
#include "profile/mapcode.h"
#include "api/handle.h"
#include "report/show.h"

#include <string.h>

enum { WORDS = 1 << 10 };

void fuzz_repair_map(unsigned char *bytes, size_t len)
{
    for (size_t at = 0; at + FP_MAP_HEADER_SIZE <= len;) {
        uint32_t magic = FP_MAP_MAGIC, payload;
        memcpy(&payload, bytes + at + 4, sizeof payload);
        if (payload > len - at - FP_MAP_HEADER_SIZE)
            payload = (uint32_t)(len - at - FP_MAP_HEADER_SIZE);
        uint64_t checksum = fp_checksum(bytes + at + FP_MAP_HEADER_SIZE, payload, 0);
        memcpy(bytes + at, &magic, sizeof magic);
        memcpy(bytes + at + 4, &payload, sizeof payload);
        memcpy(bytes + at + 8, &checksum, sizeof checksum);
        at += FP_MAP_HEADER_SIZE + payload;
    }
}

/* Counters where the first function has its own, with values that depend on the map. */
static uint64_t first_address(const struct fp_program *program)
{
    for (size_t i = 0; i < program->nfunctions; i++)
        if (program->functions[i].layout.path_address)
            return program->functions[i].layout.path_address;
    return 0;
}

static void add_counts(struct fp_profile *profile, const struct fp_program *program)
{
    static struct fp_counter counters[WORDS];
    struct fp_run run = {.runs = 1, .host = "h", .program = "p", .folder = "/"};
    struct fp_in_flight left[8];
    run.module = (struct fp_module_id){.path = "p",
                                       .build_id = (const unsigned char *)"",
                                       .sections.counters_address = first_address(program),
                                       .sections.counters_size = WORDS * 8};
    for (uint64_t i = 0; i < WORDS; i++)
        counters[i] = (struct fp_counter){i, i * 2654435761u >> 28 & 7};
    run.counters = counters;
    run.ncounters = WORDS;
    for (size_t i = 0; i < 8 && i < program->nfunctions; i++, run.nin_flight++)
        left[i] = (struct fp_in_flight){program->functions[i].id, i, i * i, 1};
    run.in_flight = left;
    fp_profile_add_run(profile, &run);
}

bool fuzz_read_map(const unsigned char *bytes, size_t len, struct fp_error *error)
{
    struct fp_profile *profile = fp_profile_new();
    struct fp_program program = {0};
    bool ok = fp_program_parse(&profile->arena, "map", bytes, len, NULL, 0, &program, error);
    if (ok) {
        struct fp_writer out = {0};
        add_counts(profile, &program);
        profile->modules.at[0]->program = program;
        profile->modules.at[0]->have_program = true;
        struct footpath *fp = fp_handle_of_profile(profile, &(struct footpath_options){.edges = 1});
        fp_show_json(&out, fp);
        footpath_close(fp);
        fp_writer_free(&out);
    }
    fp_profile_free(profile);
    return ok;
}
