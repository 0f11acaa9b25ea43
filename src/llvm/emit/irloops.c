/* Counters added up behind loops: see irloops.h. */
#include "llvm/emit/irloops.h"

#include "graph/lapexits.h"
#include "llvm/emit/irlaps.h"
#include "llvm/shim.h"

static const struct fp_flow_edge *flow_edge(const struct fp_editor *ed, uint32_t i)
{
    return &ed->ir->f->paths.flow->edges[i];
}

static LLVMValueRef plus(struct fp_editor *ed, LLVMValueRef value, int64_t more)
{
    if (!more) return value;
    return LLVMBuildAdd(ed->builder, value, LLVMConstInt(ed->i64, (uint64_t)more, 1), "");
}

/* ---- from a variable ---- */

/* How much more often than the closing edge is an edge of the lap taken, if the loop is left
 * from the block at `place`? */
static int64_t more_than_laps(const struct fp_lap *lap, uint32_t edge, uint32_t place)
{
    for (uint32_t k = 0; k < place; k++)
        if (lap->edges[k] == edge) return 1;
    return 0;
}

static void count_by_variable(struct fp_editor *ed, const struct fp_counted_loop *loop,
                              LLVMValueRef *address)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    const struct fp_lap *lap = &ed->ir->f->paths.truncation->laps.at[loop->lap];
    uint32_t exit = loop->exits[0], place = fp_lap_place(cfg, lap, cfg->edges[exit].src);
    bool visits = place == lap->nedges; /* at hand there */
    fp_edit_on_edge(ed, exit, false);
    LLVMValueRef amount = fp_ir_lap_amount(ed, loop->lap, exit, visits);
    for (uint32_t k = 0; k < loop->ncounted; k++) {
        uint32_t i = loop->counted[k];
        int64_t more = more_than_laps(lap, flow_edge(ed, i)->cfg_edge, place) - visits;
        fp_edit_add_to(ed, address[i], plus(ed, amount, more));
        address[i] = NULL;
    }
}

/* ---- from a register ---- */

/* The count of one edge of one loop, as SSA values. */
struct loop_count {
    struct fp_editor *ed;
    const struct fp_cfg *cfg;
    const struct fp_order *order;
    const struct fp_counted_loop *loop;
    uint32_t edge;     /* the cfg edge that is counted */
    LLVMValueRef *at;  /* per block of the function: the count on entering it, or NULL */
    LLVMValueRef more; /* the count behind the edge, or NULL: not made yet */
};

/* Where the edge would need a block of its own, one is added in front of the branch, for that
 * way alone: a value that the other ways do not use. */
static LLVMValueRef value_on(struct loop_count *c, uint32_t e)
{
    const struct fp_edge *edge = &c->cfg->edges[e];
    if (e != c->edge) return c->at[edge->src];
    if (c->more) return c->more;
    if (fp_cfg_out_degree(c->cfg, edge->src) == 1 || fp_cfg_in_degree(c->cfg, edge->dst) > 1)
        fp_edit_at_end(c->ed, edge->src);
    else
        fp_edit_at_head(c->ed, edge->dst);
    return c->more = plus(c->ed, c->at[edge->src], 1);
}

static bool is_live(const struct loop_count *c, uint32_t e)
{
    return c->order->fate[e] != FP_FATE_DEAD;
}

static LLVMValueRef new_phi(struct loop_count *c, uint32_t block)
{
    fp_shim_position_at_head(c->ed->builder, c->ed->ir->blocks[block].bb);
    return LLVMBuildPhi(c->ed->builder, c->ed->i64, "");
}

/* The value that all live ways into the block bring, or NULL. */
static LLVMValueRef common_value(struct loop_count *c, uint32_t block)
{
    LLVMValueRef common = NULL;
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        uint32_t e = c->cfg->in_edges[k];
        if (!is_live(c, e)) continue;
        LLVMValueRef value = value_on(c, e);
        if (common && common != value) return NULL;
        common = value;
    }
    return common;
}

