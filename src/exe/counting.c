/* Plans for machine code, and places for their operations: see counting.h. */
#include "exe/counting.h"

#include "count/layout.h"
#include "graph/weights.h"

/* ---- the plan ---- */

/* An array has a counter for each path. Pages that nobody counts in take no memory, but all of
 * them are looked at when the profile is written, and all counters of a file have to lie within
 * reach of its code: a large file has fewer for each function. */
static struct fp_limits limits_of(enum fp_exe_cuts cuts, uint64_t text)
{
    enum { FIT = 1 << 16, FIT_LARGE = 1 << 12, LARGE = 16 << 20, MOST = 1 << 24 };
    uint64_t fit = text > LARGE ? FIT_LARGE : FIT;
    struct fp_limits limits = {.max_paths = fit, .good_paths = fit};
    switch (cuts) {
    case FP_EXE_CUTS_FIT: break;
    case FP_EXE_CUTS_LOOPS: limits.loop_entries = fp_loop_entries(false); break;
    case FP_EXE_CUTS_FEW: limits.max_paths = limits.good_paths = MOST; break;
    case FP_EXE_CUTS_PAPER: limits = (struct fp_limits){.max_paths = MOST, .no_laps = true}; break;
    }
    return limits;
}

const char *fp_counting_plan(struct fp_counting *c, enum fp_exe_cuts cuts, uint64_t text)
{
    struct fp_limits limits = limits_of(cuts, text);
    struct fp_plan_options how = fp_counting_plan_options(c);
    struct fp_paths *paths = &c->f->paths;
    struct fp_loops loops;
    paths->cfg = c->m->cfg;
    paths->truncation = FP_NEW(c->arena, struct fp_truncation);
    fp_truncate(c->arena, paths->cfg, NULL, &limits, paths->truncation);
    if (cuts == FP_EXE_CUTS_PAPER && paths->truncation->ncuts + paths->truncation->ndoors)
        return "it has more than 16,777,216 paths";
    fp_loops_find(c->arena, paths->cfg, &loops);
    c->weights = fp_weights_static(c->arena, paths->cfg, &paths->truncation->order, &loops);
    paths->dag = fp_dag_make(c->arena, paths->truncation);
    paths->numbering = fp_number(c->arena, paths->dag, FP_NUMBER_LARGEST_LAST, NULL);
    fp_layout_paths(c->f, paths->numbering->num_ids, UINT64_MAX);
    c->plan = fp_plan_make(c->arena, paths->numbering, c->weights, &how);
    c->paths = *paths;
    c->f->layout.at_end = c->plan->at_end;
    return NULL;
}

/* Where nothing ran, estimates decide. */
void fp_counting_replan(struct fp_counting *c, const uint64_t *edges, uint64_t calls)
{
    static const double ESTIMATED = 1e-3;
    struct fp_plan_options how = fp_counting_plan_options(c);
    double whole = calls ? (double)calls : 1;
    for (uint32_t e = 0; e < c->m->cfg->nedges; e++)
        c->weights[e] = ((double)edges[e] + ESTIMATED * c->weights[e]) / whole;
    c->plan = fp_plan_make(c->arena, c->paths.numbering, c->weights, &how);
    c->f->layout.at_end = c->plan->at_end;
}

/* ---- edges of machine code ---- */

uint32_t fp_counting_jumps(const struct fp_machine_function *m, uint32_t b)
{
    const struct fp_insn *last = &m->insns.at[fp_counting_last(m, b)];
    if (last->kind != FP_INSN_BRANCH && last->kind != FP_INSN_JUMP) return FP_NONE;
    for (uint32_t e = m->cfg->first_out[b]; e < m->cfg->first_out[b + 1]; e++)
        if (m->edges[e].label != FP_LABEL_NOT_TAKEN && m->cfg->edges[e].kind == FP_EDGE_NORMAL)
            return e;
    return FP_NONE;
}

