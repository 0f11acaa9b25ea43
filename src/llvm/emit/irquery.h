/* Records of where a function's counts are, for a program that asks for its own paths
 * (--fp-query, struct fp_query of footpath/abi.h). */
#ifndef FP_LLVM_IRQUERY_H
#define FP_LLVM_IRQUERY_H

#include "count/function.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Notes on the function where its counts are. needs: the id and the layout. */
void fp_ir_note_query(LLVMValueRef function, const struct fp_function *f);

/* A record for each function with such a note that is still there. At the end of the pipeline: a
 * record takes the address of its function, and that keeps optimisations off. True: there are
 * some. */
bool fp_ir_emit_queries(LLVMModuleRef module);

#endif
