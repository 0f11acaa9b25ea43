/* Making a run by hand. The counts of paths and edges come from elsewhere (an import, a
 * collation); the result has the counters that the program would have counted.
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

/* Fails if a function of the program has counters outside of their section. */
bool fp_fill_begin(struct fp_fill *fill, struct fp_arena *arena, const struct fp_program *program,
                   struct fp_error *error);

/* Adds to the counter of a path, and to those that count in front of branches on its way. */
bool fp_fill_path(struct fp_fill *fill, const struct fp_function *f, uint64_t id, uint64_t count,
                  struct fp_error *error);

/* Adds a frame that never returned: what its register would have held, and what it would have
 * counted in front of branches. needs: FP_FUNCTION_EXITS. */
void fp_fill_partial(struct fp_fill *fill, const struct fp_function *f,
                     const struct fp_partial_path *partial);

/* Adds to the counter of a flow edge, which must have one. */
void fp_fill_flow(struct fp_fill *fill, const struct fp_function *f, uint32_t flow_edge,
                  uint64_t count);

/* Sets module, counters, tables and frames of the run; the caller sets the rest. */
void fp_fill_finish(struct fp_fill *fill, struct fp_run *run);

#endif
