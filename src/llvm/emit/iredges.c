/* Edge counters: see iredges.h. */
#include "llvm/emit/iredges.h"

#include "footpath/abi.h"
#include "llvm/shim.h"

/* Unwind edges that meet in one pad carry no code. Each brings the address of
 * its counter along in a phi, and the body of the pad counts there. */
static void count_unwinds(struct fp_editor *ed, uint32_t pad, LLVMValueRef *address_of)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    uint32_t body = cfg->edges[cfg->first_out[pad]].dst;
    uint32_t first = cfg->first_in[pad], degree = fp_cfg_in_degree(cfg, pad);
    LLVMValueRef where = NULL;
    bool any = false;
    for (uint32_t k = 0; k < degree; k++) any |= address_of[cfg->in_edges[first + k]] != NULL;
    if (!any) return;
    if (degree == 1) {
        where = address_of[cfg->in_edges[first]];
    } else {
        fp_shim_position_at_head(ed->builder, ed->ir->blocks[pad].bb);
        where = LLVMBuildPhi(ed->builder, fp_edit_pointer_type(ed, ed->i64), "");
        for (uint32_t k = 0; k < degree; k++) {
            uint32_t e = cfg->in_edges[first + k];
            LLVMValueRef value = address_of[e] ? address_of[e] : LLVMGetUndef(LLVMTypeOf(where));
            LLVMAddIncoming(where, &value, &ed->ir->blocks[cfg->edges[e].src].bb, 1);
        }
    }
    fp_edit_at_head(ed, body);
    fp_edit_add_to(ed, where, NULL);
}

static void count_flow_edge(struct fp_editor *ed, uint32_t i, LLVMValueRef where,
                            LLVMValueRef *unwind)
{
    const struct fp_function *f = ed->ir->f;
    const struct fp_flow_edge *edge = &f->paths.flow->edges[i];
    switch (edge->kind) {
    case FP_FLOW_ENTRY: fp_edit_at_head(ed, 0); break;
    case FP_FLOW_EXIT: fp_edit_at_head(ed, edge->src); break;
    case FP_FLOW_FRONT: fp_edit_at_end(ed, edge->src); break;
    case FP_FLOW_EDGE:
        if (f->paths.cfg->edges[edge->cfg_edge].kind == FP_EDGE_UNWIND) {
            unwind[edge->cfg_edge] = where;
            return;
        }
        fp_edit_on_edge(ed, edge->cfg_edge, true);
        break;
    }
    fp_edit_add_to(ed, where, NULL);
}

void fp_ir_emit_edges(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    LLVMValueRef counters =
        fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, f->layout.edge_slots);
    LLVMValueRef *unwind = FP_NEW_ARRAY(ed->ir->arena, LLVMValueRef, f->paths.cfg->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++)
        if (f->layout.flow_slot[i] != FP_NONE)
            count_flow_edge(
                ed, i, fp_edit_word(ed, counters, f->layout.edge_slots, f->layout.flow_slot[i]),
                unwind);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (f->paths.cfg->flags[b] & FP_BLOCK_PAD) count_unwinds(ed, b, unwind);
}
