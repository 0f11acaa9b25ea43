/* Legacy packets to counters of a program. */
#include "profile/legacyimport.h"

#include "base/io.h"
#include "footpath/profile_abi.h"
#include "profile/fill.h"
#include "profile/legacy.h"

#include <stdlib.h>

/* The counters of the program, as they are filled. */
struct filling {
    struct fp_arena arena;
    struct fp_program program;
    const struct fp_function **order;
    size_t nfunctions;
    struct fp_fill counters; /* of the set that is being read */
    const char *arguments;
    bool any; /* the set has counts */
    FP_VEC(struct fp_run) runs;
    const char *input;
    struct fp_error *error;
};

static bool fill_edges(struct filling *f, const struct fp_legacy_reader *packet)
{
    size_t at = 0;
    for (size_t i = 0; i < f->nfunctions; i++) {
        const struct fp_function *fn = f->order[i];
        size_t n;
        if (!(fn->flags & FP_FUNCTION_EDGES) || fn->flags & FP_FUNCTION_CHORDS)
            return fp_fail(f->error, f->program.path,
                           "has no counter on every edge; build it with --fp-mode=edge");
        uint32_t *edges = fp_legacy_edges(&f->arena, fn, &n);
        for (size_t k = 0; k < n; k++, at++) {
            if (at >= packet->nwords)
                return fp_fail(f->error, f->input,
                               "expected counters of %zu functions, got %zu counters",
                               f->nfunctions, packet->nwords);
            uint32_t count = fp_legacy_word(packet, at);
            for (uint32_t s = 0; s < fn->paths.flow->nedges; s++) {
                const struct fp_flow_edge *edge = &fn->paths.flow->edges[s];
                bool same = edges[k] == FP_NONE
                                ? edge->kind == FP_FLOW_ENTRY
                                : edge->kind == FP_FLOW_EDGE && edge->cfg_edge == edges[k];
                if (same) fp_fill_flow(&f->counters, fn, s, count);
            }
        }
    }
    if (at != packet->nwords)
        return fp_fail(f->error, f->input, "expected %zu counters for this program, got %zu", at,
                       packet->nwords);
    return true;
}

static bool fill_paths(struct filling *f, const struct fp_legacy_reader *packet)
{
    for (size_t at = 0; at + 1 < packet->nwords;) {
        uint32_t number = fp_legacy_word(packet, at), entries = fp_legacy_word(packet, at + 1);
        at += 2;
        if (number == 0 || number > f->nfunctions)
            return fp_fail(f->error, f->input, "expected a function from 1 to %zu, got %u",
                           f->nfunctions, number);
        for (uint32_t k = 0; k < entries; k++, at += 2)
            if (!fp_fill_path(&f->counters, f->order[number - 1], fp_legacy_word(packet, at),
                              fp_legacy_word(packet, at + 1), f->error))
                return false;
    }
    return true;
}

/* The set that was read becomes a run. */
static void finish_set(struct filling *f)
{
    struct fp_run run;
    char **args = FP_NEW_ARRAY(&f->arena, char *, 2);
    args[0] = fp_arena_strdup(&f->arena, f->program.path);
    args[1] = fp_arena_strdup(&f->arena, f->arguments ? f->arguments : "");
    fp_fill_finish(&f->counters, &run);
    run.host = run.folder = "";
    run.program = f->program.path;
    run.args = args;
    run.nargs = *args[1] ? 2 : 1;
    fp_vec_push(&f->arena, &f->runs, run);
    f->arguments = NULL;
    f->any = false;
}

/* Arguments behind counts begin the set of another run. */
static bool take_arguments(struct filling *f, const char *arguments)
{
    if (f->any) {
        finish_set(f);
        if (!fp_fill_begin(&f->counters, &f->arena, &f->program, f->error)) return false;
    }
    f->arguments = arguments;
    return true;
}

static bool fill_packets(struct filling *f, const struct fp_file *file)
{
    struct fp_legacy_reader reader = {
        .r = {.bytes = file->bytes, .len = file->len, .file = f->input, .error = f->error}};
    while (fp_legacy_next(&f->arena, &reader)) {
        bool ok = true;
        switch (reader.type) {
        case FP_LEGACY_ARGUMENTS: ok = take_arguments(f, reader.arguments); break;
        case FP_LEGACY_EDGES: ok = fill_edges(f, &reader); break;
        case FP_LEGACY_PATHS: ok = fill_paths(f, &reader); break;
        case FP_LEGACY_FUNCTIONS:
        case FP_LEGACY_BLOCKS:
        case FP_LEGACY_TRACE: break; /* implied by the others */
        case FP_LEGACY_OPTIMAL_EDGES:
        case FP_LEGACY_COMBINED_EDGES:
        case FP_LEGACY_COMBINED_PATHS:
            ok = fp_fail(f->error, f->input, "packets of type %d are not counts of one run",
                         reader.type);
            break;
        }
        if (!ok) return false;
        f->any |= reader.type == FP_LEGACY_EDGES || reader.type == FP_LEGACY_PATHS;
    }
    return !reader.r.failed;
}

static bool write_result(struct filling *f, const char *output)
{
    if (f->any || !f->runs.len) finish_set(f);
    return fp_profile_write(output, f->runs.at, f->runs.len, 0, f->error);
}

bool fp_legacy_import(const char *input, const char *binary, const char *output,
                      struct fp_error *error)
{
    struct filling f = {.error = error, .input = input};
    struct fp_file file = {0};
    char full[4096];
    bool ok =
        fp_program_read(&f.arena, realpath(binary, full) ? full : binary, &f.program, error) &&
        fp_file_open(&file, input, error);
    if (ok) {
        f.order = fp_legacy_order(&f.arena, &f.program, &f.nfunctions);
        ok = fp_fill_begin(&f.counters, &f.arena, &f.program, error) && fill_packets(&f, &file) &&
             write_result(&f, output);
        fp_file_close(&file);
    }
    fp_arena_free(&f.arena);
    return ok;
}
