/* Turns and hits: see ircopy.h. */
#include "llvm/emit/ircopy.h"

#include "base/vec.h"
#include "footpath/abi.h"
#include "p3/hits.h"
#include "llvm/emit/irframe.h"
#include "llvm/shim.h"

#include <string.h>

/* ---- turns ---- */

static LLVMValueRef edge_word(struct fp_editor *ed, uint32_t slot)
{
    const struct fp_function *f = ed->ir->f;
    LLVMValueRef counters =
        fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, f->layout.edge_slots);
    return fp_edit_word(ed, counters, f->layout.edge_slots, slot);
}

/* The number of invocations before this one. */
static LLVMValueRef count_invocation(struct fp_editor *ed, LLVMValueRef where)
{
    LLVMValueRef one = LLVMConstInt(ed->i64, 1, 0);
    if (ed->threads == FP_THREADS_ATOMIC)
        return LLVMBuildAtomicRMW(ed->builder, LLVMAtomicRMWBinOpAdd, where, one,
                                  LLVMAtomicOrderingMonotonic, 0);
    LLVMValueRef old = LLVMBuildLoad2(ed->builder, ed->i64, where, "");
    LLVMSetAlignment(old, 8);
    LLVMValueRef sum = LLVMBuildAdd(ed->builder, old, one, "");
    LLVMSetAlignment(LLVMBuildStore(ed->builder, sum, where), 8);
    return old;
}

/* A program counter in the plain body must not be taken for one in the block that
 * happens to lie in front of it. */
static void mark_plain(struct fp_editor *ed, LLVMBasicBlockRef first)
{
    for (LLVMBasicBlockRef bb = first; bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef at = LLVMGetFirstInstruction(bb);
        while (LLVMGetInstructionOpcode(at) == LLVMPHI ||
               LLVMGetInstructionOpcode(at) == LLVMLandingPad)
            at = LLVMGetNextInstruction(at);
        fp_ir_emit_end_mark(ed, at);
    }
}

void fp_ir_emit_turns(struct fp_editor *ed, uint32_t ncopies, uint32_t turn)
{
    struct fp_ir *ir = ed->ir;
    LLVMBasicBlockRef first = ir->blocks[0].bb, plain;
    LLVMBasicBlockRef head = fp_shim_second_body(ir->function, &plain);
    LLVMPositionBuilderAtEnd(ed->builder, head);
    LLVMValueRef before = count_invocation(ed, edge_word(ed, ir->f->copy->turns_slot));
    if (ir->f->copy->hits_slot != FP_NONE)
        fp_edit_add_to(ed, edge_word(ed, ir->f->copy->hits_slot), NULL);
    LLVMValueRef whose = LLVMBuildURem(ed->builder, before, LLVMConstInt(ed->i64, ncopies, 0), "");
    LLVMValueRef mine =
        LLVMBuildICmp(ed->builder, LLVMIntEQ, whose, LLVMConstInt(ed->i64, turn, 0), "");
    fp_edit_weigh(ed, LLVMBuildCondBr(ed->builder, mine, first, plain), 1, ncopies - 1);
    if (ir->f->flags & FP_FUNCTION_EXITS) mark_plain(ed, plain);
}

void fp_ir_emit_calls(struct fp_editor *ed)
{
    fp_edit_at_head(ed, 0);
    fp_edit_add_to(ed, edge_word(ed, ed->ir->f->copy->turns_slot), NULL);
}

/* ---- hits ---- */

static void add_hits(struct fp_editor *ed, uint32_t hits)
{
    fp_edit_add_to(ed, edge_word(ed, ed->ir->f->copy->hits_slot), LLVMConstInt(ed->i64, hits, 0));
}

void fp_ir_emit_hits(struct fp_editor *ed, const struct fp_plan *plan)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    const uint8_t *fate = ed->ir->f->paths.truncation->order.fate;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t hits = fate[e] == FP_FATE_DEAD ? 0 : fp_hits_on_edge(plan, e);
        if (!hits) continue;
        fp_edit_on_edge(ed, e, false);
        add_hits(ed, hits);
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint32_t hits = fp_hits_in_block(plan, b);
        if (!hits || cfg->flags[b] & FP_BLOCK_HUB) continue;
        fp_edit_at_head(ed, b);
        add_hits(ed, hits);
    }
}
