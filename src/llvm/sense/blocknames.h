/* Which way of a branch is the source's true one, by the names of clang's blocks. */
#ifndef FP_LLVM_BLOCKNAMES_H
#define FP_LLVM_BLOCKNAMES_H

#include <llvm-c/Core.h>
#include <stdint.h>

/* 0 or 1, the successor to which the condition as written leads when it holds; FP_NONE where
 * the names do not tell, or the branch is one that the source does not have. */
uint32_t fp_true_way(LLVMValueRef branch);

#endif
