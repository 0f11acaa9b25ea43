/* Conditions that a branch decides beside the one that it stands for.
 *
 * `(a && b) || c` as one branch, in the place of `a`, says nothing of `a` on either way. But the
 * way on which the whole did not hold has passed `c`, and `c` did not hold there. A condition that
 * every way to a block passes by the same side, and that has no branch of its own any more, is
 * told in the place of the first.
 */
#ifndef FP_LLVM_PASSED_H
#define FP_LLVM_PASSED_H

#include "llvm/sense/body.h"

/* Labels the ways of a branch in the place of `block` by another condition, and gives the block of
 * that; FP_NONE where there is none. */
uint32_t fp_passed_label(struct fp_sense *sense, const struct fp_body *body, uint32_t block,
                         LLVMValueRef branch, struct fp_edge_info *labels);

#endif
