/* Calls: see ircalls.h.
 *
 * Which calls have values is as in LLVM's own profiles (PGOInstrumentation.cpp): calls of
 * what is no constant; memcpy, memmove, memset, memcmp and bcmp of a size that is none.
 * Calls by invoke have no size sites: none of these throws. */
#include "llvm/read/ircalls.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

bool fp_ir_is_call(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMCall || opcode == LLVMInvoke;
}

/* ---- callbacks ---- */

static bool is_elsewhere(LLVMValueRef callee)
{
    return LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) && !LLVMGetIntrinsicID(callee);
}

static bool is_passed_on(LLVMValueRef value, unsigned depth)
{
    enum { DEEPEST = 3 }; /* casts, and choices between several */
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool call = LLVMIsAInstruction(user) && fp_ir_is_call(user);
        if (call && LLVMGetCalledValue(user) != value && is_elsewhere(LLVMGetCalledValue(user)))
            return true;
        bool same = LLVMIsAConstantExpr(user) || LLVMIsASelectInst(user) || LLVMIsAPHINode(user) ||
                    LLVMIsACastInst(user);
        if (same && depth < DEEPEST && is_passed_on(user, depth + 1)) return true;
    }
    return false;
}

bool fp_ir_is_callback(LLVMValueRef function)
{
    return is_passed_on(function, 0);
}

static bool calls_ours(LLVMValueRef inst)
{
    if (!fp_ir_is_call(inst)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee)) return false;
    return !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee);
}

bool fp_ir_calls_none_of_ours(LLVMValueRef function)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst;
             inst = LLVMGetNextInstruction(inst))
            if (calls_ours(inst)) return false;
    return true;
}

/* ---- values ---- */

static bool has_size(LLVMValueRef callee)
{
    static const char *const operations[] = {"llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"};
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strncmp(name, operations[i], strlen(operations[i]))) return true;
    return LLVMIsDeclaration(callee) && (!strcmp(name, "memcmp") || !strcmp(name, "bcmp"));
}

static bool find_value(LLVMValueRef inst, struct fp_value_call *call)
{
    enum { SIZE = 2 };
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (!fp_ir_is_call(inst)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee)) return false;
    if (!LLVMIsConstant(callee)) {
        *call = (struct fp_value_call){inst, callee, FP_VALUE_TARGET, 0};
        return true;
    }
    if (opcode != LLVMCall || !LLVMIsAFunction(callee) || LLVMGetNumArgOperands(inst) <= SIZE)
        return false;
    LLVMValueRef size = LLVMGetOperand(inst, SIZE);
    if (!has_size(callee) || LLVMIsConstant(size)) return false;
    *call = (struct fp_value_call){inst, size, FP_VALUE_SIZE, 0};
    return true;
}

void fp_ir_find_values(struct fp_arena *arena, LLVMValueRef function, fp_value_calls *calls)
{
    uint32_t numbers[2] = {0, 0};
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst;
             inst = LLVMGetNextInstruction(inst)) {
            struct fp_value_call call;
            if (!find_value(inst, &call)) continue;
            call.number = numbers[call.kind]++;
            if (call.number < FP_VALUE_SITES) fp_vec_push(arena, calls, call);
        }
}

static uint32_t block_of(const struct fp_ir *ir, LLVMValueRef call)
{
    LLVMBasicBlockRef bb = LLVMGetInstructionParent(call);
    uint32_t block = (uint32_t)*fp_table_find(&ir->first_of, (uintptr_t)bb);
    return ir->blocks[block].begin ? block : block + 1; /* behind the pad */
}

void fp_ir_list_sites(struct fp_ir *ir)
{
    fp_value_calls calls = {0};
    fp_ir_find_values(ir->arena, ir->function, &calls);
    ir->f->sites = FP_NEW_ARRAY(ir->arena, struct fp_value_sites, 2);
    for (int kind = 0; kind < 2; kind++)
        ir->f->sites[kind] =
            (struct fp_value_sites){FP_NEW_ARRAY(ir->arena, uint32_t, calls.len), 0};
    for (size_t i = 0; i < calls.len; i++) {
        struct fp_value_sites *sites = &ir->f->sites[calls.at[i].kind];
        sites->blocks[sites->n++] = block_of(ir, calls.at[i].call);
    }
}

void fp_ir_count_values(LLVMValueRef function, uint32_t *ntargets, uint32_t *nsizes)
{
    struct fp_arena arena = {0};
    fp_value_calls calls = {0};
    fp_ir_find_values(&arena, function, &calls);
    *ntargets = *nsizes = 0;
    for (size_t i = 0; i < calls.len; i++)
        ++*(calls.at[i].kind == FP_VALUE_TARGET ? ntargets : nsizes);
    fp_arena_free(&arena);
}

/* ---- callees ---- */

void fp_ir_list_callees(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f)
{
    FP_VEC(const char *) names = {0};
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            if (!fp_ir_is_call(i)) continue;
            LLVMValueRef callee = LLVMGetCalledValue(i);
            if (!LLVMIsAFunction(callee) || LLVMGetIntrinsicID(callee)) continue;
            size_t len;
            const char *name = LLVMGetValueName2(callee, &len);
            fp_vec_push(arena, &names, fp_arena_strndup(arena, name, len));
        }
    f->source.callees = names.at;
    f->source.ncallees = (uint32_t)names.len;
    f->flags |= FP_FUNCTION_CALLEES;
}

/* ---- calls of each block ---- */

/* The name of what is called. False: no call that a profile would have. */
static bool find_callee(struct fp_arena *arena, LLVMValueRef inst, const char **name)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    size_t len;
    *name = NULL;
    if (LLVMIsAInlineAsm(callee)) return false;
    if (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee)) return false;
    if (!LLVMIsAFunction(callee) && !LLVMIsAGlobalAlias(callee)) return true;
    const char *text = LLVMGetValueName2(callee, &len);
    *name = fp_arena_strndup(arena, text, len);
    return true;
}

/* In the function's own text, not in that of inlined code. */
static uint32_t line_of(LLVMValueRef inst)
{
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(inst);
    return place && !LLVMDILocationGetInlinedAt(place) ? LLVMDILocationGetLine(place) : 0;
}

void fp_ir_list_calls(struct fp_ir *ir)
{
    FP_VEC(struct fp_call) calls = {0};
    FP_VEC(LLVMValueRef) instructions = {0};
    struct fp_source *source = &ir->f->source;
    uint32_t nblocks = ir->f->paths.cfg->nblocks;
    for (uint32_t b = 0; b < nblocks; b++) {
        const struct fp_ir_block *block = &ir->blocks[b];
        if (!block->bb || !block->begin) continue;
        for (LLVMValueRef inst = block->begin; inst; inst = LLVMGetNextInstruction(inst)) {
            const char *callee;
            if (fp_ir_is_call(inst) && find_callee(ir->arena, inst, &callee)) {
                fp_vec_push(ir->arena, &calls, (struct fp_call){callee, b, line_of(inst)});
                fp_vec_push(ir->arena, &instructions, inst);
            }
            if (inst == block->call) break;
        }
    }
    source->calls = calls.at;
    source->ncalls = (uint32_t)calls.len;
    ir->calls = instructions.at;
    ir->f->flags |= FP_FUNCTION_CALLS;
}
