/* Dispatch: a switch that many ways lead to, as in an interpreter. */
#ifndef FP_LLVM_IRDISPATCH_H
#define FP_LLVM_IRDISPATCH_H

#include "llvm/use/irsuper.h"

/* Gives hot ways to a switch that goes many ways a switch of their own. needs: branch
 * weights. breaks: ir. Returns the number of copies made. */
uint32_t fp_ir_copy_dispatch(struct fp_ir *ir, const struct fp_guide_function *counts,
                             const struct fp_ir_super *how);

#endif
