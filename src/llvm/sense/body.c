/* Bodies of functions in the IR: see body.h. */
#include "llvm/sense/body.h"

#include "base/vec.h"
#include "llvm/shim.h"

static uint32_t block_at(const struct fp_body *body, LLVMValueRef instruction,
                         enum fp_position_of of)
{
    struct fp_shim_place place;
    bool more = fp_shim_place(instruction, &place);
    while (more && (place.subprogram != body->subprogram || place.inlined_at != body->inlined_at))
        more = place.inlined_at && fp_shim_outer_place(place.inlined_at, &place);
    return more ? fp_surveyed_block(body->f, place.line, place.column, of) : FP_NONE;
}

uint32_t fp_body_block(const struct fp_body *body, LLVMValueRef instruction)
{
    return block_at(body, instruction, FP_OF_ANY);
}

uint32_t fp_body_end(const struct fp_body *body, LLVMValueRef terminator)
{
    return block_at(body, terminator, FP_OF_END);
}

static bool is_jump(LLVMValueRef instruction)
{
    return LLVMGetInstructionOpcode(instruction) == LLVMBr && !LLVMIsConditional(instruction);
}

bool fp_ir_goes_on(LLVMValueRef terminator)
{
    return is_jump(terminator) || LLVMGetInstructionOpcode(terminator) == LLVMInvoke;
}

bool fp_ir_is_branch(LLVMValueRef instruction)
{
    return LLVMGetInstructionOpcode(instruction) == LLVMBr && LLVMIsConditional(instruction);
}

bool fp_body_has(const struct fp_body *body, LLVMValueRef value)
{
    struct fp_shim_place place;
    if (!LLVMIsAInstruction(value) || !fp_shim_place(value, &place)) return true;
    return place.subprogram == body->subprogram && place.inlined_at == body->inlined_at;
}

bool fp_body_find_at(const struct fp_sense *s, LLVMValueRef instruction, enum fp_position_of of,
                     struct fp_body *body, uint32_t *block)
{
    struct fp_shim_place place;
    *block = FP_NONE;
    if (!fp_shim_place(instruction, &place)) return false;
    *body = (struct fp_body){fp_survey_find(s->survey, place.subprogram), place.subprogram,
                             place.inlined_at};
    if (!body->f) return false;
    *block = fp_surveyed_block(body->f, place.line, place.column, of);
    return *block != FP_NONE && body->f->blocks[*block].nways > 1;
}

bool fp_is_remainder(const struct fp_comparison *then, const struct fp_comparison *now)
{
    return now->equality && now->of_low_bits && now->with_zero &&
           (then->left != FP_LEFT_BITS || !then->mask);
}

/* The one loop whose condition is on a line, or FP_NONE. */
static uint32_t loop_on_line(const struct fp_surveyed *f, uint32_t line)
{
    uint32_t found = FP_NONE;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        if (f->blocks[b].line != line || f->blocks[b].construct != FP_CONSTRUCT_LOOP) continue;
        if (found != FP_NONE) return FP_NONE;
        found = b;
    }
    return found;
}

/* Of a test of an unrolled loop's remainder: the number of rounds still has the loop's place. The
 * test itself may stand where the body ends, which is where a loop inside it begins. */
static void find_loop_of_remainder(LLVMValueRef branch, const struct fp_body *body, uint32_t *block)
{
    const struct fp_surveyed_block *b = &body->f->blocks[*block];
    struct fp_shim_place place;
    if (!fp_ir_is_branch(branch)) return;
    LLVMValueRef condition = LLVMGetCondition(branch);
    struct fp_comparison now = fp_survey_comparison(condition);
    if (!LLVMIsAICmpInst(condition) || !fp_is_remainder(&b->comparison, &now)) return;
    LLVMValueRef rounds = LLVMGetOperand(condition, 0);
    if (!LLVMIsAInstruction(rounds) || !fp_body_has(body, rounds)) return;
    if (!fp_shim_place(rounds, &place) || !place.line) return;
    uint32_t loop = loop_on_line(body->f, place.line);
    if (loop != FP_NONE) *block = loop;
}

bool fp_body_find(const struct fp_sense *s, LLVMValueRef terminator, struct fp_body *body,
                  uint32_t *block)
{
    if (!s->survey) return false;
    bool found = fp_body_find_at(s, terminator, FP_OF_END, body, block);
    uint32_t at = *block;
    if (at != FP_NONE) find_loop_of_remainder(terminator, body, block);
    if (found || *block != at) return true;
    if (!fp_ir_is_branch(terminator)) return false;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    return LLVMIsAInstruction(condition) && fp_body_find_at(s, condition, FP_OF_TEST, body, block);
}

void fp_mark_reached(const struct fp_sense *s, const struct fp_surveyed *f, uint32_t first,
                     uint32_t end, uint8_t mark, uint8_t *marks)
{
    FP_VEC(uint32_t) todo = {0};
    fp_vec_push(s->arena, &todo, first);
    while (todo.len) {
        uint32_t at = fp_vec_pop(&todo);
        if (at == end || marks[at] & mark) continue;
        marks[at] |= mark;
        const struct fp_surveyed_block *b = &f->blocks[at];
        for (uint32_t w = b->first_way; w < b->first_way + b->nways; w++)
            fp_vec_push(s->arena, &todo, f->ways[w].block);
    }
}

static uint64_t key_of(const struct fp_body *body, uint32_t block)
{
    uint64_t key = fp_hash64((uintptr_t)body->subprogram ^ fp_hash64((uintptr_t)body->inlined_at));
    return fp_hash64(key ^ block);
}

static void note_branches(struct fp_sense *s, LLVMValueRef function)
{
    struct fp_body body;
    uint32_t block;
    s->branches = FP_NEW(s->arena, struct fp_table);
    fp_table_init(s->branches, s->arena);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (fp_body_find(s, LLVMGetBasicBlockTerminator(b), &body, &block))
            *fp_table_add(s->branches, key_of(&body, block)) = 1;
}

bool fp_body_has_branch(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                        LLVMValueRef branch)
{
    if (!s->branches) note_branches(s, LLVMGetBasicBlockParent(LLVMGetInstructionParent(branch)));
    return fp_table_find(s->branches, key_of(body, block));
}

/* Is a block in a loop, always behind the loop's condition? One that leads there for the first time
 * is not. */
static bool is_in_loop(const struct fp_sense *s, const struct fp_surveyed *f, uint32_t block,
                       uint32_t condition)
{
    uint8_t *marks = FP_NEW_ARRAY(s->arena, uint8_t, f->nblocks);
    fp_mark_reached(s, f, 0, condition, 1, marks);
    return !marks[block];
}

bool fp_body_find_behind_step(const struct fp_sense *s, LLVMValueRef branch, struct fp_body *body,
                              uint32_t *block)
{
    if (!s->survey || !fp_ir_is_branch(branch)) return false;
    if (fp_body_find_at(s, branch, FP_OF_END, body, block) || *block == FP_NONE) return false;
    const struct fp_surveyed_block *step = &body->f->blocks[*block];
    if (step->nways != 1) return false;
    uint32_t condition = body->f->ways[step->first_way].block;
    const struct fp_surveyed_block *b = &body->f->blocks[condition];
    if (b->ending != FP_ENDING_CONDITION || b->construct != FP_CONSTRUCT_LOOP) return false;
    if (!is_in_loop(s, body->f, *block, condition)) return false;
    *block = condition;
    return true;
}
