/* footpath import: profiles of other tools, for a program that has a map. */
#include "commands.h"

#include "combined/combinedlegacy.h"
#include "base/io.h"
#include "cli_combined.h"
#include "footpath/profile_abi.h"
#include "profile/fill.h"
#include "profile/legacy.h"
#include "binary/callgrindcounts.h"
#include "binary/edgeprofile.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"--format", "FORMAT", "legacy (LLVM 2.8-3.3), callgrind (legacy)"},
    {"--binary", "FILE", "the program; for legacy built by footpath-cc from the same bitcode"},
    {"-o", "FILE", "where to write the profile (footpath.prof)"},
    {NULL, NULL, NULL},
};
enum { FORMAT, BINARY, OUTPUT };

/* Counters of the program as the import fills them. */
struct filling {
    struct fp_arena arena;
    struct fp_program program;
    const struct fp_function **order;
    size_t nfunctions;
    struct fp_fill counters;
    const char *arguments;
    const char *input;
    struct fp_error *error;
};

static bool import_edges(struct filling *f, const struct fp_legacy_reader *packet)
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

static bool import_paths(struct filling *f, const struct fp_legacy_reader *packet)
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

static bool import_packets(struct filling *f, const struct fp_file *file)
{
    struct fp_legacy_reader reader = {
        .r = {.bytes = file->bytes, .len = file->len, .file = f->input, .error = f->error}};
    while (fp_legacy_next(&f->arena, &reader)) {
        bool ok = true;
        switch (reader.type) {
        case FP_LEGACY_ARGUMENTS: f->arguments = reader.arguments; break;
        case FP_LEGACY_EDGES: ok = import_edges(f, &reader); break;
        case FP_LEGACY_PATHS: ok = import_paths(f, &reader); break;
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
    }
    return !reader.r.failed;
}

static bool write_result(struct filling *f, const char *output)
{
    struct fp_run run;
    char *args[] = {(char *)(f->arguments ? f->arguments : "")};
    fp_fill_finish(&f->counters, &run);
    run.host = run.folder = "";
    run.program = f->program.path;
    run.args = args;
    run.nargs = 1;
    return fp_profile_write(output, &run, 1, 0, f->error);
}

static bool holds_combined(const char *input)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, input, &error)) return false;
    bool result = fp_legacy_is_combined(file.bytes, file.len);
    fp_file_close(&file);
    return result;
}

static int import_legacy(const char *input, const char *binary, const char *output)
{
    if (holds_combined(input)) return cli_import_legacy_combined(input, binary, output);
    struct fp_error error = {0};
    struct filling f = {.error = &error, .input = input};
    struct fp_file file = {0};
    char full[4096];
    bool ok =
        fp_program_read(&f.arena, realpath(binary, full) ? full : binary, &f.program, &error) &&
        fp_file_open(&file, input, &error);
    if (ok) {
        f.order = fp_legacy_order(&f.arena, &f.program, &f.nfunctions);
        ok = fp_fill_begin(&f.counters, &f.arena, &f.program, &error) &&
             import_packets(&f, &file) && write_result(&f, output);
        fp_file_close(&file);
    }
    fp_arena_free(&f.arena);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

/* ---- callgrind: exact counts of an ordinary program ---- */

static bool add_functions(struct fp_edge_profile *p, const struct fp_callgrind *counts,
                          struct fp_error *error)
{
    for (size_t i = 0; i < p->machine.nfunctions; i++) {
        struct fp_machine_function *f = &p->machine.functions[i];
        fp_machine_build(&p->machine, f);
        uint64_t entries, *edges;
        if (!f->cfg) continue;
        edges = FP_NEW_ARRAY(p->arena, uint64_t, f->cfg->nedges);
        if (fp_callgrind_edges(counts, f, &entries, edges))
            fp_edge_profile_add(p, f, entries, edges);
    }
    return p->nfunctions ||
           fp_fail(error, p->machine.object->path, "has no named function that ran");
}

static int import_callgrind(const char *input, const char *binary, const char *output)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_object object;
    struct fp_callgrind counts;
    struct fp_edge_profile profile = {0};
    struct fp_embedded_map map;
    char full[4096], *args[] = {(char *)"(callgrind)"};
    bool ok = fp_object_open(&arena, realpath(binary, full) ? full : binary, &object, &error);
    if (ok) {
        fp_edge_profile_init(&profile, &arena, &object);
        ok = fp_callgrind_read(&arena, input, object.path, &counts, &error) &&
             add_functions(&profile, &counts, &error);
        struct fp_run result = fp_edge_profile_run(&profile, &map, args, 1);
        ok = ok && fp_profile_write(output, &result, 1, 0, &error);
        fp_edge_profile_free(&profile);
        fp_object_close(&object);
    }
    fp_arena_free(&arena);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    const char *format = "legacy", *binary = NULL, *output = "footpath.prof", *input = NULL;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == FORMAT) format = value;
        if (option == BINARY) binary = value;
        if (option == OUTPUT) output = value;
        if (option == CLI_WORD) input = value;
    }
    bool callgrind = !strcmp(format, "callgrind");
    if (strcmp(format, "legacy") && !callgrind) cli_usage(command, "unknown format %s", format);
    if (!input || !binary) cli_usage(command, "an input and --binary are needed");
    return (callgrind ? import_callgrind : import_legacy)(input, binary, output);
}

struct cli_command command_import = {
    .name = "import",
    .arguments = "--binary PROGRAM INPUT",
    .summary = "Read a profile of another tool",
    .options = options,
    .run = run,
};
