/* What a profile of machine code says of places in the source: lines and columns.
 *
 * Optimised code has a statement several times (copies of loops' tests, inlined calls), spread
 * over blocks, moved, or not at all. So a place has one use for each inlined call of its function,
 * with how often it ran there and in which blocks of machine code it lies. Copies in one use are
 * added up where none leads to the other; of a block and what it dominates the larger is taken.
 */
#ifndef FP_GCOV_CODECOUNTS_H
#define FP_GCOV_CODECOUNTS_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/profile.h"

/* A function, inlined into the parent. */
struct fp_code_context {
    const char *function; /* linkage name, without the suffixes of copies (".constprop.0") */
    uint32_t parent;      /* or FP_NONE */
};

struct fp_code_use {
    uint32_t context, scope; /* the scope tells apart calls that have the same context */
    uint32_t call_line;      /* where it was inlined, or 0 */
    uint64_t count;
    FP_VEC(uint32_t) blocks; /* numbers of machine blocks, all functions counted on */
};

struct fp_code_place {
    uint32_t line, column;
    FP_VEC(struct fp_code_use) uses;
};

struct fp_code_file {
    const char *name;
    FP_VEC(struct fp_code_place) places;
    struct fp_table by_place; /* line << 32 | column -> 1 + index in places */
};

/* Calls that the machine code makes. */
struct fp_code_call {
    const char *caller, *callee; /* without suffixes */
    uint64_t count;
};

struct fp_code_counts {
    struct fp_arena *arena;
    FP_VEC(struct fp_code_file) files;
    FP_VEC(struct fp_code_context) contexts;
    FP_VEC(struct fp_code_call) calls;
    FP_VEC(uint64_t) blocks;       /* executions of each machine block */
    struct fp_strtable by_file;    /* 1 + index */
    struct fp_strtable by_context; /* "PARENT FUNCTION" -> 1 + index */
};

/* False: the profile is not of machine code. */
bool fp_code_counts_make(struct fp_arena *arena, const struct fp_profile *profile,
                         struct fp_code_counts *out);

/* The profile's file that a compiler calls `name`, by the end of the path; NULL: none. */
const struct fp_code_file *fp_code_file_find(const struct fp_code_counts *counts, const char *name);
const struct fp_code_place *fp_code_place_find(const struct fp_code_file *file, uint32_t line,
                                               uint32_t column);

#endif
