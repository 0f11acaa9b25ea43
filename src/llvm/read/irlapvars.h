/* Variables of the program that tell how many laps a loop had.
 *
 * Where a loop of one way round (graph/laps.h) steps a variable by a constant, the
 * number of its laps is what that variable has moved, over the step. Where the loop's
 * test says what the variable is when the loop is left (i == n), n stands for it: the
 * loop need not carry the variable.
 */
#ifndef FP_LLVM_IRLAPVARS_H
#define FP_LLVM_IRLAPVARS_H

#include "llvm/read/irgraph.h"

struct fp_lap_variable {
    LLVMValueRef phi, next, start; /* phi is NULL where there is no such variable */
    uint64_t step;                 /* its size */
    bool down;                     /* towards smaller values */
    LLVMValueRef final; /* what phi + offset is where the loop is left, or NULL: not known */
    int64_t offset;
    bool is_fixed; /* final is from outside the loop */
};

/* One per lap of the truncation. exits: those of fp_lap_exits; becomes FP_NONE where no
 * variable is found. */
struct fp_lap_variable *fp_ir_lap_variables(const struct fp_ir *ir, uint32_t *exits);

#endif
