/* What is certain of a branch: see certain.h. */
#include "llvm/sense/certain.h"

#include "base/vec.h"
#include "llvm/shim.h"

enum { BY_FIRST = 1, BY_SECOND = 2, BEFORE = 4 };

/* Marks the blocks that lead to the condition. */
static void mark_before(const struct fp_surveyed *f, uint32_t from, uint8_t *marks)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = f->nblocks; i-- > 0;) {
            const struct fp_surveyed_block *b = &f->blocks[i];
            for (uint32_t w = b->first_way; w < b->first_way + b->nways; w++) {
                uint32_t to = f->ways[w].block;
                if (marks[i] & BEFORE || (to != from && !(marks[to] & BEFORE))) continue;
                marks[i] |= BEFORE;
                more = true;
            }
        }
    }
}

/* Which blocks of the survey each way of a condition leads to before the condition is met again,
 * and which lead to the condition. */
static const uint8_t *marks_of(struct fp_sense *s, const struct fp_surveyed *f, uint32_t from)
{
    uint8_t *marks = FP_NEW_ARRAY(s->arena, uint8_t, f->nblocks);
    uint32_t first = f->blocks[from].first_way;
    fp_mark_reached(s, f, f->ways[first].block, from, BY_FIRST, marks);
    fp_mark_reached(s, f, f->ways[first + 1].block, from, BY_SECOND, marks);
    mark_before(f, from, marks);
    return marks;
}

/* How much is believed of stores: one may be what a loop stored in every round and now stores once,
 * behind its end. */
enum stores { STORES_STAY, STORES_MAY_LEAVE };

/* May passes move an instruction behind a branch that came after it? */
static bool may_sink(LLVMValueRef instruction, enum stores stores)
{
    return (!LLVMIsAStoreInst(instruction) || stores == STORES_MAY_LEAVE) &&
           !LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction) &&
           !fp_ir_is_branch(instruction) && !LLVMIsASwitchInst(instruction) &&
           !LLVMIsAReturnInst(instruction);
}

/* The one way that leads to a block: 0, 1, or FP_NONE where both or none do. */
static uint32_t way_of_marks(uint8_t marks)
{
    switch (marks & (BY_FIRST | BY_SECOND)) {
    case BY_FIRST: return 0;
    case BY_SECOND: return 1;
    default: return FP_NONE;
    }
}

bool fp_ir_is_own(const struct fp_sense *s, LLVMValueRef branch)
{
    struct fp_body body = {0};
    struct fp_shim_place place;
    uint32_t block;
    if (!fp_ir_is_branch(branch)) return false;
    if (!fp_shim_place(branch, &place) || !place.line) return true;
    struct fp_comparison then = {0}, now = fp_survey_comparison(LLVMGetCondition(branch));
    if (fp_body_find_at(s, branch, FP_OF_END, &body, &block))
        then = body.f->blocks[block].comparison;
    bool of_loop = body.f && body.f->tagged && block == FP_NONE;
    return of_loop || fp_is_remainder(&then, &now);
}

/* What is looked for behind a branch. */
struct search {
    const uint8_t *marks; /* of the blocks of the survey */
    enum stores stores;
};

/* The way of the condition that alone leads to an instruction. */
static uint32_t certain_way(const struct fp_sense *s, const struct fp_body *body,
                            LLVMValueRef instruction, const struct search *search)
{
    const uint8_t *marks = search->marks;
    uint32_t block = fp_ir_is_own(s, instruction) ? FP_NONE : fp_body_block(body, instruction);
    if (block == FP_NONE || (marks[block] & BEFORE && may_sink(instruction, search->stores)))
        return FP_NONE;
    return way_of_marks(marks[block]);
}

/* Calls that differ in a string alone become one call, of a phi: the string tells. */
static uint32_t certain_way_of_phi(const struct fp_body *body, LLVMValueRef phi,
                                   LLVMBasicBlockRef before, const uint8_t *marks)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        if (LLVMGetIncomingBlock(phi, i) != before) continue;
        uint32_t block = fp_surveyed_user(body->f, LLVMGetIncomingValue(phi, i));
        if (block == FP_NONE || marks[block] & BEFORE) return FP_NONE;
        return way_of_marks(marks[block]);
    }
    return FP_NONE;
}

/* Walks on from a successor of a branch to the next branch. */
static uint32_t follow_certainly(const struct fp_sense *s, const struct fp_body *body,
                                 LLVMValueRef branch, unsigned successor,
                                 const struct search *search)
{
    LLVMBasicBlockRef before = LLVMGetInstructionParent(branch);
    LLVMBasicBlockRef block = LLVMGetSuccessor(branch, successor);
    for (int k = 0; k < FP_FARTHEST_BLOCKS; k++) {
        LLVMValueRef at = LLVMGetFirstInstruction(block);
        for (; at; at = LLVMGetNextInstruction(at)) {
            uint32_t way = LLVMIsAPHINode(at) ? certain_way_of_phi(body, at, before, search->marks)
                                              : certain_way(s, body, at, search);
            if (way != FP_NONE) return way;
        }
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (fp_ir_is_own(s, end)) return FP_CONFLICT;
        if (!fp_ir_goes_on(end)) break;
        before = block;
        block = LLVMGetSuccessor(end, 0);
    }
    return FP_NONE;
}

static bool is_loop_head(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    return use && LLVMGetNextUse(use);
}

/* The way of the condition that all instructions of a block come from; FP_NONE where they do not
 * agree, or none tells. */
