/* From a path plan to IR: counts on edges and in blocks, and the order of things. */
#include "llvm/emit/irpath.h"

#include "count/layout.h"
#include "footpath/abi.h"
#include "graph/lapexits.h"
#include "llvm/emit/ircode.h"
#include "llvm/emit/irlaps.h"

/* ---- counting ---- */

/* For r plus `more`. The sum is made in the code behind the gate, so that it is part of the
 * instruction that counts. */
static bool count_by_gate(struct fp_code *c, LLVMValueRef r, int64_t more)
{
    if (c->gate) fp_code_pass_later(c, r, more);
    return c->gate;
}

static void count_at(struct fp_code *c, LLVMValueRef where, LLVMValueRef since, LLVMValueRef *now)
{
    struct fp_editor *ed = c->ed;
    if (c->hashed) {
        fp_code_probe_later(c, where);
        return;
    }
    fp_edit_add_to(ed, where, NULL);
    if (!c->cycles) return;
    LLVMValueRef one = LLVMConstInt(ed->i64, 1, 0);
    LLVMValueRef cell = LLVMBuildGEP2(ed->builder, ed->i64, where, &one, 1, "");
    fp_edit_add_to(ed, cell, fp_code_took(c, since, now));
}

/* ---- laps ---- */

static LLVMValueRef lap_counter(struct fp_code *c, uint64_t lap)
{
    if (c->laps) return fp_edit_word(c->ed, c->laps, c->lap_slots, (int64_t)lap);
    return fp_code_constant(c, (int64_t)(lap + c->plan->numbering->num_paths));
}

static void count_lap(struct fp_code *c, int64_t id, uint32_t keeper)
{
    uint64_t lap = (uint64_t)id - c->plan->numbering->num_paths;
    if (c->sampling) {
        fp_code_sample_lap(c, id);
        return;
    }
    if (keeper != FP_NONE) {
        fp_code_keep(c, keeper, id);
        return;
    }
    fp_edit_add_to(c->ed, lap_counter(c, lap), NULL);
}

/* Is it a lap that is counted where its loop is left? */
static bool is_counted_outside(const struct fp_code *c, uint32_t e)
{
    const struct fp_laps *laps = &c->dag->truncation->laps;
    uint32_t lap = 0;
    if (fp_code_fate(c, e) != FP_FATE_LAP || !c->plan->lap_exits) return false;
    while (laps->at[lap].closing != e) lap++;
    return c->plan->lap_exits[lap] != FP_NONE;
}

/* Behind the closing block, are its visits counted, which are one more than the laps? */
static bool are_visits_counted(const struct fp_code *c, uint32_t lap)
{
    const struct fp_lap *l = &c->dag->truncation->laps.at[lap];
    uint32_t exit = c->plan->lap_exits[lap];
    return c->plan->at_end[c->cfg->edges[l->closing].src] == l->closing &&
           fp_lap_place(c->cfg, l, c->cfg->edges[exit].src) == l->nedges;
}

static void count_laps_outside(struct fp_code *c)
{
    for (uint32_t i = 0; c->plan->lap_exits && i < c->dag->truncation->laps.len; i++) {
        uint32_t exit = c->plan->lap_exits[i];
        if (exit == FP_NONE) continue;
        fp_edit_on_edge(c->ed, exit, false);
        LLVMValueRef amount = fp_ir_lap_amount(c->ed, i, exit, are_visits_counted(c, i));
        uint32_t number = fp_lap_number(&c->dag->truncation->laps, i);
        fp_edit_add_to(c->ed, lap_counter(c, number), amount);
    }
}

/* ---- edges ---- */

/* The builder stands where the op of the dag edge is to happen; block is where its path
 * comes from; keeper is the loop that keeps what is counted there. */
