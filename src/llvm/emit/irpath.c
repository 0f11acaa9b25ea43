/* The path register as SSA values.
 *
 * For counters in an array, r is not the id but the address of its counter:
 * setting r is one lea, counting one inc through it. For a hash table r is the
 * key. Blocks are visited in topological order, so that the value of r on an
 * edge is known when its target is reached; where several edges meet, a phi is
 * made at once and filled at the end, when all edges that get a block of their
 * own have it. For sampled paths r is the id itself, so that it fits an immediate
 * operand and the compiler can see through it; with traps it is mostly a word of the
 * stack that runs on (footpath/abi.h), which most edges leave alone, so that the code
 * generator has one register more.
 */
#include "llvm/emit/irpath.h"

#include "base/vec.h"
#include "count/layout.h"
#include "footpath/abi.h"
#include "graph/loops.h"
#include "llvm/emit/irlaps.h"
#include "llvm/emit/irrange.h"
#include "llvm/emit/irsample.h"
#include "llvm/shim.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A phi to fill: one value per live in-edge of the cfg block. */
struct phi {
    uint32_t block;
    LLVMValueRef phi;
    LLVMValueRef *values; /* in order of the block's in-edges */
};

/* A count in a hash table, made at the end: it needs branches. */
struct probe {
    LLVMValueRef marker; /* the instruction in front of which to count */
    LLVMValueRef key;
};

struct code {
    struct fp_editor *ed;
    const struct fp_plan *plan;
    const struct fp_dag *dag;
    const struct fp_cfg *cfg;
    struct fp_arena *arena;
    bool hashed, cycles;
    bool in_place; /* see set_in_place */
    struct fp_loops loops;
    LLVMValueRef counters, laps;
    uint64_t slots, lap_slots, stride;
    LLVMTypeRef register_type;
    LLVMValueRef *reg;   /* per block: r on entering it */
    LLVMValueRef *since; /* with cycles, per block: when the path in flight began */
    LLVMValueRef *now;   /* with cycles, per cfg edge: when it ended a path */
    LLVMValueRef entered;
    FP_VEC(struct phi) phis;
    FP_VEC(struct probe) probes;
    struct fp_sampling *sampling; /* or NULL */
    bool *at_branch;   /* with traps, per block: path ends of all its ways out are in front
                        of its branch */
    LLVMValueRef word; /* where a running register lies, or NULL */
};

/* ---- values ---- */

static LLVMValueRef register_constant(struct code *c, int64_t value)
{
    if (c->sampling) return LLVMConstInt(c->ed->i64, (uint64_t)value, 0);
    if (c->hashed) return LLVMConstInt(c->ed->i64, (uint64_t)value + 1, 0);
    return fp_edit_word(c->ed, c->counters, c->slots, value * (int64_t)c->stride);
}

static LLVMValueRef register_plus(struct code *c, LLVMValueRef r, int64_t value)
{
    LLVMBuilderRef builder = c->ed->builder;
    if (value == 0) return r;
    if (c->hashed || c->sampling)
        return LLVMBuildAdd(builder, r, LLVMConstInt(c->ed->i64, (uint64_t)value, 1), "");
    LLVMValueRef index = LLVMConstInt(c->ed->i64, (uint64_t)value * c->stride, 1);
    return LLVMBuildGEP2(builder, c->ed->i64, r, &index, 1, "");
}

static LLVMValueRef read_cycles(struct code *c)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.readcyclecounter", strlen("llvm.readcyclecounter"));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(c->ed->module, id, NULL, 0);
    LLVMTypeRef type = LLVMFunctionType(c->ed->i64, NULL, 0, 0);
    return LLVMBuildCall2(c->ed->builder, type, function, NULL, 0, "");
}

/* ---- counting ---- */

static void count_at(struct code *c, LLVMValueRef where, LLVMValueRef since, LLVMValueRef *now)
{
    struct fp_editor *ed = c->ed;
    if (c->hashed) {
        /* something to stand at this place until branches can be made */
        LLVMValueRef marker = LLVMBuildFreeze(ed->builder, LLVMConstInt(ed->i64, 0, 0), "");
        struct probe probe = {marker, where};
        fp_vec_push(c->arena, &c->probes, probe);
        return;
    }
    fp_edit_add_to(ed, where, NULL);
    if (!c->cycles) return;
    LLVMValueRef one = LLVMConstInt(ed->i64, 1, 0);
    LLVMValueRef cell = LLVMBuildGEP2(ed->builder, ed->i64, where, &one, 1, "");
    *now = read_cycles(c);
    fp_edit_add_to(ed, cell, LLVMBuildSub(ed->builder, *now, since, ""));
}

