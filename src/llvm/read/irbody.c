/* What may be there once only: see irbody.h. */
#include "llvm/read/irbody.h"

#include "llvm/read/ircalls.h"
#include "llvm/read/irgraph.h"

static bool has_address_taken(LLVMBasicBlockRef bb)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(bb)); use;
         use = LLVMGetNextUse(use))
        if (LLVMIsABlockAddress(LLVMGetUser(use))) return true;
    return false;
}

static bool is_single(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) == LLVMCallBr) return true;
    if (!fp_ir_is_call(inst)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee)) return true;
    return LLVMIsAFunction(callee) && (fp_ir_has_attribute(callee, "noduplicate") ||
                                       fp_ir_has_attribute(callee, "returns_twice"));
}

bool fp_ir_is_whole_coroutine(LLVMValueRef function)
{
    static const char before_16[] = "coroutine.presplit"; /* then the attribute was a string */
    return fp_ir_has_attribute(function, "presplitcoroutine") ||
           LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         before_16, sizeof before_16 - 1);
}

bool fp_ir_has_one_body(LLVMValueRef function)
{
    if (fp_ir_is_whole_coroutine(function)) return true;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb)) {
        if (has_address_taken(bb)) return true;
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (is_single(i)) return true;
    }
    return false;
}