static void emit_count(struct fp_code *c, uint32_t d, uint32_t block, uint32_t keeper,
                       LLVMValueRef *now)
{
    struct fp_op op = c->plan->on[d];
    LLVMValueRef since = c->cycles ? fp_code_since_in(c, block) : NULL;
    if (c->sampling) {
        fp_code_sample(c, d, block, keeper);
        return;
    }
    if (keeper != FP_NONE && op.kind == FP_OP_COUNT) {
        fp_code_keep(c, keeper, op.value);
        return;
    }
    if (op.kind == FP_OP_COUNT && !count_by_gate(c, fp_code_constant(c, op.value), 0))
        count_at(c, fp_code_in_turn(c, fp_code_constant(c, op.value), block), since, now);
    if (op.kind == FP_OP_COUNT_REG && !count_by_gate(c, c->reg[block], op.value))
        count_at(c, fp_code_in_turn(c, fp_code_plus(c, c->reg[block], op.value), block), since,
                 now);
}

static bool is_moved(const struct fp_code *c, uint32_t e)
{
    return c->plan->at_end[c->cfg->edges[e].src] == e;
}

static void count_on_kept(struct fp_code *c, uint32_t e)
{
    struct fp_op op = c->plan->on[c->dag->of_edge[e]];
    LLVMValueRef now;
    if (c->word && (op.kind == FP_OP_ADD || op.kind == FP_OP_SET)) fp_code_move_word(c, e, op);
    if (!fp_code_is_count(op) || is_moved(c, e) || c->at_branch[c->cfg->edges[e].src]) return;
    fp_edit_on_edge(c->ed, e, false);
    emit_count(c, c->dag->of_edge[e], c->cfg->edges[e].src, fp_code_keeper_of_edge(c, e), &now);
}

/* A truncated edge: the count of the path that ends, and where the path that
 * starts is already decided, its count too. A lap: its count. */
static void count_on_other(struct fp_code *c, uint32_t e)
{
    struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
    uint32_t src = c->cfg->edges[e].src, keeper = fp_code_keeper_of_edge(c, e);
    if (c->at_branch[src]) return;
    if (fp_code_fate(c, e) == FP_FATE_LAP) {
        if (is_moved(c, e) || ops.first.kind == FP_OP_NONE || is_counted_outside(c, e)) return;
        fp_edit_on_edge(c->ed, e, false);
        count_lap(c, ops.first.value, keeper);
        return;
    }
    if (fp_code_is_count(ops.first) && !is_moved(c, e)) {
        fp_edit_on_edge(c->ed, e, false);
        emit_count(c, c->dag->of_edge[e], src, keeper, &c->now[e]);
    }
    if (fp_code_is_count(ops.then)) {
        LLVMValueRef now;
        fp_edit_on_edge(c->ed, e, true);
        emit_count(c, c->dag->start_of[c->cfg->edges[e].dst], src, keeper, &now);
    }
}

/* ---- blocks ---- */

/* A count in front of the block's branch. */
static void count_at_end(struct fp_code *c, uint32_t block)
{
    uint32_t e = c->plan->at_end[block];
    if (e == FP_NONE || is_counted_outside(c, e)) return;
    struct fp_op op = fp_plan_on_edge(c->plan, e).first;
    /* At the head, where no flags wait for the branch; but where frames may be left in
     * the block, only behind all that may leave. */
    if (c->ed->ir->f->flags & FP_FUNCTION_EXITS)
        fp_edit_at_end(c->ed, block);
    else
        fp_edit_at_head(c->ed, block);
    if (fp_code_fate(c, e) == FP_FATE_LAP)
        count_lap(c, op.value, fp_code_keeper_of_block(c, block));
    else
        emit_count(c, c->dag->of_edge[e], block, fp_code_keeper_of_block(c, block), &c->now[e]);
}

static void emit_block(struct fp_code *c, uint32_t block)
{
    fp_code_make_turn(c, block);
    if (c->cfg->flags[block] & FP_BLOCK_HUB) {
        /* no code of its own: what starts here is a constant on its out-edges */
        c->reg[block] = fp_code_constant(c, c->plan->on[c->dag->start_of[block]].value);
    } else {
        if (c->plan->has_register[block] && !c->word) fp_code_make_register(c, block);
        if (c->cycles) fp_code_make_since(c, block);
    }
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        uint32_t e = c->cfg->in_edges[k];
        if (fp_code_fate(c, e) == FP_FATE_KEPT) count_on_kept(c, e);
    }
    count_at_end(c, block);
    fp_code_emit_branch_ends(c, block);
    for (uint32_t e = c->cfg->first_out[block]; e < c->cfg->first_out[block + 1]; e++) {
        enum fp_fate fate = fp_code_fate(c, e);
        if (fate == FP_FATE_TRUNCATED || fate == FP_FATE_LAP) count_on_other(c, e);
    }
    uint32_t exit = c->dag->exit_of[block];
    if (exit != FP_NONE && fp_code_is_count(c->plan->on[exit])) {
        LLVMValueRef now;
        fp_edit_at_end(c->ed, block);
        emit_count(c, exit, block, FP_NONE, &now);
    }
}