/* What a running register stands for where a path starts on the dag edge, less itself. */
static int64_t next_from(const struct code *c, uint32_t start)
{
    struct fp_op op = c->plan->on[start];
    return op.kind == FP_OP_SET ? (int64_t)(0 - (uint64_t)op.value) : 0;
}

/* The END or EXIT edge that a path comes to which is counted on the dag edge. */
static uint32_t last_edge(const struct code *c, uint32_t d)
{
    const struct fp_dag *dag = c->dag;
    while (dag->edges[d].dst != dag->exit) {
        uint32_t v = dag->edges[d].dst;
        for (d = dag->first_out[v]; !c->plan->numbering->npaths[dag->edges[d].dst];) d++;
    }
    return d;
}

/* Where a path ends that is sampled, on the dag edge; block: where r is as it is there. */
static struct fp_sample_point end_on(const struct code *c, uint32_t d, uint32_t block)
{
    struct fp_op op = c->plan->on[d];
    LLVMValueRef reg = op.kind == FP_OP_COUNT_REG ? c->reg[block] : NULL;
    struct fp_sample_point end = {c->counters, c->hashed, reg, op.value, FP_NONE, 0, 0};
    if (!c->word) return end;
    const struct fp_dag_edge *last = &c->dag->edges[last_edge(c, d)];
    uint32_t then = last->kind == FP_DAG_END ? c->cfg->edges[last->cfg_edge].dst : FP_NONE;
    bool goes_on = then != FP_NONE && then != c->ed->ir->hub;
    if (goes_on) end.next = next_from(c, c->dag->start_of[then]);
    if (!goes_on && op.kind == FP_OP_COUNT) return end;
    end.reg = c->word;
    end.flags = FP_SITE_RUNNING | (op.kind == FP_OP_COUNT ? FP_SITE_KNOWN : 0u) |
                (goes_on ? 0u : FP_SITE_LEAVES);
    return end;
}

static void sample_at(struct code *c, uint32_t d, uint32_t block)
{
    struct fp_sample_point end = end_on(c, d, block);
    fp_ir_emit_end(c->sampling, &end);
}

static struct fp_sample_point lap_end(const struct code *c, int64_t id)
{
    int64_t lap = id - (int64_t)c->plan->numbering->num_paths;
    struct fp_sample_point end = {c->counters, false, NULL, id, FP_NONE, 0, 0};
    if (c->hashed) end.counters = c->laps, end.value = lap;
    return end;
}

static bool counts_itself(const struct code *c, uint64_t lap)
{
    const struct fp_lap_variable *variables = c->ed->ir->lap_variables;
    return variables && variables[lap].phi;
}

static LLVMValueRef lap_counter(struct code *c, uint64_t lap)
{
    if (c->hashed) return fp_edit_word(c->ed, c->laps, c->lap_slots, (int64_t)lap);
    return register_constant(c, (int64_t)(lap + c->plan->numbering->num_paths));
}

static void count_lap(struct code *c, int64_t id)
{
    uint64_t lap = (uint64_t)id - c->plan->numbering->num_paths;
    if (c->sampling) {
        struct fp_sample_point end = lap_end(c, id);
        fp_ir_emit_end(c->sampling, &end);
        return;
    }
    fp_edit_add_to(c->ed, lap_counter(c, lap), NULL);
}

static bool is_self_counting(const struct code *c, uint32_t e)
{
    if (c->dag->truncation->order.fate[e] != FP_FATE_LAP) return false;
    int64_t id = fp_plan_on_edge(c->plan, e).first.value;
    return counts_itself(c, (uint64_t)id - c->plan->numbering->num_paths);
}

/* Where a loop is left that kept count itself. */
static void count_laps_left(struct code *c, uint32_t lap)
{
    struct fp_ir *ir = c->ed->ir;
    const struct fp_lap *l = &c->dag->truncation->laps.at[lap];
    for (uint32_t k = 0; k <= l->nedges; k++) {
        uint32_t block = fp_ir_lap_block(ir, l, k);
        for (uint32_t e = c->cfg->first_out[block]; e < c->cfg->first_out[block + 1]; e++) {
            if (!fp_ir_leaves_lap(ir, lap, e)) continue;
            fp_edit_on_edge(c->ed, e, false);
            LLVMValueRef amount = fp_ir_lap_amount(c->ed, &ir->lap_variables[lap], lap, e);
            fp_edit_add_to(c->ed, lap_counter(c, lap), amount);
        }
    }
}

/* The builder stands where the op of the dag edge is to happen; block is where its path
 * comes from. */
