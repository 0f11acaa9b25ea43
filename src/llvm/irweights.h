/* Counts as metadata of LLVM: branch weights, entry counts, the summary. */
#ifndef FP_LLVM_IRWEIGHTS_H
#define FP_LLVM_IRWEIGHTS_H

#include "llvm/irguide.h"

/* !prof on every branch, switch, invoke and indirect branch that was executed. Before
 * anything is put into the function. */
void fp_ir_set_branch_weights(struct fp_ir *ir, const struct fp_guide_function *counts);

#endif
