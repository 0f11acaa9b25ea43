/* What is certain of a branch, whatever became of its condition.
 *
 * `a && b` as one branch: one way says that both held, the other that one of them did not. What
 * comes behind `a` on one way alone tells that way, whatever else the branch tests. So a branch
 * on several conditions may have a label on one way only.
 */
#ifndef FP_LLVM_CERTAIN_H
#define FP_LLVM_CERTAIN_H

#include "llvm/sense/body.h"

enum { FP_CONFLICT = 0xfffffffe };

/* Is a branch a test that the source does not have: without place, in the place of a loop as a
 * whole, or of the remainder of an unrolled loop? */
bool fp_ir_is_own(const struct fp_sense *sense, LLVMValueRef branch);

/* Labels the ways of a branch or switch that are certain; false where none is. A branch whose ways
 * all say the same does not decide the condition. Neither does one that decides between an
 * unrolled loop and its remainder, which a test of the compiler's own follows; but an unrolled
 * loop goes round by one. */
bool fp_certain_label(struct fp_sense *sense, const struct fp_body *body, uint32_t block,
                      LLVMValueRef terminator, struct fp_edge_info *labels);

/* Does a branch in the place of a loop's condition only choose between copies of the body? LLVM
 * makes such tests around loops that it unrolls or turns into vector loops: each way leads to
 * rounds of the loop or to another such test. The source has no condition there. */
bool fp_chooses_copy(struct fp_sense *sense, const struct fp_body *body, uint32_t block,
                     LLVMValueRef branch);

/* The same of a branch in the place of a loop as a whole: of any loop that begins on its line. */
bool fp_chooses_copy_of_loop(struct fp_sense *sense, LLVMValueRef branch);

#endif
