/* The sense of branches: what the ways out of a block mean in the source.
 *
 * At the time of instrumentation a branch has lost its block's name, and may have been turned
 * around, copied or merged with others. Its debug location still says which block of the
 * survey it comes from; those of the instructions that follow say where each way leads. A way
 * that leads to what clang had on the true side of that condition is the true one. Nothing is
 * claimed where this does not decide.
 */
#ifndef FP_LLVM_SENSE_H
#define FP_LLVM_SENSE_H

#include "count/function.h"
#include "llvm/sense/survey.h"

/* A branch as the survey knows it: in which body of which function, and the block whose ways its
 * labels name. That is FP_NONE where several conditions were decided together. */
struct fp_sense_branch {
    const struct fp_surveyed *f; /* NULL: not known */
    const void *subprogram, *inlined_at;
    uint32_t block;
    uint32_t condition;
    bool is_whole; /* labels are about all of `a && b` */
};

struct fp_sense {
    const struct fp_survey *survey; /* NULL: nothing is known */
    struct fp_arena *arena;
    /* how the blocks of one function of the survey lie to the ways out of one of them */
    const struct fp_surveyed *of;
    uint32_t from;
    struct fp_nearness *near;
    uint32_t round;
    uint32_t undecided; /* of the branch asked for last: the way on which its condition is tested
                           again, or FP_NONE */
    unsigned ways[2];   /* of it: two successors that stand for all */
    struct fp_sense_branch branch; /* asked for last */
    struct fp_table *branches; /* conditions of the survey that are still branches; NULL at first */
    struct fp_table *told;     /* by terminator: what is told of it; NULL at first */
};

/* Sets the labels of a terminator's ways, one per successor, and what the branch belongs to. */
void fp_sense_label(struct fp_sense *sense, LLVMValueRef terminator, struct fp_edge_info *labels,
                    struct fp_block_info *branch);

/* The block of the survey that a way with this label leads to, or FP_NONE. */
uint32_t fp_sense_target(const struct fp_sense_branch *branch, struct fp_edge_info label);

/* Where the condition of a branch stands: line and column of the position are set. False where
 * that is not known. */
bool fp_sense_place(struct fp_sense *sense, LLVMValueRef terminator, struct fp_position *position);

#endif
