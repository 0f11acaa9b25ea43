/* footpath import: profiles of other tools, for a program that has a map. */
#include "commands.h"

#include "analysis/combinedlegacy.h"
#include "base/io.h"
#include "cli_combined.h"
#include "footpath/abi.h"
#include "footpath/profile_abi.h"
#include "profile/legacy.h"
#include "sample/callgrind.h"
#include "sample/edgeprofile.h"

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
    uint64_t first, end; /* addresses of counters */
    uint64_t *words;
    uint64_t tables_first, tables_end;
    FP_VEC(struct fp_table_count) tables;
    const char *arguments;
    const char *input;
    struct fp_error *error;
};

static void widen(uint64_t *first, uint64_t *end, uint64_t address, uint64_t slots)
{
    if (!slots || !address) return;
    if (!*first || address < *first) *first = address;
    if (address + slots * 8 > *end) *end = address + slots * 8;
}

static void find_ranges(struct filling *f)
{
    for (size_t i = 0; i < f->nfunctions; i++) {
        const struct fp_function *fn = f->order[i];
        bool hashed = fn->flags & FP_FUNCTION_HASHED;
        widen(hashed ? &f->tables_first : &f->first, hashed ? &f->tables_end : &f->end, fn->path_address,
              fn->path_slots);
        widen(&f->first, &f->end, fn->edge_address, fn->edge_slots);
    }
    f->words = FP_NEW_ARRAY(&f->arena, uint64_t, (f->end - f->first) / 8);
}

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
                return fp_fail(f->error, f->input, "expected counters of %zu functions, got %zu counters",
                               f->nfunctions, packet->nwords);
            uint32_t count = fp_legacy_word(packet, at);
            for (uint32_t s = 0; s < fn->flow->nedges; s++) {
                const struct fp_flow_edge *edge = &fn->flow->edges[s];
                bool same = edges[k] == FP_NONE ? edge->kind == FP_FLOW_ENTRY
                                                : edge->kind == FP_FLOW_EDGE && edge->cfg_edge == edges[k];
                if (same) f->words[(fn->edge_address - f->first) / 8 + fn->flow_slot[s]] += count;
            }
        }
    }
    if (at != packet->nwords)
        return fp_fail(f->error, f->input, "expected %zu counters for this program, got %zu", at,
                       packet->nwords);
    return true;
}

struct of_function {
    struct filling *f;
    const struct fp_function *fn;
};

static void add_to_counter(uint64_t path, uint64_t count, void *context)
{
    struct of_function *at = context;
    struct filling *f = at->f;
    const struct fp_function *fn = at->fn;
    if (!(fn->flags & FP_FUNCTION_HASHED)) {
        f->words[(fn->path_address - f->first) / 8 + path] += count;
    } else if (path >= fn->numbering->num_paths) {
        f->words[(fn->edge_address - f->first) / 8 + path - fn->numbering->num_paths] += count;
    } else {
        uint64_t table = (fn->path_address - f->tables_first) / FP_HASH_TABLE_SIZE;
        struct fp_table_count entry = {table, path, count};
        fp_vec_push(&f->arena, &f->tables, entry);
    }
}

/* Its counter, and those that the program would have made on the way. */
static bool import_path(struct filling *f, const struct fp_function *fn, uint32_t path, uint32_t count)
{
    struct of_function at = {f, fn};
    if (!(fn->flags & FP_FUNCTION_PATHS))
        return fp_fail(f->error, f->program.path, "has no path counters; build it with --fp-mode=path");
    if (path >= fn->numbering->num_ids)
        return fp_fail(f->error, f->input, "%s: expected a path below %llu, got %u", fn->name,
                       (unsigned long long)fn->numbering->num_ids, path);
    add_to_counter(path, count, &at);
    fp_unrecover(fn->numbering, fn->at_end, path, count, add_to_counter, &at);
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
            if (!import_path(f, f->order[number - 1], fp_legacy_word(packet, at),
                             fp_legacy_word(packet, at + 1)))
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
            ok = fp_fail(f->error, f->input, "packets of type %d are not counts of one run", reader.type);
            break;
        }
        if (!ok) return false;
    }
    return !reader.r.failed;
}

static bool write_result(struct filling *f, const char *output)
{
    struct fp_run run = {
        .runs = 1, .host = "", .program = f->program.path, .folder = "",
        .module = {.path = f->program.path, .build_id = f->program.build_id,
                   .build_id_len = f->program.build_id_len, .counters_address = f->first,
                   .counters_size = f->end - f->first, .tables_address = f->tables_first,
                   .tables_size = f->tables_end - f->tables_first},
        .tables = f->tables.at, .ntables = f->tables.len,
    };
    char *args[] = {(char *)(f->arguments ? f->arguments : "")};
    run.args = args;
    run.nargs = 1;
    size_t n = (f->end - f->first) / 8;
    run.counters = FP_NEW_ARRAY(&f->arena, struct fp_counter, n);
    for (size_t i = 0; i < n; i++)
        if (f->words[i]) run.counters[run.ncounters++] = (struct fp_counter){i, f->words[i]};
    return fp_profile_write(output, &run, 1, f->error);
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
    bool ok = fp_program_read(&f.arena, realpath(binary, full) ? full : binary, &f.program, &error) &&
              fp_file_open(&file, input, &error);
    if (ok) {
        f.order = fp_legacy_order(&f.arena, &f.program, &f.nfunctions);
        find_ranges(&f);
        ok = import_packets(&f, &file) && write_result(&f, output);
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
        if (fp_callgrind_edges(counts, f, &entries, edges)) fp_edge_profile_add(p, f, entries, edges);
    }
    return p->nfunctions || fp_fail(error, p->machine.object->path, "has no named function that ran");
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
        ok = ok && fp_profile_write(output, &result, 1, &error);
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
