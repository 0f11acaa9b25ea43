/* Telling LLVM of values: see irtargets.h. */
#include "llvm/use/irtargets.h"

#include "llvm/read/ircalls.h"
#include "llvm/shim.h"

static bool is_at(const struct fp_guide_value *value, const struct fp_value_call *at)
{
    return value->kind == at->kind && value->site == at->number;
}

static bool note_values(LLVMModuleRef module, const struct fp_value_call *at,
                        const struct fp_guide_function *counts)
{
    struct fp_shim_value known[16];
    enum { MOST = sizeof known / sizeof *known };
    unsigned n = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < counts->nvalues; i++) {
        const struct fp_guide_value *value = &counts->values[i];
        if (!is_at(value, at)) continue;
        total += value->count;
        struct fp_shim_value v = {.count = value->count, .size = value->size};
        if (at->kind == FP_VALUE_TARGET) v.function = LLVMGetNamedFunction(module, value->target);
        if (n < MOST && (at->kind == FP_VALUE_SIZE || v.function)) known[n++] = v;
    }
    if (n) fp_shim_note_values(at->call, known, n, total);
    return n != 0;
}

uint32_t fp_ir_set_values(LLVMValueRef function, const struct fp_guide_function *counts)
{
    struct fp_arena arena = {0};
    fp_value_calls calls = {0};
    uint32_t noted = 0;
    if (counts->nvalues) fp_ir_find_values(&arena, function, &calls);
    for (size_t i = 0; i < calls.len; i++)
        noted += note_values(LLVMGetGlobalParent(function), &calls.at[i], counts);
    fp_arena_free(&arena);
    return noted;
}
