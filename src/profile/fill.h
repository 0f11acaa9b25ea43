/* Making a run by hand: counts of paths and edges, from elsewhere than a run of the
 * program, as the counters that the program would have counted.
 *
 *     struct fp_fill fill;
 *     fp_fill_begin(&fill, &arena, &program, &error) &&
 *         fp_fill_path(&fill, f, id, count, &error) ...
 *     fp_fill_finish(&fill, &run);
 *
 * Memory is in proportion to what is filled in, whatever sizes the program claims.
 */
#ifndef FP_PROFILE_FILL_H
#define FP_PROFILE_FILL_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/program.h"
#include "profile/runs.h"

struct fp_fill {
    struct fp_arena *arena;
    const struct fp_program *program;
    struct fp_table words; /* index in the counter section -> count */
    FP_VEC(struct fp_table_count) tables;
    FP_VEC(struct fp_in_flight) in_flight;
};

/* False where a function of the program has counters outside of their section. */
bool fp_fill_begin(struct fp_fill *fill, struct fp_arena *arena, const struct fp_program *program,
                   struct fp_error *error);

/* The counter of a path, and those that the program would have counted on the way. */
bool fp_fill_path(struct fp_fill *fill, const struct fp_function *f, uint64_t id, uint64_t count,
                  struct fp_error *error);

/* A frame that left for good: what its register would have held, and what it would have
 * counted in front of branches. needs: FP_FUNCTION_EXITS. */
void fp_fill_partial(struct fp_fill *fill, const struct fp_function *f,
                     const struct fp_partial_path *partial);

/* The counter of a flow edge that has one. */
void fp_fill_flow(struct fp_fill *fill, const struct fp_function *f, uint32_t flow_edge,
                  uint64_t count);

/* Module, counters, tables and frames of the run; the rest is the caller's. */
void fp_fill_finish(struct fp_fill *fill, struct fp_run *run);

#endif