/* A branch of which both ways lead to one block has one edge. */
uint32_t fp_counting_falls(const struct fp_machine_function *m, uint32_t b)
{
    const struct fp_cfg *cfg = m->cfg;
    uint8_t kind = m->insns.at[fp_counting_last(m, b)].kind;
    bool branch = kind == FP_INSN_BRANCH;
    if (kind == FP_INSN_JUMP || kind == FP_INSN_JUMP_INDIRECT || kind == FP_INSN_RETURN ||
        kind == FP_INSN_STOP)
        return FP_NONE;
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
        bool normal = cfg->edges[e].kind == FP_EDGE_NORMAL || cfg->edges[e].kind == FP_EDGE_TWICE;
        if (normal && (!branch || m->edges[e].label == FP_LABEL_NOT_TAKEN)) return e;
    }
    return branch ? fp_counting_jumps(m, b) : FP_NONE;
}

/* ---- operations ---- */

/* What happens on an edge. Paths that come from a hub begin behind it: each way out sets the
 * register itself, and nothing is set in front of the jump. */
static struct fp_edge_ops ops_on(const struct fp_counting *c, uint32_t e)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    const struct fp_dag *dag = c->paths.dag;
    struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
    if (c->m->cfg->flags[edge->dst] & FP_BLOCK_HUB) ops.then.kind = FP_OP_NONE;
    if (!(c->m->cfg->flags[edge->src] & FP_BLOCK_HUB)) return ops;
    uint32_t start = dag->start_of[edge->src];
    if (start == FP_NONE || c->plan->on[start].kind != FP_OP_SET) return ops;
    int64_t value = c->plan->on[start].value;
    switch (ops.first.kind) {
    case FP_OP_NONE: ops.first = (struct fp_op){FP_OP_SET, value}; break;
    case FP_OP_ADD: ops.first = (struct fp_op){FP_OP_SET, value + ops.first.value}; break;
    case FP_OP_COUNT_REG: ops.first = (struct fp_op){FP_OP_COUNT, value + ops.first.value}; break;
    case FP_OP_SET:
    case FP_OP_COUNT: break;
    }
    return ops;
}

static bool is_moved(const struct fp_counting *c, uint32_t e)
{
    return c->plan->at_end[c->m->cfg->edges[e].src] == e;
}

static struct fp_op exit_op(const struct fp_counting *c, uint32_t b)
{
    uint32_t d = c->paths.dag->exit_of[b];
    return d == FP_NONE ? (struct fp_op){FP_OP_NONE, 0} : c->plan->on[d];
}

static bool reads(struct fp_op op)
{
    return op.kind == FP_OP_ADD || op.kind == FP_OP_COUNT_REG;
}

/* ---- where the register is needed ---- */

/* Needed in front of the edge's operations? `carried`: the value goes on into the target. */
static bool needed_on(const struct fp_counting *c, uint32_t e, bool *carried)
{
    struct fp_edge_ops ops = ops_on(c, e);
    struct fp_op first = ops.first, then = ops.then;
    bool sets = first.kind == FP_OP_SET || then.kind == FP_OP_SET;
    *carried = c->live[c->m->cfg->edges[e].dst] && !sets;
    if (first.kind == FP_OP_SET) return false;
    if (reads(first)) return true;
    if (then.kind == FP_OP_SET) return false;
    return reads(then) || c->live[c->m->cfg->edges[e].dst];
}

static bool needed_in(const struct fp_counting *c, uint32_t b)
{
    const struct fp_cfg *cfg = c->m->cfg;
    bool needed = reads(exit_op(c, b)), carried;
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        needed |= needed_on(c, e, &carried);
    return needed;
}

static void find_live(struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    c->live = FP_NEW_ARRAY(c->arena, bool, cfg->nblocks);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = cfg->nblocks; b-- > 0;)
            if (!c->live[b] && needed_in(c, b)) c->live[b] = again = true;
    }
}

