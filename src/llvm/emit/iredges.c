/* Edge counters: see iredges.h. */
#include "llvm/emit/iredges.h"

#include "footpath/abi.h"
#include "llvm/emit/irloops.h"

/* Unwind edges bring the addresses of their counters to the body of the pad. */
static void count_unwinds(struct fp_editor *ed, uint32_t pad, const LLVMValueRef *address_of)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    LLVMValueRef where = fp_edit_join_unwinds(ed, pad, address_of);
    if (!where) return;
    fp_edit_at_head(ed, cfg->edges[cfg->first_out[pad]].dst);
    fp_edit_add_to(ed, where, NULL);
}

/* An old edge may lead from a block of which only copies are reached. */
static bool is_taken(const struct fp_function *f, uint32_t e)
{
    return f->paths.truncation->order.fate[e] != FP_FATE_DEAD;
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
        if (!is_taken(f, edge->cfg_edge)) return;
        fp_edit_on_edge(ed, edge->cfg_edge, true);
        break;
    }
    fp_edit_add_to(ed, where, NULL);
}

/* Per flow edge: where its counter is, or NULL. */
static LLVMValueRef *addresses(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    LLVMValueRef counters =
        fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, f->layout.edge_slots);
    LLVMValueRef *address = FP_NEW_ARRAY(ed->ir->arena, LLVMValueRef, f->paths.flow->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++)
        if (f->layout.flow_slot[i] != FP_NONE)
            address[i] = fp_edit_word(ed, counters, f->layout.edge_slots, f->layout.flow_slot[i]);
    return address;
}

/* A copy of an edge counts in the counter of the old one. The old edges come first, with their
 * numbers; exits are not counted where there are copies. */
static void count_copied_edges(struct fp_editor *ed, const LLVMValueRef *address)
{
    const struct fp_function *f = ed->ir->f;
    const struct fp_flow *flow = f->paths.flow;
    if (!ed->ir->edge_of) return;
    LLVMValueRef *of_old = FP_NEW_ARRAY(ed->ir->arena, LLVMValueRef, flow->cfg->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++)
        if (flow->edges[i].kind == FP_FLOW_EDGE) of_old[flow->edges[i].cfg_edge] = address[i];
    for (uint32_t e = flow->cfg->nedges; e < f->paths.cfg->nedges; e++) {
        LLVMValueRef where = of_old[ed->ir->edge_of[e]];
        if (!where || !is_taken(f, e)) continue;
        fp_edit_on_edge(ed, e, true);
        fp_edit_add_to(ed, where, NULL);
    }
}

void fp_ir_emit_edges(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    const struct fp_cfg *cfg = f->paths.cfg;
    LLVMValueRef *address = addresses(ed);
    LLVMValueRef *unwind = FP_NEW_ARRAY(ed->ir->arena, LLVMValueRef, cfg->nedges);
    fp_ir_emit_loop_counts(ed, address);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++)
        if (address[i]) count_flow_edge(ed, i, address[i], unwind);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (cfg->flags[b] & FP_BLOCK_PAD) count_unwinds(ed, b, unwind);
    count_copied_edges(ed, address);
}
