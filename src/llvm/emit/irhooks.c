/* Hooks: see irhooks.h. Which calls they are is known by name. */
#include "llvm/emit/irhooks.h"

#include <string.h>

struct hook {
    const char *name;   /* of the called function */
    const char *before; /* of ours, or NULL */
    const char *after;
    bool exits;    /* only with --fp-exits */
    bool argument; /* ours takes the first argument of the call */
};

static const struct hook hooks[] = {
    {"_exit", "__footpath_at_end", NULL, false, false},
    {"_Exit", "__footpath_at_end", NULL, false, false},
    {"execv", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execve", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execvp", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execvpe", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execl", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execle", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execlp", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"fexecve", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"execveat", "__footpath_before_end", "__footpath_after_exec", false, false},
    {"daemon", "__footpath_before_end", NULL, false, false},
    {"vfork", "__footpath_before_vfork", NULL, true, false},
    {"longjmp", "__footpath_before_longjmp", NULL, true, true},
    {"_longjmp", "__footpath_before_longjmp", NULL, true, true},
    {"siglongjmp", "__footpath_before_longjmp", NULL, true, true},
    {"__longjmp_chk", "__footpath_before_longjmp", NULL, true, true},
    {"llvm.eh.sjlj.longjmp", "__footpath_before_builtin_longjmp", NULL, true, true},
    {"setcontext", "__footpath_before_setcontext", NULL, true, true},
    {"swapcontext", "__footpath_before_swapcontext", "__footpath_after_swapcontext", true, true},
};

static const struct hook *hook_of(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee)) return NULL;
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (!strcmp(hooks[i].name, name)) return &hooks[i];
    return NULL;
}

static void call_hook(LLVMBuilderRef builder, LLVMValueRef call, const char *name, bool argument)
{
    LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef arg = argument ? LLVMGetOperand(call, 0) : NULL;
    LLVMTypeRef type_of_arg = arg ? LLVMTypeOf(arg) : NULL;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &type_of_arg, argument, 0);
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    if (!function) {
        function = LLVMAddFunction(module, name, type);
        LLVMSetVisibility(function, LLVMHiddenVisibility);
    }
    LLVMBuildCall2(builder, type, function, &arg, argument, "");
}

static void hook_call(LLVMValueRef call, const struct hook *hook)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)))));
    LLVMPositionBuilderBefore(builder, call);
    call_hook(builder, call, hook->before, hook->argument);
    LLVMValueRef next = LLVMGetNextInstruction(call);
    if (hook->after && next && LLVMGetInstructionOpcode(call) == LLVMCall) {
        LLVMPositionBuilderBefore(builder, next);
        call_hook(builder, call, hook->after, hook->argument);
    }
    LLVMDisposeBuilder(builder);
}

void fp_ir_emit_hooks(LLVMValueRef function, bool exits)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
            next = LLVMGetNextInstruction(inst);
            LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
            if (opcode != LLVMCall && opcode != LLVMInvoke) continue;
            const struct hook *hook = hook_of(inst);
            if (hook && (exits || !hook->exits)) hook_call(inst, hook);
        }
}