/* ---- places ---- */

static bool ends_by_jump(const struct fp_counting *c, uint32_t b)
{
    uint8_t kind = c->m->insns.at[fp_counting_last(c->m, b)].kind;
    return kind != FP_INSN_PLAIN && kind != FP_INSN_NOP && kind != FP_INSN_CALL;
}

static void append(struct fp_counting *c, fp_placed_ops *to, const fp_placed_ops *ops)
{
    for (size_t i = 0; i < ops->len; i++) fp_vec_push(c->arena, to, ops->at[i]);
}

static void add_op(struct fp_counting *c, fp_placed_ops *ops, struct fp_op op, uint32_t block,
                   enum fp_op_role role)
{
    if (op.kind == FP_OP_NONE) return;
    uint32_t region = op.kind == FP_OP_COUNT ? FP_NONE : c->region[block];
    fp_vec_push(c->arena, ops, (struct fp_placed_op){op, region, FP_NONE, (uint8_t)role, 0});
}

static bool is_count(struct fp_op op)
{
    return op.kind == FP_OP_COUNT || op.kind == FP_OP_COUNT_REG;
}

/* May the program end at this instruction? Calls are asked for elsewhere. */
static bool may_fault(const struct fp_insn *insn)
{
    return insn->flags & (FP_INSN_LOADS | FP_INSN_STORES | FP_INSN_DIVIDES);
}

/* Must the operations be made behind every instruction of the block that may fault? Those of an
 * edge say that it was taken. */
static bool is_strict(const struct fp_counting *c, const fp_placed_ops *ops)
{
    for (size_t i = 0; c->exits && i < ops->len; i++)
        if (ops->at[i].role == FP_ROLE_EDGE) return true;
    return false;
}

/* Instructions that operations need in front of this one besides their own: to keep the flags, and
 * to free a register where their path register may be in the slot. If there is no free register
 * here, it is. */
static unsigned place_cost(const struct fp_counting *c, uint32_t k, const fp_placed_ops *ops)
{
    enum { RSP = 4, FLAGS = 3, REGISTER = 2, NEVER = 1000 };
    if (k && c->m->insns.at[k - 1].kind == FP_INSN_SKIP) return NEVER;
    uint32_t live = c->liveness.before[k] | 1u << RSP;
    unsigned cost = live & FP_LIVE_FLAGS ? FLAGS : 0;
    bool uses = false;
    for (size_t i = 0; i < ops->len; i++) uses |= ops->at[i].region != FP_NONE;
    return cost + (uses && !(~live & FP_LIVE_GPRS) ? REGISTER : 0);
}

/* In front of the last instruction, or above it where that costs less. Not above a call, nor
 * above operations that are there already. */
static void place_at_end(struct fp_counting *c, uint32_t b, const fp_placed_ops *ops)
{
    bool strict = is_strict(c, ops);
    uint32_t first = c->m->blocks[b].first_insn, last = fp_counting_last(c->m, b), best = last;
    unsigned least = place_cost(c, last, ops);
    for (uint32_t k = last; least; k--) {
        unsigned cost = place_cost(c, k, ops);
        if (cost < least) least = cost, best = k;
        if (k == first || c->before[k].len || c->m->insns.at[k - 1].kind == FP_INSN_CALL) break;
        if (strict && may_fault(&c->m->insns.at[k - 1])) break;
    }
    append(c, &c->before[best], ops);
}

/* In front of the first instruction, or behind plain ones where that costs less. A count is made
 * in front of every instruction that may fault. */
static void place_at_top(struct fp_counting *c, uint32_t b, const fp_placed_ops *ops)
{
    bool strict = c->exits && is_count(ops->at[0].op);
    uint32_t first = c->m->blocks[b].first_insn, last = fp_counting_last(c->m, b), best = first;
    unsigned least = place_cost(c, first, ops);
    for (uint32_t k = first; least && k <= last; k++) {
        uint8_t kind = c->m->insns.at[k].kind;
        unsigned cost = place_cost(c, k, ops);
        if (cost < least) least = cost, best = k;
        if (kind != FP_INSN_PLAIN && kind != FP_INSN_NOP) break;
        if (strict && may_fault(&c->m->insns.at[k])) break;
    }
    append(c, &c->before[best], ops);
}

