/* Bodies of functions in the IR: see body.h. */
#include "llvm/sense/body.h"

#include "llvm/shim.h"

uint32_t fp_body_block(const struct fp_body *body, LLVMValueRef instruction)
{
    struct fp_shim_place place;
    bool more = fp_shim_place(instruction, &place);
    while (more && (place.subprogram != body->subprogram || place.inlined_at != body->inlined_at))
        more = place.inlined_at && fp_shim_outer_place(place.inlined_at, &place);
    return more ? fp_surveyed_block(body->f, place.line, place.column, FP_OF_ANY) : FP_NONE;
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

bool fp_body_find(const struct fp_sense *s, LLVMValueRef terminator, struct fp_body *body,
                  uint32_t *block)
{
    if (!s->survey) return false;
    if (fp_body_find_at(s, terminator, FP_OF_END, body, block)) return true;
    if (!fp_ir_is_branch(terminator)) return false;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    return LLVMIsAInstruction(condition) && fp_body_find_at(s, condition, FP_OF_TEST, body, block);
}

bool fp_body_find_behind_step(const struct fp_sense *s, LLVMValueRef branch, struct fp_body *body,
                              uint32_t *block)
{
    if (!s->survey || !fp_ir_is_branch(branch)) return false;
    if (fp_body_find_at(s, branch, FP_OF_END, body, block) || *block == FP_NONE) return false;
    const struct fp_surveyed_block *step = &body->f->blocks[*block];
    if (step->nways != 1) return false;
    *block = body->f->ways[step->first_way].block;
    const struct fp_surveyed_block *b = &body->f->blocks[*block];
    return b->ending == FP_ENDING_CONDITION && b->construct == FP_CONSTRUCT_LOOP;
}
