/* Counting values: see irvalues.h. */
#include "llvm/emit/irvalues.h"

#include "footpath/abi.h"
#include "llvm/read/ircalls.h"

static void count_value(struct fp_editor *ed, LLVMValueRef table, const struct fp_value_call *at)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMPositionBuilderBefore(builder, at->call);
    LLVMValueRef value;
    if (at->kind == FP_VALUE_TARGET)
        value = LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, at->value, ed->i64, ""),
                             LLVMConstPtrToInt(table, ed->i64), "");
    else
        value = LLVMBuildIntCast2(builder, at->value, ed->i64, false, "");
    value = LLVMBuildAnd(builder, value, LLVMConstInt(ed->i64, FP_VALUE_MASK, 0), "");
    /* a key of the table is one more than what it stands for */
    LLVMValueRef rest = LLVMConstInt(ed->i64, fp_value_key(at->kind, at->number) + 1, 0);
    const char *name =
        ed->threads == FP_THREADS_LOCAL ? FP_HASH_MISS_SYMBOL : FP_HASH_SHARED_SYMBOL;
    fp_edit_count_call(ed, name, table, LLVMBuildAdd(builder, value, rest, ""));
}

void fp_ir_emit_values(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    fp_value_calls calls = {0};
    fp_ir_find_values(ed->ir->arena, ed->ir->function, &calls);
    LLVMValueRef table = fp_edit_counters(ed, FP_HASH_PREFIX, f->id, f->layout.path_slots);
    for (size_t i = 0; i < calls.len; i++) count_value(ed, table, &calls.at[i]);
}
