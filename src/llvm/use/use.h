/* --fp-use: a module compiled with what a profile knows. */
#ifndef FP_LLVM_USE_H
#define FP_LLVM_USE_H

#include "flags/flags.h"

#include <llvm-c/Core.h>

/* Needs: the point of the pipeline at which --fp-at=early counts, and a module that is
 * not instrumented. True when it was changed. */
bool fp_llvm_use(LLVMModuleRef module, const struct fp_flags *options);

#endif
