/* Counting laps where loops are left: see irlaps.h. */
#include "llvm/emit/irlaps.h"

#include "llvm/shim.h"

static LLVMValueRef as_integer(struct fp_editor *ed, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) return value;
    return LLVMBuildPtrToInt(ed->builder, value, ed->i64, "");
}

/* How far `now` is from the start, and `more`, over the step. */
static LLVMValueRef steps_to(struct fp_editor *ed, const struct fp_lap_variable *v,
                             LLVMValueRef now, uint64_t more)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMValueRef start = as_integer(ed, v->start);
    now = as_integer(ed, now);
    LLVMValueRef moved =
        v->down ? LLVMBuildSub(builder, start, now, "") : LLVMBuildSub(builder, now, start, "");
    if (more) moved = LLVMBuildAdd(builder, moved, LLVMConstInt(LLVMTypeOf(moved), more, 1), "");
    moved = LLVMBuildZExt(builder, moved, ed->i64, "");
    if (v->step == 1) return moved;
    return LLVMBuildExactUDiv(builder, moved, LLVMConstInt(ed->i64, v->step, 0), "");
}

/* It is a phi, through which the code generator does not look. It would keep a variable of
 * its own in the loop for what is made of it. */
LLVMValueRef fp_ir_value_behind(struct fp_editor *ed, LLVMValueRef value, uint32_t edge)
{
    LLVMBasicBlockRef from = ed->ir->blocks[ed->ir->f->paths.cfg->edges[edge].src].bb;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(ed->builder);
    if (!LLVMIsABranchInst(LLVMGetBasicBlockTerminator(from))) return value; /* several ways here */
    fp_shim_position_at_head(ed->builder, here);
    LLVMValueRef phi = LLVMBuildPhi(ed->builder, LLVMTypeOf(value), "");
    LLVMAddIncoming(phi, &value, &from, 1);
    fp_edit_on_edge(ed, edge, false);
    return phi;
}

/* Laps are (phi - start) / step; next is one step further. */
LLVMValueRef fp_ir_lap_amount(struct fp_editor *ed, uint32_t lap, uint32_t exit, bool visits)
{
    const struct fp_lap_variable *v = &ed->ir->lap_variables[lap];
    if (!v->final)
        return steps_to(ed, v, fp_ir_value_behind(ed, visits ? v->next : v->phi, exit), 0);
    uint64_t offset = (uint64_t)v->offset;
    LLVMValueRef now = v->is_fixed ? v->final : fp_ir_value_behind(ed, v->final, exit);
    return steps_to(ed, v, now, (v->down ? offset : -offset) + (visits ? v->step : 0));
}