/* Where can code on the edge stand? */
static enum fp_op_stand place_of(const struct fp_counting *c, uint32_t e)
{
    const struct fp_machine_function *m = c->m;
    const struct fp_edge *edge = &m->cfg->edges[e];
    uint32_t u = edge->src, v = edge->dst;
    if (edge->kind == FP_EDGE_TWICE) return FP_STAND_BETWEEN;
    if (!fp_counting_has_code(m, u)) {
        bool bridge = !(m->cfg->flags[u] & (FP_BLOCK_HUB | FP_BLOCK_PAD));
        if (bridge) return FP_STAND_BETWEEN;
    } else if (edge->kind == FP_EDGE_INDIRECT) {
        return FP_STAND_END;
    }
    if (fp_counting_has_code(m, v) && v != 0 && fp_cfg_in_degree(m->cfg, v) == 1)
        return FP_STAND_TOP;
    if (!fp_counting_has_code(m, u)) return FP_STAND_APART;
    if (fp_cfg_out_degree(m->cfg, u) == 1 && v != m->tail)
        return ends_by_jump(c, u) ? FP_STAND_END : FP_STAND_BETWEEN;
    if (edge->kind == FP_EDGE_SWITCH) return FP_STAND_APART;
    return fp_counting_falls(m, u) == e && fp_counting_jumps(m, u) != e ? FP_STAND_BETWEEN
                                                                        : FP_STAND_APART;
}

/* Code apart ends in a jump. */
struct fp_plan_options fp_counting_plan_options(struct fp_counting *c)
{
    double *costs = FP_NEW_ARRAY(c->arena, double, c->m->cfg->nedges);
    for (uint32_t e = 0; e < c->m->cfg->nedges; e++)
        costs[e] = place_of(c, e) == FP_STAND_APART ? 2 : 1;
    return (struct fp_plan_options){.exits = c->exits, .branch_counts = true, .costs = costs};
}

/* Can the register's value move from home to home on an edge? */
static bool can_move(const struct fp_counting *c, uint32_t e)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    struct fp_edge_ops ops = ops_on(c, e);
    if (edge->kind != FP_EDGE_NORMAL || !fp_counting_has_code(c->m, edge->src) ||
        !fp_counting_has_code(c->m, edge->dst))
        return false;
    /* a branch that has one edge may read a register */
    if (place_of(c, e) == FP_STAND_END &&
        c->m->insns.at[fp_counting_last(c->m, edge->src)].kind != FP_INSN_JUMP)
        return false;
    return ops.first.kind != FP_OP_COUNT_REG && ops.then.kind == FP_OP_NONE;
}

static void find_regions(struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    bool *on = FP_NEW_ARRAY(c->arena, bool, cfg->nedges);
    bool *free = FP_NEW_ARRAY(c->arena, bool, cfg->nedges);
    c->move = FP_NEW_ARRAY(c->arena, uint8_t, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        bool carried;
        on[e] = needed_on(c, e, &carried) && carried;
        free[e] = can_move(c, e);
    }
    fp_counting_find_regions(c, on, free);
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (on[e] && c->region[cfg->edges[e].src] != c->region[cfg->edges[e].dst])
            c->move[e] = (uint8_t)place_of(c, e);
}

/* Behind what happens at the end of a block: does the way out by this edge read the register? */
static bool reads_behind(const struct fp_counting *c, uint32_t e)
{
    struct fp_edge_ops ops = ops_on(c, e);
    if (is_moved(c, e)) ops.first.kind = FP_OP_NONE;
    if (ops.first.kind == FP_OP_SET) return false;
    if (reads(ops.first)) return true;
    if (ops.then.kind == FP_OP_SET) return false;
    return reads(ops.then) || c->live[c->m->cfg->edges[e].dst];
}