static void emit_count(struct code *c, uint32_t d, uint32_t block, LLVMValueRef *now)
{
    struct fp_op op = c->plan->on[d];
    LLVMValueRef since = c->cycles ? c->since[block] : NULL;
    if (c->sampling) {
        sample_at(c, d, block);
        return;
    }
    if (op.kind == FP_OP_COUNT) count_at(c, register_constant(c, op.value), since, now);
    if (op.kind == FP_OP_COUNT_REG)
        count_at(c, register_plus(c, c->reg[block], op.value), since, now);
}

static bool is_count(struct fp_op op)
{
    return op.kind == FP_OP_COUNT || op.kind == FP_OP_COUNT_REG;
}

/* ---- edges ---- */

static bool is_live(const struct code *c, uint32_t e)
{
    return c->dag->truncation->order.fate[e] != FP_FATE_DEAD;
}

/* r behind a kept edge, as seen by its target. */
static LLVMValueRef value_on_kept(struct code *c, uint32_t e)
{
    struct fp_op op = c->plan->on[c->dag->of_edge[e]];
    uint32_t src = c->cfg->edges[e].src;
    if (op.kind == FP_OP_SET) return register_constant(c, op.value);
    if (op.kind != FP_OP_ADD) return c->reg[src];
    fp_edit_on_edge(c->ed, e, false);
    return register_plus(c, c->reg[src], op.value);
}

static LLVMValueRef value_on_edge(struct code *c, uint32_t e)
{
    switch ((enum fp_fate)c->dag->truncation->order.fate[e]) {
    case FP_FATE_KEPT: return value_on_kept(c, e);
    case FP_FATE_TRUNCATED: {
        struct fp_op op = c->plan->on[c->dag->start_of[c->cfg->edges[e].dst]];
        return op.kind == FP_OP_SET ? register_constant(c, op.value) : NULL;
    }
    case FP_FATE_LAP: return c->reg[c->cfg->edges[e].dst]; /* nothing changes on a lap */
    case FP_FATE_DEAD: break;
    }
    return NULL;
}

static bool is_moved(const struct code *c, uint32_t e)
{
    return c->plan->at_end[c->cfg->edges[e].src] == e;
}

/* The only code of a running register. It is set only behind the hub, where that is no
 * more than a start. */
static void move_word(struct code *c, uint32_t e, struct fp_op op)
{
    LLVMBuilderRef builder = c->ed->builder;
    fp_edit_on_edge(c->ed, e, false);
    if (op.kind == FP_OP_SET) {
        fp_ir_emit_start(c->sampling, c->word, (int64_t)(0 - (uint64_t)op.value));
        return;
    }
    LLVMValueRef old = LLVMBuildLoad2(builder, c->ed->i64, c->word, "");
    LLVMValueRef sum =
        LLVMBuildAdd(builder, old, LLVMConstInt(c->ed->i64, (uint64_t)op.value, 1), "");
    LLVMBuildStore(builder, sum, c->word);
}

static void count_on_kept(struct code *c, uint32_t e)
{
    struct fp_op op = c->plan->on[c->dag->of_edge[e]];
    LLVMValueRef now;
    if (c->word && (op.kind == FP_OP_ADD || op.kind == FP_OP_SET)) move_word(c, e, op);
    if (!is_count(op) || is_moved(c, e) || c->at_branch[c->cfg->edges[e].src]) return;
    fp_edit_on_edge(c->ed, e, false);
    emit_count(c, c->dag->of_edge[e], c->cfg->edges[e].src, &now);
}

/* A truncated edge: the count of the path that ends, and where the path that
 * starts is already decided, its count too. A lap: its count. */
static void count_on_other(struct code *c, uint32_t e)
{
    struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
    uint32_t src = c->cfg->edges[e].src;
    if (c->at_branch[src]) return;
    if (c->dag->truncation->order.fate[e] == FP_FATE_LAP) {
        if (is_moved(c, e) || ops.first.kind == FP_OP_NONE || is_self_counting(c, e)) return;
        fp_edit_on_edge(c->ed, e, false);
        count_lap(c, ops.first.value);
        return;
    }
    if (is_count(ops.first) && !is_moved(c, e)) {
        fp_edit_on_edge(c->ed, e, false);
        emit_count(c, c->dag->of_edge[e], src, &c->now[e]);
    }
    if (is_count(ops.then)) {
        LLVMValueRef now;
        fp_edit_on_edge(c->ed, e, true);
        emit_count(c, c->dag->start_of[c->cfg->edges[e].dst], src, &now);
    }
}

/* ---- blocks ---- */

