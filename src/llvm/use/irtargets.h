/* Counted values told to LLVM, whose own passes make direct calls and fixed sizes of
 * the frequent ones. */
#ifndef FP_LLVM_IRTARGETS_H
#define FP_LLVM_IRTARGETS_H

#include "guide/guide.h"

#include <llvm-c/Core.h>

/* Notes what was counted on the calls, as `!prof` of kind VP; returns on how many.
 * Needs: the blocks as they were read. fp_shim_use_values acts on it. */
uint32_t fp_ir_set_values(LLVMValueRef function, const struct fp_guide_function *counts);

#endif
