/* What a comparison itself says: see samevalue.h. */
#include "llvm/sense/samevalue.h"

/* A comparison with a number as `x < bound`, or its opposite. */
struct number_bound {
    bool is_less, is_signed;
    int64_t number;
};

static bool read_bound(const struct fp_comparison *c, bool narrowed, struct number_bound *bound)
{
    int64_t number = narrowed ? (int64_t)c->unsigned_number : c->number;
    bool above = c->predicate == LLVMIntSGT || c->predicate == LLVMIntUGT ||
                 c->predicate == LLVMIntSLE || c->predicate == LLVMIntULE;
    if (c->equality || number == INT64_MAX) return false;
    bound->is_less = c->predicate == LLVMIntSLT || c->predicate == LLVMIntSLE ||
                     c->predicate == LLVMIntULT || c->predicate == LLVMIntULE;
    bound->is_signed = c->predicate >= LLVMIntSGT;
    bound->number = number + above;
    return bound->number != 0 || bound->is_signed;
}

/* A byte that was widened may be compared as a byte. */
uint32_t fp_compares_same(const struct fp_comparison *then, const struct fp_comparison *now)
{
    struct number_bound a, b;
    bool narrowed = now->width < then->width && now->number != then->number;
    if (then->equality && now->equality) {
        bool same = then->with_number == now->with_number &&
                    (then->number == now->number ||
                     (narrowed && then->number == (int64_t)now->unsigned_number));
        return same ? then->predicate == now->predicate : FP_NONE;
    }
    if (!then->with_number || !now->with_number) return FP_NONE;
    if (!read_bound(then, false, &a) || !read_bound(now, narrowed, &b)) return FP_NONE;
    bool comparable =
        a.is_signed == b.is_signed || (now->width < then->width && !b.is_signed && a.number >= 0);
    return comparable && a.number == b.number ? a.is_less == b.is_less : FP_NONE;
}

static bool is_from(const struct fp_body *body, uint32_t block, LLVMValueRef value)
{
    return LLVMIsAInstruction(value) && fp_body_has(body, value) &&
           fp_body_block(body, value) == block;
}

uint32_t fp_true_way_by_value(const struct fp_body *body, uint32_t block, LLVMValueRef branch)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    if (!fp_ir_is_branch(branch) || b->true_way == FP_NONE) return FP_NONE;
    LLVMValueRef condition = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(condition)) return FP_NONE;
    LLVMValueRef left = LLVMGetOperand(condition, 0);
    while (LLVMIsACastInst(left)) left = LLVMGetOperand(left, 0);
    if (!is_from(body, block, condition) || !is_from(body, block, left)) return FP_NONE;
    struct fp_comparison now = fp_survey_comparison(condition);
    if (!now.is_whole || !b->comparison.is_whole || now.origin == FP_ORIGIN_OTHER ||
        now.origin != b->comparison.origin || now.callee != b->comparison.callee)
        return FP_NONE;
    uint32_t same = fp_compares_same(&b->comparison, &now);
    if (same == FP_NONE) return FP_NONE;
    return same ? b->true_way : 1 - b->true_way;
}