static LLVMValueRef new_phi(struct code *c, uint32_t block, LLVMTypeRef type, LLVMValueRef **values)
{
    LLVMBasicBlockRef bb = c->ed->ir->blocks[block].bb;
    uint32_t degree = fp_cfg_in_degree(c->cfg, block);
    fp_shim_position_at_head(c->ed->builder, bb);
    LLVMValueRef phi = LLVMBuildPhi(c->ed->builder, type, "");
    *values = FP_NEW_ARRAY(c->arena, LLVMValueRef, degree);
    struct phi entry = {block, phi, *values};
    fp_vec_push(c->arena, &c->phis, entry);
    return phi;
}

/* r on entering a block. A single in-edge needs no phi; the body behind a
 * landing pad has one, from its pad, which has the phi. */
static void make_register(struct code *c, uint32_t block)
{
    uint32_t first = c->cfg->first_in[block], degree = fp_cfg_in_degree(c->cfg, block);
    if (block == 0 && degree == 0) { /* only with an eager plan: the entry's own value */
        c->reg[0] = register_constant(c, c->plan->on[c->dag->entry_edge].value);
        return;
    }
    if (degree == 1) {
        c->reg[block] = value_on_edge(c, c->cfg->in_edges[first]);
        return;
    }
    LLVMValueRef *values;
    c->reg[block] = new_phi(c, block, c->register_type, &values);
    for (uint32_t k = 0; k < degree; k++) {
        uint32_t e = c->cfg->in_edges[first + k];
        if (is_live(c, e)) values[k] = value_on_edge(c, e);
    }
}

/* When the path in flight on entering a block began. The clock of a path that
 * starts at a block with one way in starts there; where several ways meet, each
 * brings its own, and those that end a path bring the time of that. */
static void make_since(struct code *c, uint32_t block)
{
    uint32_t first = c->cfg->first_in[block], degree = fp_cfg_in_degree(c->cfg, block);
    if (block == 0 && degree == 0) {
        c->since[0] = c->entered;
        return;
    }
    if (degree > 1) {
        LLVMValueRef *values; /* filled later: `now` of later edges is not known yet */
        c->since[block] = new_phi(c, block, c->ed->i64, &values);
        return;
    }
    uint32_t e = c->cfg->in_edges[first], src = c->cfg->edges[e].src;
    bool starts = c->dag->truncation->order.fate[e] != FP_FATE_KEPT || src == c->ed->ir->hub;
    if (starts) fp_edit_at_head(c->ed, block);
    c->since[block] = starts ? read_cycles(c) : c->since[src];
}

/* A count in front of the block's branch. */
static void count_at_end(struct code *c, uint32_t block)
{
    uint32_t e = c->plan->at_end[block];
    if (e == FP_NONE || is_self_counting(c, e)) return;
    struct fp_op op = fp_plan_on_edge(c->plan, e).first;
    /* At the head, where no flags wait for the branch; but where frames may be left in
     * the block, only behind all that may leave. */
    if (c->ed->ir->f->flags & FP_FUNCTION_EXITS)
        fp_edit_at_end(c->ed, block);
    else
        fp_edit_at_head(c->ed, block);
    if (c->dag->truncation->order.fate[e] == FP_FATE_LAP)
        count_lap(c, op.value);
    else
        emit_count(c, c->dag->of_edge[e], block, &c->now[e]);
}

/* ---- path ends in front of branches (footpath/abi.h) ---- */

static bool ends_on(const struct code *c, uint32_t e)
{
    struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
    return is_count(ops.first) || is_count(ops.then);
}

/* Is a call all that keeps the block from returning what the call gives? The code
 * generator makes a jump of that call, if the block that returns stays empty. */
static bool is_return_of_calls(const struct code *c, uint32_t block)
{
    LLVMBasicBlockRef bb = c->ed->ir->blocks[block].bb;
    LLVMValueRef i = bb ? LLVMGetFirstInstruction(bb) : NULL;
    while (i && LLVMGetInstructionOpcode(i) == LLVMPHI) i = LLVMGetNextInstruction(i);
    if (!i || LLVMGetInstructionOpcode(i) != LLVMRet) return false;
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        LLVMBasicBlockRef from = c->ed->ir->blocks[c->cfg->edges[c->cfg->in_edges[k]].src].bb;
        LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
        last = last ? LLVMGetPreviousInstruction(last) : NULL;
        if (last && LLVMGetInstructionOpcode(last) == LLVMCall && LLVMIsTailCall(last)) return true;
    }
    return false;
}

static bool wants_branch_ends(const struct code *c, uint32_t block)
{
    bool critical = false;
    if (c->cfg->flags[block] & (FP_BLOCK_HUB | FP_BLOCK_PAD)) return false;
    for (uint32_t e = c->cfg->first_out[block]; e < c->cfg->first_out[block + 1]; e++) {
        if (c->cfg->edges[e].kind > FP_EDGE_SWITCH) return false;
        if (is_return_of_calls(c, c->cfg->edges[e].dst)) return false;
        if (is_live(c, e) && ends_on(c, e)) critical |= fp_edit_is_critical(c->ed, e);
    }
    if (!critical) return false;
    LLVMOpcode opcode =
        LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(c->ed->ir->blocks[block].bb));
    return opcode == LLVMBr || opcode == LLVMSwitch;
}

