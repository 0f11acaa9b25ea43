/* May the body of a function be copied? */
#ifndef FP_LLVM_IRBODY_H
#define FP_LLVM_IRBODY_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Is there anything in the function that cannot be there twice: addresses of blocks,
 * assembly that may define labels, a call that returns twice? */
bool fp_ir_has_one_body(LLVMValueRef function);

#endif
