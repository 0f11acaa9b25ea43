/* What kind of body a function has: may it be copied, will LLVM split it? */
#ifndef FP_LLVM_IRBODY_H
#define FP_LLVM_IRBODY_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Is there anything in the function that cannot be there twice: addresses of blocks,
 * assembly that may define labels, a call that returns twice? */
bool fp_ir_has_one_body(LLVMValueRef function);

/* A coroutine that LLVM has not split yet. Its parts are functions, and are what is counted. */
bool fp_ir_is_whole_coroutine(LLVMValueRef function);

#endif
