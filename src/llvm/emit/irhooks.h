/* Calls of the runtime in front of calls that end the process or leave frames. */
#ifndef FP_LLVM_IRHOOKS_H
#define FP_LLVM_IRHOOKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* In a function that was instrumented. exits: also for jumps that leave frames. */
void fp_ir_emit_hooks(LLVMValueRef function, bool exits);

#endif
