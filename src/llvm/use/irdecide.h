/* Which way a branch goes, where the path to it says so. */
#ifndef FP_LLVM_IRDECIDE_H
#define FP_LLVM_IRDECIDE_H

#include "base/arena.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

/* blocks[0] -> blocks[1] is a decision, and the last block has a branch. Would a copy of
 * the blocks behind the decision, for it alone, need the branch no more? */
bool fp_ir_decides(struct fp_arena *arena, const LLVMBasicBlockRef *blocks, uint32_t n);

#endif