/* Needs: nothing emitted yet. */
static void choose_branch_ends(struct code *c)
{
    const struct fp_cfg *cfg = c->cfg;
    bool *arrival = FP_NEW_ARRAY(c->arena, bool, cfg->nblocks);
    if (!c->sampling || c->sampling->how != FP_PEP_TRAP) return;
    for (uint32_t b = 0; b < cfg->nblocks; b++) c->at_branch[b] = wants_branch_ends(c, b);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        for (uint32_t e = cfg->first_out[b]; c->at_branch[b] && e < cfg->first_out[b + 1]; e++) {
            /* where no path ends on the way, the site in front of the target's own branch
             * tells as well that it was taken */
            uint32_t dst = cfg->edges[e].dst;
            if (!c->at_branch[dst] || (is_live(c, e) && ends_on(c, e))) arrival[dst] = true;
        }
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (!arrival[b]) continue;
        fp_edit_at_head(c->ed, b);
        fp_ir_emit_arrival(c->sampling, b);
    }
}

static void emit_branch_ends(struct code *c, uint32_t block)
{
    const struct fp_cfg *cfg = c->cfg;
    FP_VEC(struct fp_sample_point) points = {0};
    LLVMValueRef reg = NULL;
    if (!c->at_branch[block]) return;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
        bool lap = c->dag->truncation->order.fate[e] == FP_FATE_LAP;
        for (int k = 0; is_live(c, e) && k < 2; k++) {
            struct fp_op op = k ? ops.then : ops.first;
            if (!is_count(op)) continue;
            uint32_t d = k ? c->dag->start_of[cfg->edges[e].dst] : c->dag->of_edge[e];
            struct fp_sample_point end = lap ? lap_end(c, op.value) : end_on(c, d, block);
            end.target = cfg->edges[e].dst;
            if (end.reg) reg = end.reg;
            fp_vec_push(c->arena, &points, end);
        }
    }
    fp_edit_at_end(c->ed, block);
    fp_ir_emit_branch_ends(c->sampling, points.at, points.len, reg);
}

static void emit_block(struct code *c, uint32_t block)
{
    if (c->cfg->flags[block] & FP_BLOCK_HUB) {
        /* no code of its own: what starts here is a constant on its out-edges */
        c->reg[block] = register_constant(c, c->plan->on[c->dag->start_of[block]].value);
    } else {
        if (c->plan->has_register[block] && !c->word) make_register(c, block);
        if (c->cycles) make_since(c, block);
    }
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        uint32_t e = c->cfg->in_edges[k];
        if (c->dag->truncation->order.fate[e] == FP_FATE_KEPT) count_on_kept(c, e);
    }
    count_at_end(c, block);
    emit_branch_ends(c, block);
    for (uint32_t e = c->cfg->first_out[block]; e < c->cfg->first_out[block + 1]; e++) {
        enum fp_fate fate = c->dag->truncation->order.fate[e];
        if (fate == FP_FATE_TRUNCATED || fate == FP_FATE_LAP) count_on_other(c, e);
    }
    uint32_t exit = c->dag->exit_of[block];
    if (exit != FP_NONE && is_count(c->plan->on[exit])) {
        LLVMValueRef now;
        fp_edit_at_end(c->ed, block);
        emit_count(c, exit, block, &now);
    }
}

static void make_word(struct code *c)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->ed->ir->function);
    LLVMPositionBuilderBefore(c->ed->builder, LLVMGetFirstInstruction(entry));
    c->word = LLVMBuildAlloca(c->ed->builder, c->ed->i64, "");
}

static void emit_entry(struct code *c)
{
    struct fp_op op = c->plan->on[c->dag->entry_edge];
    LLVMValueRef now;
    fp_edit_at_head(c->ed, 0);
    if (c->cycles) c->entered = read_cycles(c);
    if (c->word) fp_ir_emit_start(c->sampling, c->word, next_from(c, c->dag->entry_edge));
    if (op.kind != FP_OP_COUNT) return;
    if (c->sampling)
        sample_at(c, c->dag->entry_edge, 0);
    else
        count_at(c, register_constant(c, op.value), c->entered, &now);
}

/* ---- phis ---- */

static LLVMValueRef since_on_edge(struct code *c, uint32_t e)
{
    enum fp_fate fate = c->dag->truncation->order.fate[e];
    if (c->now[e]) return c->now[e];
    return c->since[fate == FP_FATE_LAP ? c->cfg->edges[e].dst : c->cfg->edges[e].src];
}

