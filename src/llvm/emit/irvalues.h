/* What calls are given: targets of indirect calls, sizes of memory operations
 * (count/values.h). Counted early with --fp-values, and told to LLVM's own passes
 * that make direct calls and fixed sizes of the frequent ones. */
#ifndef FP_LLVM_IRVALUES_H
#define FP_LLVM_IRVALUES_H

#include "llvm/emit/iredit.h"
#include "guide/guide.h"

/* Does the function have calls of either kind? */
bool fp_ir_has_values(LLVMValueRef function);

/* Counts them in the function's hash table. Needs: the blocks as they were read. */
void fp_ir_emit_values(struct fp_editor *ed);

/* Notes what was counted on the calls, as `!prof` of kind VP; returns on how many.
 * Needs: the blocks as they were read. fp_shim_use_values acts on it. */
uint32_t fp_ir_set_values(LLVMValueRef function, const struct fp_guide_function *counts);

#endif
