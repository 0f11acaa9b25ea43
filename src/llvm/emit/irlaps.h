/* Laps that need no counter in their loop: the loop keeps count already.
 *
 * Where a loop of one way round (graph/laps.h) steps a variable by a constant, the
 * number of its laps is what that variable has moved, over the step. It is added up
 * where the loop is left, instead of counting on every lap. Where the loop's test says
 * what the variable is then (i == n), n stands for it: the loop need not carry it.
 *
 * Only for loops that control leaves by an edge: with calls that might not return,
 * or where paths in flight are wanted (--fp-exits), laps are counted one by one.
 */
#ifndef FP_LLVM_IRLAPS_H
#define FP_LLVM_IRLAPS_H

#include "graph/plan.h"
#include "llvm/emit/iredit.h"

/* One per lap of the truncation; `phi` is NULL where there is no such variable. */
struct fp_lap_variable {
    LLVMValueRef phi, next, start;
    uint64_t step;      /* its size */
    bool down;          /* towards smaller values */
    uint32_t next_at;   /* cfg block in which next is computed */
    LLVMValueRef final; /* what phi + offset is where the loop is left, or NULL: not known */
    int64_t offset;
    bool is_fixed; /* final is from outside the loop */
    bool visits;   /* the counter holds visits of the closing block, not laps */
};

/* Looks for such variables and notes in plan->at_end where visits are counted, which
 * costs least behind a test at the bottom of a loop. */
struct fp_lap_variable *fp_ir_lap_variables(const struct fp_ir *ir, struct fp_plan *plan,
                                            const double *weights);

/* How much to add to the counter on an edge that leaves the loop; the builder stands
 * there. */
LLVMValueRef fp_ir_lap_amount(struct fp_editor *ed, const struct fp_lap_variable *variable,
                              uint32_t lap, uint32_t edge);

/* The k-th block on the way round, the header being the first of nedges + 1. */
uint32_t fp_ir_lap_block(const struct fp_ir *ir, const struct fp_lap *lap, uint32_t k);

/* Does the edge leave the lap's loop, from its way round? */
bool fp_ir_leaves_lap(const struct fp_ir *ir, uint32_t lap, uint32_t edge);

#endif