static void add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from)
{
    LLVMAddIncoming(phi, &value, &from, 1);
}

/* One entry per way that the terminator of `from` has to the block. */
static void add_from(struct code *c, LLVMValueRef phi, LLVMValueRef value, uint32_t e)
{
    if (c->ed->edge_block[e]) {
        add_incoming(phi, value, c->ed->edge_block[e]);
        return;
    }
    LLVMBasicBlockRef from = c->ed->ir->blocks[c->cfg->edges[e].src].bb;
    LLVMBasicBlockRef to = fp_ir_target(c->ed->ir, e);
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (LLVMGetSuccessor(terminator, i) == to) add_incoming(phi, value, from);
}

/* ---- setting r in loops ----
 *
 * The address of a counter takes a lea, which the code generator hoists out of all
 * loops: every value that r is ever set to then occupies a register throughout, and
 * the allocator spends its time on pulling them back (luaV_execute: two thirds of the
 * compilation). So in loops it is set by assembly, which stays where it is. */

/* The value that r is set to behind an edge, if it is set there. */
static bool is_set_on(const struct code *c, uint32_t e, int64_t *value)
{
    struct fp_op op = {FP_OP_NONE, 0}, start = {FP_OP_NONE, 0};
    enum fp_fate fate = c->dag->truncation->order.fate[e];
    uint32_t hub = c->ed->ir->hub;
    if (fate == FP_FATE_TRUNCATED) op = c->plan->on[c->dag->start_of[c->cfg->edges[e].dst]];
    if (fate == FP_FATE_KEPT) op = c->plan->on[c->dag->of_edge[e]];
    if (fate == FP_FATE_KEPT && c->cfg->edges[e].src == hub)
        start = c->plan->on[c->dag->start_of[hub]];
    *value = op.value;
    if (op.kind == FP_OP_ADD) *value += start.value;
    if (op.kind == FP_OP_NONE) *value = start.value;
    return op.kind == FP_OP_SET || start.kind == FP_OP_SET;
}

static bool wants_in_place(const struct code *c, uint32_t e)
{
    const struct fp_edge *edge = &c->cfg->edges[e];
    if (!c->in_place || edge->kind == FP_EDGE_UNWIND) return false;
    return edge->src == c->ed->ir->hub || c->loops.depth[edge->src];
}

/* Another way out of the same branch sets r to something else, and is hotter. */
static bool has_hotter_sibling(const struct code *c, uint32_t e, int64_t value)
{
    const double *weights = c->ed->ir->weights;
    uint32_t src = c->cfg->edges[e].src;
    for (uint32_t o = c->cfg->first_out[src]; o < c->cfg->first_out[src + 1]; o++) {
        int64_t other;
        if (o == e || !is_live(c, o) || !is_set_on(c, o, &other) || other == value) continue;
        if (c->ed->edge_block[o] || !c->plan->has_register[c->cfg->edges[o].dst]) continue;
        if (weights[o] > weights[e] || (weights[o] == weights[e] && o < e)) return true;
    }
    return false;
}

/* In front of the branch, whichever way is taken: nobody looks at it there. A block of
 * its own for an edge that few take costs more jumps than it saves, unless r is set there
 * for another way already. */
static LLVMValueRef set_in_place(struct code *c, uint32_t e, int64_t value)
{
    struct fp_editor *ed = c->ed;
    char text[96];
    LLVMTypeRef type = LLVMFunctionType(c->register_type, NULL, 0, 0);
    snprintf(text, sizeof text, "leaq %s%016llx%+lld(%%rip), $0", FP_COUNTER_PREFIX,
             (unsigned long long)ed->ir->f->id, (long long)value * 8);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), (char *)"=r", strlen("=r"), 1, 0,
                                         LLVMInlineAsmDialectATT, 0);
    if (ed->edge_block[e] || has_hotter_sibling(c, e, value))
        fp_edit_on_edge(ed, e, false);
    else
        fp_edit_at_end(ed, c->cfg->edges[e].src);
    return LLVMBuildCall2(ed->builder, type, code, NULL, 0, "");
}

/* Not before optimisations, which assembly would be in the way of, nor where counters
 * may be out of the reach of %rip. */
static void choose_in_place(struct code *c)
{
    const struct fp_ir *ir = c->ed->ir;
    c->in_place = !c->hashed && !c->cycles && !c->sampling && !c->ed->one_instruction &&
                  ir->weights && !(ir->f->flags & FP_FUNCTION_EARLY) &&
                  !LLVMGetModuleFlag(c->ed->module, "Code Model", strlen("Code Model"));
    if (c->in_place) fp_loops_find(c->arena, c->cfg, &c->loops);
}