/* No code can stand on an unwind edge. Where a pad has several ways in, the register is set for
 * each of them in front of the call that may throw: on the other ways out of that block nothing
 * reads it, since only one way leads to the block. */
static const char *place_on_unwind(struct fp_counting *c, uint32_t e, const fp_placed_ops *ops,
                                   bool top)
{
    uint32_t u = c->m->cfg->edges[e].src;
    for (size_t i = 0; i < ops->len; i++)
        if (ops->at[i].op.kind != FP_OP_SET || c->live[u])
            return "an operation is on an unwind edge";
    for (size_t i = 0; i < ops->len; i++) ops->at[i].role = FP_ROLE_EARLY;
    if (!top) place_at_end(c, u, ops);
    return NULL;
}

fp_placed_ops fp_counting_on_edge(struct fp_counting *c, uint32_t e)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    struct fp_edge_ops ops = ops_on(c, e);
    fp_placed_ops list = {0};
    /* at the top of the target the value has moved already */
    bool behind = ops.first.kind == FP_OP_SET || c->move[e] == FP_STAND_TOP;
    if (!is_moved(c, e)) add_op(c, &list, ops.first, behind ? edge->dst : edge->src, FP_ROLE_EDGE);
    add_op(c, &list, ops.then, edge->dst, FP_ROLE_EDGE);
    if (edge->dst == c->m->tail && !(c->m->cfg->flags[edge->src] & FP_BLOCK_HUB))
        add_op(c, &list, exit_op(c, edge->dst), edge->dst, FP_ROLE_EDGE);
    for (size_t i = 0; i < list.len; i++) {
        list.at[i].edge = e;
        list.at[i].index = (uint8_t)i;
    }
    return list;
}

/* The operation that ends a path in front of a call that returns twice stands in front of the
 * call. */
static fp_placed_ops take_front(const struct fp_counting *c, uint32_t e, fp_placed_ops *list)
{
    fp_placed_ops front = {0};
    bool first = list->len && ops_on(c, e).first.kind != FP_OP_NONE && !is_moved(c, e);
    if (c->m->cfg->edges[e].kind != FP_EDGE_TWICE || !first) return front;
    front = (fp_placed_ops){.at = list->at, .len = 1};
    *list = (fp_placed_ops){.at = list->at + 1, .len = list->len - 1};
    return front;
}

static const char *place_on_edge(struct fp_counting *c, uint32_t e, bool top)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    fp_placed_ops list = fp_counting_on_edge(c, e);
    if (!list.len) return NULL;
    if (edge->kind == FP_EDGE_UNWIND) return place_on_unwind(c, e, &list, top);
    fp_placed_ops front = take_front(c, e, &list);
    if (edge->dst == c->m->tail && c->m->cfg->flags[edge->src] & FP_BLOCK_HUB)
        return "an unknown jump may leave the function";
    enum fp_op_stand where = place_of(c, e);
    if ((where == FP_STAND_TOP) != top) return NULL;
    if (front.len) place_at_end(c, edge->src, &front);
    switch (where) {
    case FP_STAND_NONE: break;
    case FP_STAND_TOP:
        place_at_top(c, edge->dst, &list);
        c->top[edge->dst] = e;
        break;
    case FP_STAND_END: place_at_end(c, edge->src, &list); break;
    case FP_STAND_BETWEEN: append(c, &c->between[e], &list); break;
    case FP_STAND_APART: append(c, &c->apart[e], &list); break;
    }
    return NULL;
}

