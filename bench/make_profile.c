/* Makes a profile of a program that never was, to measure the tools by: functions
 * of random shapes with a given number of executed paths each, half of them counted
 * in arrays and half in hash tables. The map is in the profile.
 *
 *     make-profile FILE [FUNCTIONS [PATHS-PER-FUNCTION [BLOCKS]]]
 */
#include "base/vec.h"
#include "footpath/abi.h"
#include "shapes.h"
#include "profile/mapcode.h"
#include "profile/runs.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t rng = 5;

static uint64_t next(void)
{
    uint64_t value = rng += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

enum { COUNTERS = 0x10000000, TABLES = 0x8000000 };

struct making {
    struct fp_arena arena;
    struct fp_writer map;
    uint64_t nwords, ntables;
    FP_VEC(struct fp_counter) counters;
    FP_VEC(struct fp_table_count) tables;
    uint64_t executed;
};

static void add_lines(struct fp_arena *arena, struct fp_function *f)
{
    f->source.scopes = FP_NEW(arena, struct fp_scope);
    f->source.scopes[0] = (struct fp_scope){.function = f->name,
                                            .linkage = f->name,
                                            .file = f->file,
                                            .line = f->line,
                                            .parent = FP_NONE};
    f->source.nscopes = 1;
    f->source.npositions = f->paths.cfg->nblocks;
    f->source.positions = FP_NEW_ARRAY(arena, struct fp_position, f->source.npositions);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        f->source.positions[b] = (struct fp_position){.line = f->line + b};
        f->source.blocks[b] = (struct fp_block_info){
            .instructions = 1 + (uint32_t)(next() % 20), .first_position = b, .npositions = 1};
    }
}

static void count_paths(struct making *m, struct fp_function *f, const struct fp_sections *at,
                        uint64_t paths)
{
    uint64_t ids = f->paths.numbering->num_ids, taken = paths < ids ? paths : ids;
    uint64_t stride = ids / taken;
    for (uint64_t i = 0; i < taken; i++) {
        struct fp_place place;
        uint64_t count = 1 + next() % 1000000;
        if (!fp_layout_of_id(f, at, i * stride, &place)) abort();
        struct fp_table_count in_table = {place.table, place.path, count};
        struct fp_counter word = {place.word, count};
        if (place.in_table)
            fp_vec_push(&m->arena, &m->tables, in_table);
        else
            fp_vec_push(&m->arena, &m->counters, word);
    }
    m->executed += taken;
}

/* Puts the counters behind those of the functions before. */
static struct fp_sections place_counters(struct making *m, struct fp_function *f, bool array)
{
    fp_layout_paths(f, f->paths.numbering->num_ids, array ? 4096 : 0);
    if (f->flags & FP_FUNCTION_HASHED) {
        f->layout.path_address = TABLES + m->ntables++ * FP_HASH_TABLE_SIZE;
    } else {
        f->layout.path_address = COUNTERS + m->nwords * 8;
        m->nwords += f->layout.path_slots;
    }
    if (f->layout.edge_slots) f->layout.edge_address = COUNTERS + m->nwords * 8;
    m->nwords += f->layout.edge_slots;
    return (struct fp_sections){COUNTERS, m->nwords * 8, TABLES, m->ntables * FP_HASH_TABLE_SIZE};
}

static void make_function(struct making *m, uint32_t ordinal, uint64_t paths, uint32_t blocks)
{
    struct fp_arena *arena = &m->arena;
    struct fp_function f = {
        .ordinal = ordinal, .line = 1 + ordinal * blocks % 100000, .flags = FP_FUNCTION_PATHS};
    f.name = fp_arena_printf(arena, "function_%u", ordinal);
    f.file = fp_arena_printf(arena, "/src/part_%u.c", ordinal % 100);
    do { /* a shape with enough paths */
        f.paths.cfg = fp_shape_random(arena, blocks, next());
        f.paths.truncation = FP_NEW(arena, struct fp_truncation);
        fp_truncate(arena, f.paths.cfg, NULL, &(struct fp_limits){0}, f.paths.truncation);
    } while (f.paths.truncation->num_paths < paths && blocks++ < 1000);
    f.source.blocks = FP_NEW_ARRAY(arena, struct fp_block_info, f.paths.cfg->nblocks);
    f.source.edges = FP_NEW_ARRAY(arena, struct fp_edge_info, f.paths.cfg->nedges);
    add_lines(arena, &f);
    f.paths.dag = fp_dag_make(arena, f.paths.truncation);
    f.paths.numbering = fp_number(arena, f.paths.dag, FP_NUMBER_LARGEST_LAST, NULL);
    f.layout.at_end = FP_NEW_ARRAY(arena, uint32_t, f.paths.cfg->nblocks);
    for (uint32_t b = 0; b < f.paths.cfg->nblocks; b++) f.layout.at_end[b] = FP_NONE;
    f.paths.flow = fp_flow_make(arena, f.paths.cfg, &f.paths.truncation->order, NULL);
    struct fp_sections at = place_counters(m, &f, ordinal % 2 == 0);
    f.id = fp_function_id(next(), f.flags, f.layout.path_slots, f.layout.edge_slots);
    count_paths(m, &f, &at, paths);
    fp_map_write_record(&m->map, &f);
}

int main(int argc, char **argv)
{
    uint32_t functions = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000,
             blocks = argc > 4 ? (uint32_t)atoi(argv[4]) : 60;
    uint64_t paths = argc > 3 ? (uint64_t)atoll(argv[3]) : 500;
    struct making m = {0};
    struct fp_error error = {0};
    if (argc < 2)
        return fprintf(stderr, "usage: make-profile FILE [FUNCTIONS [PATHS [BLOCKS]]]\n"), 2;
    for (uint32_t i = 0; i < functions; i++) make_function(&m, i, paths, blocks);
    struct fp_module_id module = {.path = "/no/such/program",
                                  .build_id = (const unsigned char *)"made-up-program-1",
                                  .build_id_len = 16,
                                  .sections.counters_address = COUNTERS,
                                  .sections.counters_size = m.nwords * 8,
                                  .sections.tables_address = TABLES,
                                  .sections.tables_size = m.ntables * FP_HASH_TABLE_SIZE};
    struct fp_embedded_map map = {.module = module, .map = m.map.bytes, .map_len = m.map.len};
    char *args[] = {(char *)"made-up"};
    struct fp_run run = {.id = 1,
                         .runs = 1,
                         .host = "",
                         .program = "made-up",
                         .folder = "",
                         .args = args,
                         .nargs = 1,
                         .module = module,
                         .counters = m.counters.at,
                         .ncounters = m.counters.len,
                         .tables = m.tables.at,
                         .ntables = m.tables.len,
                         .map = &map};
    if (!fp_profile_write(argv[1], &run, 1, 0, &error))
        return fprintf(stderr, "%s\n", error.what), 1;
    printf("%u functions, %llu executed paths\n", functions, (unsigned long long)m.executed);
    fp_writer_free(&m.map);
    fp_arena_free(&m.arena);
    return 0;
}