static void fill_phi(struct code *c, const struct phi *phi)
{
    uint32_t first = c->cfg->first_in[phi->block];
    bool is_since = c->cycles && phi->phi == c->since[phi->block];
    for (uint32_t k = 0; k < fp_cfg_in_degree(c->cfg, phi->block); k++) {
        uint32_t e = c->cfg->in_edges[first + k];
        LLVMValueRef value = is_live(c, e) && is_since ? since_on_edge(c, e) : phi->values[k];
        if (!value) value = LLVMGetUndef(LLVMTypeOf(phi->phi));
        int64_t set;
        if (!is_since && is_live(c, e) && is_set_on(c, e, &set) && wants_in_place(c, e))
            value = set_in_place(c, e, set);
        add_from(c, phi->phi, value, e);
    }
}

/* An indirect jump sets r where it arrives: an edge from the hub to a block
 * that also has other ways in gets a block of its own. */
static void make_arrivals(struct code *c)
{
    uint32_t hub = c->ed->ir->hub;
    if (hub == FP_NONE || c->word) return;
    for (uint32_t e = c->cfg->first_out[hub]; e < c->cfg->first_out[hub + 1]; e++) {
        uint32_t dst = c->cfg->edges[e].dst;
        if (!is_live(c, e) || fp_cfg_in_degree(c->cfg, dst) == 1) continue;
        if (!c->plan->has_register[dst] && !c->cycles) continue;
        fp_edit_on_edge(c->ed, e, false);
        if (c->cycles) c->now[e] = read_cycles(c);
    }
}

/* ---- hash tables ---- */

/* The word `index` words behind base + offset. */
static LLVMValueRef word_behind(struct code *c, LLVMValueRef base, LLVMValueRef offset,
                                int64_t index)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMTypeRef byte = LLVMInt8TypeInContext(c->ed->context);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(base));
    LLVMValueRef distance = LLVMConstInt(c->ed->i64, (uint64_t)index * 8, 1);
    LLVMValueRef at = LLVMBuildBitCast(builder, base, LLVMPointerType(byte, space), "");
    at = LLVMBuildGEP2(builder, byte, at, &offset, 1, "");
    at = LLVMBuildGEP2(builder, byte, at, &distance, 1, "");
    return LLVMBuildBitCast(builder, at, LLVMPointerType(c->ed->i64, space), "");
}

/* All paths that can come have small ids. */
static bool is_direct(struct fp_ir_ranges *ranges, const struct probe *probe, uint64_t *high)
{
    struct fp_ir_range keys = fp_ir_range_of(ranges, probe->key);
    if (!keys.known || keys.low < 1 || keys.high > FP_HASH_DIRECT) return false;
    if ((uint64_t)keys.high > *high) *high = (uint64_t)keys.high;
    return true;
}

static void count_directly(struct code *c, const struct probe *probe)
{
    struct fp_editor *ed = c->ed;
    LLVMValueRef words =
        fp_edit_counters(ed, FP_DIRECT_PREFIX, ed->ir->f->id, ed->ir->f->layout.direct_slots);
    LLVMPositionBuilderBefore(ed->builder, probe->marker);
    LLVMValueRef offset = LLVMBuildShl(ed->builder, probe->key, LLVMConstInt(ed->i64, 3, 0), "");
    fp_edit_add_to(ed, word_behind(c, words, offset, -1), NULL);
    LLVMInstructionEraseFromParent(probe->marker);
}

/* The level of a table may be another one at any time: the load is volatile. */
static LLVMValueRef load_level(struct code *c)
{
    LLVMTypeRef pointer = LLVMPointerType(c->ed->i64, 0);
    LLVMValueRef word = fp_edit_word(c->ed, c->counters, c->slots, 0);
    LLVMValueRef level = LLVMBuildLoad2(c->ed->builder, c->ed->i64, word, "");
    LLVMSetVolatile(level, 1);
    return LLVMBuildIntToPtr(c->ed->builder, level, pointer, "");
}