/* A hub's way to the tail is one that nobody sees taken. */
static const char *check_tail(const struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    if (c->m->tail == FP_NONE) return NULL;
    for (uint32_t i = cfg->first_in[c->m->tail]; i < cfg->first_in[c->m->tail + 1]; i++)
        if (cfg->flags[cfg->edges[cfg->in_edges[i]].src] & FP_BLOCK_HUB)
            return "an unknown jump may leave the function";
    return NULL;
}

static void place_in_block(struct fp_counting *c, uint32_t b)
{
    fp_placed_ops list = {0};
    uint32_t e = c->plan->at_end[b];
    if (e != FP_NONE) add_op(c, &list, ops_on(c, e).first, b, FP_ROLE_AT_END);
    if (b != c->m->tail) add_op(c, &list, exit_op(c, b), b, FP_ROLE_EXIT);
    if (list.len) place_at_end(c, b, &list);
}

/* Can the one operation of an edge's own code, which sets a register, happen in front of the
 * branch, whichever way is then taken? Code of its own ends in a jump. It pays where the edge is
 * taken at least as often as the other ways, none of which needs the old value. */
static bool sets_before_branch(const struct fp_counting *c, uint32_t e)
{
    const struct fp_cfg *cfg = c->m->cfg;
    const struct fp_edge *edge = &cfg->edges[e];
    const fp_placed_ops *ops = &c->apart[e];
    double others = 0;
    if (ops->len != 1 || ops->at[0].op.kind != FP_OP_SET || edge->kind != FP_EDGE_NORMAL ||
        !fp_counting_has_code(c->m, edge->src))
        return false;
    uint32_t last = fp_counting_last(c->m, edge->src);
    uint32_t used = c->liveness.before[last] | c->liveness.after[last] | c->liveness.reads[last];
    uint8_t home = c->home[ops->at[0].region];
    if (home >= FP_HOME_SLOT || used >> home & 1) return false;
    /* the block's own sum must stay, as long as the branch is not taken */
    if (c->exits && c->plan->has_register[edge->src]) return false;
    for (uint32_t o = cfg->first_out[edge->src]; o < cfg->first_out[edge->src + 1]; o++) {
        if (o == e) continue;
        if (reads_behind(c, o) || cfg->edges[o].kind != FP_EDGE_NORMAL) return false;
        others += c->weights[o];
    }
    return c->weights[e] >= others;
}

/* needs: homes. A block gets one such operation at most. */
static void move_sets(struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    bool *moved = FP_NEW_ARRAY(c->arena, bool, cfg->nblocks);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t u = cfg->edges[e].src;
        if (moved[u] || !sets_before_branch(c, e)) continue;
        c->apart[e].at[0].role = FP_ROLE_EARLY;
        append(c, &c->before[fp_counting_last(c->m, u)], &c->apart[e]);
        c->apart[e].len = 0;
        moved[u] = true;
    }
}

const char *fp_counting_place(struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    const char *why = check_tail(c);
    c->before = FP_NEW_ARRAY(c->arena, fp_placed_ops, c->m->insns.len);
    c->top = FP_NEW_ARRAY(c->arena, uint32_t, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) c->top[b] = FP_NONE;
    c->between = FP_NEW_ARRAY(c->arena, fp_placed_ops, cfg->nedges);
    c->apart = FP_NEW_ARRAY(c->arena, fp_placed_ops, cfg->nedges);
    find_live(c);
    find_regions(c);
    add_op(c, &c->entry, c->plan->on[c->paths.dag->entry_edge], 0, FP_ROLE_EDGE);
    for (uint32_t e = 0; !why && e < cfg->nedges; e++) why = place_on_edge(c, e, true);
    for (uint32_t b = 0; !why && b < cfg->nblocks; b++)
        if (fp_counting_has_code(c->m, b) && c->paths.truncation->order.position[b] != FP_NONE)
            place_in_block(c, b);
    for (uint32_t e = 0; !why && e < cfg->nedges; e++) why = place_on_edge(c, e, false);
    if (!why) {
        fp_counting_choose_homes(c);
        move_sets(c);
    }
    return why;
}
