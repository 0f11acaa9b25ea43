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

/* Is a comparison the compiler's own, whether an unrolled loop has a remainder? `then`: what stood
 * in its place. */
bool fp_is_remainder(const struct fp_comparison *then, const struct fp_comparison *now);

/* Labels the ways of a branch or switch that are certain; false where none is. A branch whose ways
 * all say the same does not decide the condition. Neither does one that decides between an
 * unrolled loop and its remainder, which a test of the compiler's own follows; but an unrolled
 * loop goes round by one. */
bool fp_certain_label(struct fp_sense *sense, const struct fp_body *body, uint32_t block,
                      LLVMValueRef terminator, struct fp_edge_info *labels);

#endif
