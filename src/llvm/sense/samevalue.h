/* What a comparison itself says: where a branch still compares what the source does, a call's value
 * or one from memory, with the same number, the comparison alone tells which way is true. Values
 * of variables do not count: what stands for a variable may be its opposite. */
#ifndef FP_LLVM_SAMEVALUE_H
#define FP_LLVM_SAMEVALUE_H

#include "llvm/sense/body.h"

/* Do two comparisons of the same value say the same (1) or the opposite (0)? FP_NONE where that is
 * not known. */
uint32_t fp_compares_same(const struct fp_comparison *then, const struct fp_comparison *now);

/* 0 or 1, or FP_NONE where it is not the same comparison. */
uint32_t fp_true_way_by_value(const struct fp_body *body, uint32_t block, LLVMValueRef branch);

#endif
