/* The path register as SSA values.
 *
 * Blocks are visited in topological order, so that the value of r on an edge is known
 * when its target is reached; where several edges meet, a phi is made at once and filled
 * at the end, when all edges that get a block of their own have it.
 */
#include "llvm/emit/ircode.h"
#include "llvm/shim.h"

LLVMValueRef fp_code_constant(struct fp_code *c, int64_t value)
{
    if (c->sampling) return LLVMConstInt(c->ed->i64, (uint64_t)value, 0);
    if (c->hashed) return LLVMConstInt(c->ed->i64, (uint64_t)value + 1, 0);
    return fp_edit_word(c->ed, c->counters, c->slots, value * (int64_t)c->stride);
}

LLVMValueRef fp_code_plus(struct fp_code *c, LLVMValueRef r, int64_t value)
{
    LLVMBuilderRef builder = c->ed->builder;
    if (value == 0) return r;
    if (c->hashed || c->sampling)
        return LLVMBuildAdd(builder, r, LLVMConstInt(c->ed->i64, (uint64_t)value, 1), "");
    LLVMValueRef index = LLVMConstInt(c->ed->i64, (uint64_t)value * c->stride, 1);
    return LLVMBuildGEP2(builder, c->ed->i64, r, &index, 1, "");
}

/* r behind a kept edge, as seen by its target. */
static LLVMValueRef value_on_kept(struct fp_code *c, uint32_t e)
{
    struct fp_op op = c->plan->on[c->dag->of_edge[e]];
    uint32_t src = c->cfg->edges[e].src;
    if (op.kind == FP_OP_SET) return fp_code_constant(c, op.value);
    if (op.kind != FP_OP_ADD) return c->reg[src];
    fp_edit_on_edge(c->ed, e, false);
    return fp_code_plus(c, c->reg[src], op.value);
}

static LLVMValueRef value_on_edge(struct fp_code *c, uint32_t e)
{
    switch (fp_code_fate(c, e)) {
    case FP_FATE_KEPT: return value_on_kept(c, e);
    case FP_FATE_TRUNCATED: {
        struct fp_op op = c->plan->on[c->dag->start_of[c->cfg->edges[e].dst]];
        return op.kind == FP_OP_SET ? fp_code_constant(c, op.value) : NULL;
    }
    case FP_FATE_LAP: return c->reg[c->cfg->edges[e].dst]; /* nothing changes on a lap */
    case FP_FATE_DEAD: break;
    }
    return NULL;
}

LLVMValueRef fp_code_new_phi(struct fp_code *c, uint32_t block, LLVMTypeRef type,
                             LLVMValueRef **values)
{
    LLVMBasicBlockRef bb = c->ed->ir->blocks[block].bb;
    uint32_t degree = fp_cfg_in_degree(c->cfg, block);
    fp_shim_position_at_head(c->ed->builder, bb);
    LLVMValueRef phi = LLVMBuildPhi(c->ed->builder, type, "");
    *values = FP_NEW_ARRAY(c->arena, LLVMValueRef, degree);
    struct fp_code_phi entry = {block, phi, *values};
    fp_vec_push(c->arena, &c->phis, entry);
    return phi;
}

/* r on entering a block. A single in-edge needs no phi; the body behind a
 * landing pad has one, from its pad, which has the phi. */
void fp_code_make_register(struct fp_code *c, uint32_t block)
{
    uint32_t first = c->cfg->first_in[block], degree = fp_cfg_in_degree(c->cfg, block);
    if (block == 0 && degree == 0) { /* only with an eager plan: the entry's own value */
        c->reg[0] = fp_code_constant(c, c->plan->on[c->dag->entry_edge].value);
        return;
    }
    if (degree == 1) {
        c->reg[block] = value_on_edge(c, c->cfg->in_edges[first]);
        return;
    }
    LLVMValueRef *values;
    c->reg[block] = fp_code_new_phi(c, block, c->register_type, &values);
    for (uint32_t k = 0; k < degree; k++) {
        uint32_t e = c->cfg->in_edges[first + k];
        if (fp_code_is_live(c, e)) values[k] = value_on_edge(c, e);
    }
}

/* An indirect jump sets r where it arrives: an edge from the hub to a block
 * that also has other ways in gets a block of its own. */
void fp_code_make_arrivals(struct fp_code *c)
{
    uint32_t hub = c->ed->ir->hub;
    if (hub == FP_NONE || c->word) return;
    for (uint32_t e = c->cfg->first_out[hub]; e < c->cfg->first_out[hub + 1]; e++) {
        uint32_t dst = c->cfg->edges[e].dst;
        if (!fp_code_is_live(c, e) || fp_cfg_in_degree(c->cfg, dst) == 1) continue;
        bool clock = c->cycles && !c->own_cycles;
        if (!c->plan->has_register[dst] && !clock) continue;
        fp_edit_on_edge(c->ed, e, false);
        if (clock) c->now[e] = fp_code_read_cycles(c);
    }
}

/* ---- phis ---- */

static void fill_phi(struct fp_code *c, const struct fp_code_phi *phi)
{
    uint32_t first = c->cfg->first_in[phi->block];
    bool is_since = c->cycles && !c->own_cycles && phi->phi == c->since[phi->block];
    for (uint32_t k = 0; k < fp_cfg_in_degree(c->cfg, phi->block); k++) {
        uint32_t e = c->cfg->in_edges[first + k];
        LLVMValueRef value =
            fp_code_is_live(c, e) && is_since ? fp_code_since_on_edge(c, e) : phi->values[k];
        if (!value) value = LLVMGetUndef(LLVMTypeOf(phi->phi));
        LLVMValueRef set = is_since ? NULL : fp_code_set_in_place(c, e);
        if (set) value = set;
        fp_edit_add_incoming(c->ed, phi->phi, value, e);
    }
}

void fp_code_fill_phis(struct fp_code *c)
{
    for (size_t i = 0; i < c->phis.len; i++) fill_phi(c, &c->phis.at[i]);
}