/* The count is 0 where the loop is entered. */
static void fill_phi(struct loop_count *c, uint32_t block)
{
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        uint32_t e = c->cfg->in_edges[k];
        bool inside = is_live(c, e) && c->at[c->cfg->edges[e].src];
        LLVMValueRef value = inside ? value_on(c, e) : LLVMConstInt(c->ed->i64, 0, 0);
        fp_edit_add_incoming(c->ed, c->at[block], value, e);
    }
}

static void make_values(struct loop_count *c)
{
    const uint32_t *blocks = c->loop->blocks;
    c->at[blocks[0]] = new_phi(c, blocks[0]);
    for (uint32_t i = 1; i < c->loop->nblocks; i++) {
        c->at[blocks[i]] = common_value(c, blocks[i]);
        if (c->at[blocks[i]]) continue;
        LLVMValueRef phi = new_phi(c, blocks[i]);
        c->at[blocks[i]] = phi;
        fill_phi(c, blocks[i]);
    }
    fill_phi(c, blocks[0]);
}

/* Of two values that are at hand in front of a branch, the one that the loop goes on with is
 * taken, so that it alone needs a register. */
static void add_up(struct loop_count *c, LLVMValueRef address)
{
    for (uint32_t i = 0; i < c->loop->nexits; i++) {
        uint32_t exit = c->loop->exits[i], src = c->cfg->edges[exit].src;
        bool in_front = src == c->cfg->edges[c->edge].src && fp_edit_is_critical(c->ed, c->edge);
        fp_edit_on_edge(c->ed, exit, false);
        LLVMValueRef count = fp_ir_value_behind(c->ed, in_front ? c->more : c->at[src], exit);
        fp_edit_add_to(c->ed, address, plus(c->ed, count, in_front ? -1 : 0));
    }
}

static void count_by_registers(struct fp_editor *ed, const struct fp_counted_loop *loop,
                               LLVMValueRef *address, LLVMValueRef *at)
{
    for (uint32_t k = 0; k < loop->ncounted; k++) {
        struct loop_count c = {
            .ed = ed,
            .cfg = ed->ir->f->paths.cfg,
            .order = &ed->ir->f->paths.truncation->order,
            .loop = loop,
            .edge = flow_edge(ed, loop->counted[k])->cfg_edge,
            .at = at,
        };
        make_values(&c);
        add_up(&c, address[loop->counted[k]]);
        address[loop->counted[k]] = NULL;
        for (uint32_t i = 0; i < loop->nblocks; i++) at[loop->blocks[i]] = NULL;
    }
}

/* ---- which ---- */

/* Registers are worth having where a round is so short that it would wait for the counter, and
 * only while there are some to spare. */
static bool is_for_registers(const struct fp_editor *ed, const struct fp_counted_loop *loop)
{
    enum { MOST_COUNTERS = 3, MOST_EXITS = 2, MOST_INSTRUCTIONS = 40 };
    const struct fp_function *f = ed->ir->f;
    uint32_t instructions = 0;
    if (ed->one_instruction || loop->ncounted > MOST_COUNTERS || loop->nexits > MOST_EXITS)
        return false;
    for (uint32_t i = 0; i < loop->nblocks; i++) {
        if (f->paths.cfg->flags[loop->blocks[i]] & FP_BLOCK_CALLS) return false;
        instructions += f->source.blocks[loop->blocks[i]].instructions;
    }
    return instructions <= MOST_INSTRUCTIONS;
}

void fp_ir_emit_loop_counts(struct fp_editor *ed, LLVMValueRef *address)
{
    LLVMValueRef *at = FP_NEW_ARRAY(ed->ir->arena, LLVMValueRef, ed->ir->f->paths.cfg->nblocks);
    for (uint32_t i = 0; i < ed->ir->loops.len; i++) {
        const struct fp_counted_loop *loop = &ed->ir->loops.at[i];
        if (loop->lap != FP_NONE && ed->ir->lap_variables[loop->lap].phi)
            count_by_variable(ed, loop, address);
        else if (is_for_registers(ed, loop))
            count_by_registers(ed, loop, address, at);
    }
}
