/* Counts as metadata of LLVM: branch weights, entry counts, the summary. */
#ifndef FP_LLVM_IRWEIGHTS_H
#define FP_LLVM_IRWEIGHTS_H

#include "llvm/read/irguide.h"

/* !prof on every branch, switch, invoke and indirect branch that was executed. Before
 * anything is put into the function. */
void fp_ir_set_branch_weights(struct fp_ir *ir, const struct fp_guide_function *counts);

/* !prof of one terminator; weights may be scaled. */
void fp_ir_set_weights(LLVMValueRef terminator, uint64_t *weights, unsigned n);

/* How often the function was called, and whether that makes it hot or cold. */
void fp_ir_set_entry_count(struct fp_ir *ir, const struct fp_guide_function *counts,
                           const struct fp_guide_summary *summary);

/* The summary, by which LLVM decides what hot and cold mean. False where the module has
 * one already: a profile was used. */
bool fp_ir_set_summary(LLVMModuleRef module, const struct fp_guide_summary *summary);

/* The count from which on a block is hot (99% of all counts are of such), and the one
 * up to which it is cold, as LLVM draws the lines. */
uint64_t fp_ir_hot_count(const struct fp_guide_summary *summary);
uint64_t fp_ir_cold_count(const struct fp_guide_summary *summary);

#endif
