/* Reading, writing and converting combined profiles: see cli_combined.h. */
#include "cli_combined.h"

#include "combined/combinedlegacy.h"
#include "combined/combinedview.h"
#include "base/checksum.h"
#include "base/io.h"
#include "footpath/profile_abi.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct fp_combined *cli_read_combined(const char *const *names, size_t count,
                                      struct fp_combiner *combiner, uint32_t bins)
{
    struct fp_load load = {.names = names, .nnames = count};
    struct fp_combined *c = fp_load_combined(&load, combiner, bins);
    cli_tell_load(&load);
    fp_load_free(&load);
    return c;
}

struct fp_combined_view *cli_load_view(struct cli_profiles *profiles)
{
    struct fp_combiner *combiner = fp_combiner_new(&profiles->binary, profiles->binary != NULL);
    uint32_t bins = fp_combined_bins(profiles->names.at, profiles->names.len);
    struct fp_combined *c =
        cli_read_combined(profiles->names.at, profiles->names.len, combiner, bins);
    struct fp_error error = {0};
    if (!c) {
        fp_combiner_free(combiner);
        return NULL;
    }
    struct fp_combined_view *view = fp_combined_view_make(combiner, c, &error);
    if (!view) cli_fail(&error, "name the program that ran by --binary FILE");
    return view;
}

/* ---- writing ---- */

bool cli_write_combined(const char *path, uint64_t program, uint64_t id,
                        struct fp_combined *combined, const struct fp_unfinished *going,
                        struct fp_error *error)
{
    struct fp_writer out = {0}, payload = {0};
    fp_write_profile_header(&out, program, id);
    fp_combined_encode(&payload, combined);
    fp_write_record(&out, FP_RECORD_COMBINED, &payload);
    for (size_t i = 0; going && i < going->runs.len; i++) {
        fp_run_encode(&payload, &going->runs.at[i]);
        fp_write_record(&out, FP_RECORD_RUN, &payload);
    }
    fp_write_commit(&out);
    bool ok = fp_file_write(path, out.bytes, out.len, error);
    fp_writer_free(&out);
    return ok;
}

/* ---- legacy files ---- */

/* The one program of a combined profile: of several builds, one that knows paths. */
static const struct fp_program *only_program(struct fp_combiner *combiner,
                                             const struct fp_combined *c, bool paths,
                                             struct fp_error *error)
{
    const struct fp_program *found = NULL;
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_program *program = fp_combiner_program(combiner, &c->modules.at[i], error);
        bool has_paths = false;
        if (!program) return NULL;
        for (size_t k = 0; k < program->nfunctions; k++)
            has_paths |= program->functions[k].paths.numbering != NULL;
        if (!found || (paths && has_paths)) found = program;
    }
    if (!found) fp_fail(error, NULL, "the combined profile is of no program");
    return found;
}

int cli_export_legacy_combined(const struct cli_profiles *inputs, bool paths, const char *output)
{
    struct fp_combiner *combiner = fp_combiner_new(&inputs->binary, inputs->binary != NULL);
    uint32_t bins = fp_combined_bins(inputs->names.at, inputs->names.len);
    struct fp_combined *c = cli_read_combined(inputs->names.at, inputs->names.len, combiner, bins);
    struct fp_error error = {0};
    struct fp_writer out = {0};
    int status = EXIT_FAILED;
    const struct fp_program *program = c ? only_program(combiner, c, paths, &error) : NULL;
    if (program &&
        fp_combined_to_legacy(&out, c, program,
                              paths ? FP_LEGACY_COMBINED_PATHS : FP_LEGACY_COMBINED_EDGES, &error))
        status = cli_output(output, &out);
    if (error.set) cli_fail(&error, NULL);
    fp_writer_free(&out);
    fp_combined_free(c);
    fp_combiner_free(combiner);
    return status;
}

static bool import_packets(struct fp_combined *c, const struct fp_program *program,
                           const struct fp_file *file, const char *name, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_legacy_reader reader = {
        .r = {.bytes = file->bytes, .len = file->len, .file = name, .error = error}};
    bool ok = true;
    while (ok && fp_legacy_next(&arena, &reader)) {
        if (reader.type == FP_LEGACY_ARGUMENTS) continue;
        if (reader.type == FP_LEGACY_COMBINED_EDGES || reader.type == FP_LEGACY_COMBINED_PATHS)
            ok = fp_combined_from_legacy(c, program, &reader);
        else
            ok = fp_fail(error, name,
                         "holds combined profiles and a packet of type %d; import them apart",
                         (int)reader.type);
    }
    fp_arena_free(&arena);
    return ok && !reader.r.failed;
}

int cli_import_legacy_combined(const char *input, const char *binary, const char *output)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_program program;
    struct fp_file file = {0};
    char full[4096];
    struct fp_combined *c = fp_combined_new(1);
    bool ok = fp_program_read(&arena, realpath(binary, full) ? full : binary, &program, &error) &&
              fp_file_open(&file, input, &error);
    if (ok) {
        fp_combined_module(c, program.path, program.build_id, program.build_id_len);
        ok = import_packets(c, &program, &file, input, &error);
        fp_file_close(&file);
    }
    if (ok) c->modules.at[0].runs = c->runs;
    ok = ok && cli_write_combined(output, fp_checksum(program.build_id, program.build_id_len, 0), 0,
                                  c, NULL, &error);
    fp_combined_free(c);
    fp_arena_free(&arena);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}
