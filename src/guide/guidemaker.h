/* Shared by the files that make guides: makeguide.c (sums), makebyruns.c (distributions over
 * runs) and makevalues.c (values of calls). Nobody else includes this. */
#ifndef FP_GUIDE_GUIDEMAKER_H
#define FP_GUIDE_GUIDEMAKER_H

#include "guide/makeguide.h"
#include "profile/profile.h"
#include "profile/symbols.h"

enum { FP_GUIDE_MOST_PATHS = 2000 }; /* the most paths kept of one function */

struct fp_guide_maker {
    struct fp_arena *arena;
    struct fp_new_guide *made;
    FP_VEC(struct fp_guide_function) functions;
    FP_VEC(uint64_t) blocks; /* counts of all blocks, for the summary */
};

/* The edges of a decoded path, in the arena. */
uint32_t *fp_guide_path_edges(struct fp_arena *arena, const struct fp_path *path);

/* The function with its identity and no counts. */
struct fp_guide_function fp_guide_identify(const struct fp_function *function);
/* Adds a function with its counts to the guide, and its blocks to the summary. */
void fp_guide_maker_add(struct fp_guide_maker *maker, const struct fp_function *function,
                        struct fp_guide_function counts);
/* Sets the values that the calls of the function were given: makevalues.c. blocks: executions of
 * each. */
void fp_guide_maker_values(struct fp_guide_maker *maker, const struct fp_module *module,
                           const struct fp_function *function, const uint64_t *blocks,
                           const struct fp_symbols *symbols, struct fp_guide_function *out);
/* Computes the summary and hands the list of functions over. */
void fp_guide_maker_finish(struct fp_guide_maker *maker);

/* A guide by FP_GUIDE_BY_MEAN or _WORST: makebyruns.c. */
bool fp_guide_make_by_runs(struct fp_arena *arena, const char *const *files, size_t nfiles,
                           const char *binary, enum fp_guide_by by, struct fp_new_guide *made,
                           struct fp_error *error);

#endif
