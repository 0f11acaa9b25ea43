/* Counting the values that calls are given (--fp-values). */
#ifndef FP_LLVM_IRVALUES_H
#define FP_LLVM_IRVALUES_H

#include "llvm/emit/iredit.h"

/* Counts them in the function's hash table. Needs: the blocks as they were read. */
void fp_ir_emit_values(struct fp_editor *ed);

#endif
