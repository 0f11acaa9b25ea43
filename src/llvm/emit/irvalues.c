/* Counting values: see irvalues.h. */
#include "llvm/emit/irvalues.h"

#include "footpath/abi.h"
#include "llvm/emit/ircode.h"
#include "llvm/emit/irsample.h"

/* One more than what it stands for (count/values.h), as all keys of a table. */
static LLVMValueRef key_of(struct fp_editor *ed, LLVMValueRef table, const struct fp_value_call *at)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMValueRef value;
    if (at->kind == FP_VALUE_TARGET)
        value = LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, at->value, ed->i64, ""),
                             LLVMConstPtrToInt(table, ed->i64), "");
    else
        value = LLVMBuildIntCast2(builder, at->value, ed->i64, false, "");
    value = LLVMBuildAnd(builder, value, LLVMConstInt(ed->i64, FP_VALUE_MASK, 0), "");
    LLVMValueRef rest = LLVMConstInt(ed->i64, fp_value_key(at->kind, at->number) + 1, 0);
    return LLVMBuildAdd(builder, value, rest, "");
}

void fp_ir_emit_values(struct fp_editor *ed, const fp_value_calls *calls)
{
    const struct fp_function *f = ed->ir->f;
    struct fp_code code = {.ed = ed, .arena = ed->ir->arena, .slots = f->layout.path_slots};
    code.counters = fp_edit_counters(ed, FP_HASH_PREFIX, f->id, code.slots);
    for (size_t i = 0; i < calls->len; i++) {
        fp_edit_before(ed, calls->at[i].call);
        LLVMValueRef key = key_of(ed, code.counters, &calls->at[i]);
        fp_code_count_key(&code, calls->at[i].call, key);
    }
}

void fp_ir_note_values(struct fp_editor *ed, const fp_value_calls *calls)
{
    const struct fp_function *f = ed->ir->f;
    LLVMValueRef table = fp_edit_counters(ed, FP_HASH_PREFIX, f->id, f->layout.path_slots);
    for (size_t i = 0; i < calls->len; i++) {
        const struct fp_value_call *at = &calls->at[i];
        if (at->kind != FP_VALUE_TARGET) continue;
        fp_edit_before(ed, at->call);
        fp_ir_emit_target(ed, table, fp_value_key(at->kind, at->number), at->value);
    }
}