static void emit_entry(struct fp_code *c)
{
    struct fp_op op = c->plan->on[c->dag->entry_edge];
    LLVMValueRef now;
    fp_edit_at_head(c->ed, 0);
    if (c->cycles) fp_code_enter(c);
    if (c->word) fp_code_start_word(c);
    if (op.kind != FP_OP_COUNT) return;
    if (c->sampling)
        fp_code_sample(c, c->dag->entry_edge, 0, FP_NONE);
    else if (!count_by_gate(c, fp_code_constant(c, op.value), 0))
        count_at(c, fp_code_constant(c, op.value), c->entered, &now);
}

static struct fp_code code_for(struct fp_editor *ed, const struct fp_plan *plan,
                               struct fp_sampling *sampling)
{
    struct fp_ir *ir = ed->ir;
    struct fp_function *f = ir->f;
    bool beside = f->layout.direct_slots; /* a table for values, an array for paths */
    struct fp_code c = {
        .ed = ed,
        .plan = plan,
        .dag = f->paths.dag,
        .cfg = f->paths.cfg,
        .arena = ir->arena,
        .hashed = f->flags & FP_FUNCTION_HASHED && !beside,
        .cycles = f->flags & FP_FUNCTION_CYCLES,
        .own_cycles = f->flags & FP_FUNCTION_OWN_CYCLES,
        .slots = beside ? f->layout.direct_slots : f->layout.path_slots,
        .stride = fp_layout_stride(f),
        .reg = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nblocks),
        .since = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nblocks),
        .now = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nedges),
        .at_branch = FP_NEW_ARRAY(ir->arena, bool, f->paths.cfg->nblocks),
        .sampling = sampling,
    };
    if (ir->short_loops) c.turn = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nblocks);
    c.register_type = c.hashed || sampling ? ed->i64 : fp_edit_pointer_type(ed, ed->i64);
    const char *prefix = beside ? FP_DIRECT_PREFIX : FP_COUNTER_PREFIX;
    c.counters = fp_edit_counters(ed, c.hashed ? FP_HASH_PREFIX : prefix, f->id, c.slots);
    if (f->layout.gated) c.gate = fp_edit_gate(ed, f->id);
    if (f->flags & FP_FUNCTION_HASHED && f->paths.truncation->laps.len) {
        c.lap_slots = f->layout.edge_slots;
        c.laps = fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, c.lap_slots);
    }
    return c;
}

void fp_ir_emit_paths(struct fp_editor *ed, const struct fp_plan *plan, const enum fp_pep *pep)
{
    const struct fp_order *order = &ed->ir->f->paths.truncation->order;
    struct fp_sampling sampling = {.ed = ed, .arena = ed->ir->arena};
    if (pep) sampling.how = *pep;
    struct fp_code c = code_for(ed, plan, pep ? &sampling : NULL);
    fp_code_choose_in_place(&c);
    if (pep) fp_code_measure_paths(&c);
    if (plan->running) fp_code_make_word(&c);
    fp_code_choose_branch_ends(&c);
    emit_entry(&c);
    fp_code_add_moves(&c);
    fp_code_make_arrivals(&c);
    for (uint32_t i = 0; i < order->nblocks; i++) emit_block(&c, order->blocks[i]);
    count_laps_outside(&c);
    fp_code_fill_phis(&c);
    fp_code_fill_turns(&c);
    fp_code_emit_probes(&c);
    fp_code_add_kept(&c);
    if (pep) fp_ir_finish_ends(&sampling);
}
