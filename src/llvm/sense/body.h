/* Bodies of functions in the IR, and the blocks of the survey that their instructions come from.
 *
 * A function that was inlined has several bodies. Debug locations tell them apart: each has the
 * function's subprogram and a place of inlining.
 */
#ifndef FP_LLVM_BODY_H
#define FP_LLVM_BODY_H

#include "llvm/sense/sense.h"

/* How far a way out of a branch is followed. */
enum { FP_FARTHEST_BLOCKS = 8 };

/* A function of the survey, and where this body of it is inlined. */
struct fp_body {
    const struct fp_surveyed *f;
    const void *subprogram, *inlined_at;
};

/* The block of the survey that an instruction comes from, in this body or, by way of the calls
 * that were inlined, from it. FP_NONE where that is not known. */
uint32_t fp_body_block(const struct fp_body *body, LLVMValueRef instruction);

/* The same of a branch: the block that it ends. Other instructions may share its place. */
uint32_t fp_body_end(const struct fp_body *body, LLVMValueRef terminator);

/* Is a value of this body itself, not of a function that was inlined there? */
bool fp_body_has(const struct fp_body *body, LLVMValueRef value);

/* The body and the block that an instruction comes from. False where that is not known, or where
 * the block does not end in a branch; then the block is FP_NONE or the one that was found. */
bool fp_body_find_at(const struct fp_sense *sense, LLVMValueRef instruction, enum fp_position_of of,
                     struct fp_body *body, uint32_t *block);

/* Is a comparison the compiler's own, whether an unrolled loop has a remainder? `then`: what stood
 * in its place. */
bool fp_is_remainder(const struct fp_comparison *then, const struct fp_comparison *now);

/* The block that a branch comes from: by its own place or, where passes took that away or several
 * share it, by the place of what it tests. Whether an unrolled loop has a remainder is asked of
 * the loop's condition. Where the body begins with a condition, passes may give the test the place
 * of that one. */
bool fp_body_find(const struct fp_sense *sense, LLVMValueRef terminator, struct fp_body *body,
                  uint32_t *block);

/* A vector loop goes round by a branch in the place of the step, `i++`, which leads to the loop's
 * condition: the block of that. */
bool fp_body_find_behind_step(const struct fp_sense *sense, LLVMValueRef branch,
                              struct fp_body *body, uint32_t *block);

/* Is there still a branch on a condition of the survey, in the function of a given branch? */
bool fp_body_has_branch(struct fp_sense *sense, const struct fp_body *body, uint32_t block,
                        LLVMValueRef branch);

/* Marks the blocks of the survey that a block leads to, itself among them, before `end` is met. */
void fp_mark_reached(const struct fp_sense *sense, const struct fp_surveyed *f, uint32_t first,
                     uint32_t end, uint8_t mark, uint8_t *marks);

/* A conditional branch? */
bool fp_ir_is_branch(LLVMValueRef instruction);

/* A terminator behind which it is certain which block comes next? */
bool fp_ir_goes_on(LLVMValueRef terminator);

#endif