/*   entry = level + hash(key); if (entry->key == key) entry->count++; else miss(table, key) */
static void emit_probe(struct code *c, struct fp_ir_ranges *ranges, const struct probe *probe)
{
    struct fp_editor *ed = c->ed;
    LLVMBuilderRef builder = ed->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(probe->marker);
    uint64_t high = 0;
    if (is_direct(ranges, probe, &high)) {
        count_directly(c, probe);
        return;
    }
    if (ed->threads != FP_THREADS_LOCAL) {
        LLVMPositionBuilderBefore(builder, probe->marker);
        fp_edit_count_call(ed, FP_HASH_SHARED_SYMBOL, c->counters, probe->key);
        LLVMInstructionEraseFromParent(probe->marker);
        return;
    }
    LLVMBasicBlockRef after = fp_shim_split_block(probe->marker);
    LLVMBasicBlockRef hit = LLVMInsertBasicBlockInContext(ed->context, after, "");
    LLVMBasicBlockRef miss = LLVMInsertBasicBlockInContext(ed->context, after, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(builder, before);
    LLVMValueRef hash =
        LLVMBuildMul(builder, probe->key, LLVMConstInt(ed->i64, FP_HASH_FACTOR, 0), "");
    hash = LLVMBuildLShr(builder, hash, LLVMConstInt(ed->i64, FP_HASH_SHIFT, 0), "");
    LLVMValueRef level = load_level(c);
    LLVMValueRef offset =
        LLVMBuildAnd(builder, hash, LLVMBuildLoad2(builder, ed->i64, level, ""), "");
    uint64_t entries = offsetof(struct fp_hash_level, entries) / sizeof(uint64_t);
    LLVMValueRef key =
        LLVMBuildLoad2(builder, ed->i64, word_behind(c, level, offset, (int64_t)entries), "");
    LLVMValueRef same = LLVMBuildICmp(builder, LLVMIntEQ, key, probe->key, "");
    LLVMValueRef branch = LLVMBuildCondBr(builder, same, hit, miss);
    LLVMValueRef weights[] = {LLVMMDStringInContext(ed->context, "branch_weights", 14),
                              LLVMConstInt(ed->i32, 2000, 0), LLVMConstInt(ed->i32, 1, 0)};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(ed->context, "prof", 4),
                    LLVMMDNodeInContext(ed->context, weights, 3));
    LLVMPositionBuilderAtEnd(builder, hit);
    fp_edit_add_to(ed, word_behind(c, level, offset, (int64_t)entries + 1), NULL);
    LLVMBuildBr(builder, after);
    LLVMPositionBuilderAtEnd(builder, miss);
    fp_edit_count_call(ed, FP_HASH_MISS_SYMBOL, c->counters, probe->key);
    LLVMBuildBr(builder, after);
    LLVMInstructionEraseFromParent(probe->marker);
}

void fp_ir_emit_paths(struct fp_editor *ed, const struct fp_plan *plan, const enum fp_pep *pep)
{
    struct fp_ir *ir = ed->ir;
    struct fp_function *f = ir->f;
    struct code c = {
        .ed = ed,
        .plan = plan,
        .dag = f->paths.dag,
        .cfg = f->paths.cfg,
        .arena = ir->arena,
        .hashed = f->flags & FP_FUNCTION_HASHED,
        .cycles = f->flags & FP_FUNCTION_CYCLES,
        .slots = f->layout.path_slots,
        .stride = fp_layout_stride(f),
        .reg = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nblocks),
        .since = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nblocks),
        .now = FP_NEW_ARRAY(ir->arena, LLVMValueRef, f->paths.cfg->nedges),
    };
    c.counters =
        fp_edit_counters(ed, c.hashed ? FP_HASH_PREFIX : FP_COUNTER_PREFIX, f->id, c.slots);
    struct fp_sampling sampling = {.ed = ed, .arena = ir->arena, .how = pep ? *pep : FP_PEP_TRAP};
    if (pep) c.sampling = &sampling;
    c.register_type = c.hashed || pep ? ed->i64 : fp_edit_pointer_type(ed, ed->i64);
    if (c.hashed && f->paths.truncation->laps.len) {
        c.lap_slots = f->layout.edge_slots;
        c.laps = fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, c.lap_slots);
    }
    choose_in_place(&c);
    c.at_branch = FP_NEW_ARRAY(ir->arena, bool, f->paths.cfg->nblocks);
    if (plan->running) make_word(&c);
    choose_branch_ends(&c);
    emit_entry(&c);
    make_arrivals(&c);
    for (uint32_t i = 0; i < f->paths.truncation->order.nblocks; i++)
        emit_block(&c, f->paths.truncation->order.blocks[i]);
    for (uint32_t i = 0; i < f->paths.truncation->laps.len; i++)
        if (counts_itself(&c, i)) count_laps_left(&c, i);
    for (size_t i = 0; i < c.phis.len; i++) fill_phi(&c, &c.phis.at[i]);
    struct fp_ir_ranges ranges;
    fp_ir_ranges_init(&ranges, ir->arena);
    for (size_t i = 0; i < c.probes.len; i++)
        is_direct(&ranges, &c.probes.at[i], &f->layout.direct_slots);
    for (size_t i = 0; i < c.probes.len; i++) emit_probe(&c, &ranges, &c.probes.at[i]);
    if (pep) fp_ir_finish_ends(&sampling);
}