static uint32_t way_of_block(const struct fp_body *body, uint32_t from, LLVMBasicBlockRef block,
                             const uint8_t *marks)
{
    uint32_t found = FP_NONE;
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
        uint32_t of = LLVMIsAPHINode(at) ? FP_NONE : fp_body_block(body, at);
        uint32_t way = of == FP_NONE || of == from ? FP_NONE : way_of_marks(marks[of]);
        if (way == FP_NONE || way == found) continue;
        if (found != FP_NONE) return FP_NONE;
        found = way;
    }
    return found;
}

/* Does a block branch to itself? Most unrolled and vector loops do. */
static bool goes_round(LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        if (fp_ir_is_branch(end) && LLVMGetSuccessor(end, i) == block) return true;
    return false;
}

/* Does a way lead to a loop of one block that is rounds of the condition's loop? Passes do not move
 * instructions into loops, so all that stands there tells. */
static bool leads_to_rounds(const struct fp_body *body, uint32_t from, LLVMBasicBlockRef to,
                            const uint8_t *marks)
{
    const struct fp_surveyed_block *b = &body->f->blocks[from];
    if (b->construct != FP_CONSTRUCT_LOOP) return false;
    for (int k = 0; k < FP_FARTHEST_BLOCKS; k++) {
        if (goes_round(to)) return way_of_block(body, from, to, marks) == b->true_way;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(to);
        if (!fp_ir_goes_on(end)) return false;
        to = LLVMGetSuccessor(end, 0);
    }
    return false;
}

static uint32_t way_taken(const struct fp_sense *s, const struct fp_body *body, uint32_t block,
                          LLVMValueRef terminator, unsigned i, const struct search *search)
{
    LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, i);
    bool again = to == LLVMGetInstructionParent(terminator);
    if (again && leads_to_rounds(body, block, to, search->marks))
        return body->f->blocks[block].true_way;
    return follow_certainly(s, body, terminator, i, search);
}

/* Does a branch ask whether rounds of an unrolled loop are left? Where they are, a test before this
 * one may have said so. */
static bool asks_for_remainder(const struct fp_surveyed_block *b, LLVMValueRef terminator)
{
    if (!fp_ir_is_branch(terminator)) return false;
    struct fp_comparison now = fp_survey_comparison(LLVMGetCondition(terminator));
    return fp_is_remainder(&b->comparison, &now);
}

/* Labels what is certain; gives the number of labels. */
static unsigned label_by(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                         LLVMValueRef terminator, const struct search *search,
                         struct fp_edge_info *labels)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    unsigned n = LLVMGetNumSuccessors(terminator), found = 0, held = 0;
    bool remainder = asks_for_remainder(b, terminator), own = remainder;
    for (unsigned i = 0; i < n; i++) {
        uint32_t way = way_taken(s, body, block, terminator, i, search);
        own |= way == FP_CONFLICT;
        if (way > 1) continue;
        labels[i].label = way == b->true_way ? FP_LABEL_TRUE : FP_LABEL_FALSE;
        found++, held += way == b->true_way;
    }
    bool same = found == n && (!held || held == n);
    for (unsigned i = 0; i < n; i++) {
        bool outside = own && b->construct == FP_CONSTRUCT_LOOP &&
                       labels[i].label == FP_LABEL_TRUE &&
                       (remainder || !is_loop_head(LLVMGetSuccessor(terminator, i)));
        if (labels[i].label && (same || outside)) labels[i].label = FP_LABEL_NONE, found--;
    }
    return found;
}

bool fp_certain_label(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                      LLVMValueRef terminator, struct fp_edge_info *labels)
{
    if (body->f->blocks[block].true_way == FP_NONE) return false;
    struct search search = {marks_of(s, body->f, block), STORES_STAY};
    if (label_by(s, body, block, terminator, &search, labels)) return true;
    search.stores = STORES_MAY_LEAVE;
    return label_by(s, body, block, terminator, &search, labels);
}

/* Does a way lead to another test of the condition, or to one of the compiler's own? */
static bool leads_to_test(const struct fp_sense *s, const struct fp_body *body, uint32_t from,
                          LLVMValueRef branch, unsigned successor)
{
    LLVMBasicBlockRef to = LLVMGetSuccessor(branch, successor);
    for (int k = 0; k < FP_FARTHEST_BLOCKS; k++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(to);
        if (fp_ir_is_own(s, end)) return true;
        if (!fp_ir_goes_on(end))
            return end != branch && fp_ir_is_branch(end) && fp_body_end(body, end) == from;
        to = LLVMGetSuccessor(end, 0);
    }
    return false;
}

bool fp_chooses_copy(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                     LLVMValueRef branch)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    if (b->construct != FP_CONSTRUCT_LOOP || b->true_way == FP_NONE || !fp_ir_is_branch(branch))
        return false;
    struct search search = {marks_of(s, body->f, block), STORES_MAY_LEAVE};
    for (unsigned i = 0; i < 2; i++)
        if (!leads_to_rounds(body, block, LLVMGetSuccessor(branch, i), search.marks) &&
            follow_certainly(s, body, branch, i, &search) != b->true_way &&
            !leads_to_test(s, body, block, branch, i))
            return false;
    return true;
}

bool fp_chooses_copy_of_loop(struct fp_sense *s, LLVMValueRef branch)
{
    struct fp_body body;
    struct fp_shim_place place;
    uint32_t block;
    if (!s->survey || !fp_ir_is_branch(branch) || !fp_shim_place(branch, &place)) return false;
    if (fp_body_find_at(s, branch, FP_OF_END, &body, &block) || !body.f || !body.f->tagged)
        return false;
    for (uint32_t b = 0; block == FP_NONE && b < body.f->nblocks; b++)
        if (body.f->blocks[b].line == place.line && fp_chooses_copy(s, &body, b, branch))
            return true;
    return false;
}
