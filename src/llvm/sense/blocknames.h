/* What a branch means in the source, by the names of clang's blocks. */
#ifndef FP_LLVM_BLOCKNAMES_H
#define FP_LLVM_BLOCKNAMES_H

#include "count/function.h"

#include <llvm-c/Core.h>

struct fp_named_branch {
    /* 0 or 1, the successor to which the condition as written leads when it holds; FP_NONE where
     * the names do not tell, or the branch is one that the source does not have. */
    uint32_t true_way;
    enum fp_construct construct;
    /* One side of && or ||: the block whose branch tests the last side, or the value of the whole.
     * NULL where the branch is no part of a larger condition. */
    LLVMBasicBlockRef whole;
    /* Of the branch that decides a whole: as true_way, for the whole with a `!` in front. */
    uint32_t true_way_of_whole;
};

struct fp_named_branch fp_named_branch(LLVMValueRef branch);

#endif
