/* Making plans: see plan.h. */
#include "graph/plan.h"

#include "graph/tree.h"
#include "graph/weights.h"

#include <float.h>
#include <math.h>

struct planner {
    struct fp_arena *scratch;
    const struct fp_dag *dag;
    const struct fp_numbering *n;
    const double *weights;
    const struct fp_plan_options *options;
    struct fp_plan *plan;
    bool *decided;         /* per vertex: on entering it, one way goes on, and the
                           count may have been made */
    bool *ends_wanted;     /* per decided vertex: all edges of that way are wanted */
    uint64_t *rest;        /* per decided vertex: the sum of values on that way. Labels of
                           some paths may have some there, ids have none */
    bool *needed;          /* per vertex that is not decided: a count lies ahead */
    bool *merged;          /* per vertex: more than one way leads here */
    uint64_t *prefix;      /* per vertex that is not merged: the sum so far */
    uint64_t *potential;   /* per vertex; sums wrap, and only differences are used */
    struct fp_bitset hold; /* blocks that no count may be pushed above */
};

static bool has_paths(const struct planner *p, uint32_t vertex)
{
    return p->n->npaths[vertex] != 0;
}

/* A block on the way round of a lap is entered on every lap, so a count cannot
 * be made there; it can be made before the loop if nothing in the loop decides
 * or leaves. */
static void hold_laps(struct planner *p)
{
    const struct fp_cfg *cfg = p->dag->cfg;
    const struct fp_laps *laps = &p->dag->truncation->laps;
    for (uint32_t i = 0; i < laps->len; i++) {
        const struct fp_lap *lap = &laps->at[i];
        uint32_t header = cfg->edges[lap->closing].dst;
        bool hold = p->n->npaths[header] > 1;
        if (p->options->exits) {
            hold |= (cfg->flags[header] & FP_BLOCK_LEAVES) != 0;
            for (uint32_t k = 0; k < lap->nedges; k++)
                hold |= (cfg->flags[cfg->edges[lap->edges[k]].dst] & FP_BLOCK_LEAVES) != 0;
        }
        if (!hold) continue;
        fp_bitset_add(&p->hold, header);
        for (uint32_t k = 0; k < lap->nedges; k++)
            fp_bitset_add(&p->hold, cfg->edges[lap->edges[k]].dst);
    }
}

static void hold_blocks(struct planner *p)
{
    const struct fp_cfg *cfg = p->dag->cfg;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        bool leaves = p->options->exits && cfg->flags[b] & FP_BLOCK_LEAVES;
        /* in a block that returns, all edges of its path have been taken */
        if (fp_cfg_out_degree(cfg, b) == 0) leaves = false;
        if (leaves || cfg->flags[b] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) fp_bitset_add(&p->hold, b);
    }
    hold_laps(p);
}

static void find_decided(struct planner *p)
{
    const struct fp_dag *dag = p->dag;
    p->decided[dag->exit] = true;
    if (p->options->eager) return;
    hold_blocks(p);
    for (uint32_t i = dag->norder - 1; i-- > 0;) {
        uint32_t v = dag->order[i];
        if (p->n->npaths[v] != 1 || v == dag->entry || fp_bitset_has(&p->hold, v)) continue;
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
            if (has_paths(p, dag->edges[d].dst)) p->decided[v] = p->decided[dag->edges[d].dst];
    }
    /* in the closing part of a lap, which one way leads to, as before it */
    for (uint32_t i = 1; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        if (!has_paths(p, v))
            p->decided[v] = p->decided[dag->edges[dag->in_edges[dag->first_in[v]]].src];
    }
}

static bool is_wanted(const struct planner *p, uint32_t d)
{
    return !p->options->wanted || fp_bitset_has(p->options->wanted, d);
}

/* Is the edge where a path becomes decided, and one to count? */
static bool counts_on(const struct planner *p, uint32_t d)
{
    const struct fp_dag_edge *edge = &p->dag->edges[d];
    return has_paths(p, edge->dst) && !p->decided[edge->src] && p->decided[edge->dst] &&
           is_wanted(p, d) && p->ends_wanted[edge->dst];
}

/* Where the path register matters: with all paths wanted, at every vertex that has
 * paths and is not decided. */
static void find_needed(struct planner *p)
{
    const struct fp_dag *dag = p->dag;
    p->ends_wanted[dag->exit] = true;
    for (uint32_t i = dag->norder - 1; i-- > 0;) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
            uint32_t w = dag->edges[d].dst;
            if (!has_paths(p, w)) continue;
            if (p->decided[v]) {
                p->ends_wanted[v] = is_wanted(p, d) && p->ends_wanted[w];
                p->rest[v] = p->n->value[d] + p->rest[w];
            }
            if (counts_on(p, d) || (!p->decided[w] && p->needed[w])) p->needed[v] = true;
        }
    }
}

/* A path that comes from a hub starts behind it, on an edge that is known. */
static bool runs_into(const struct planner *p, uint32_t v)
{
    return p->options->running &&
           !(v < p->dag->cfg->nblocks && p->dag->cfg->flags[v] & FP_BLOCK_HUB);
}

static void find_merged(struct planner *p)
{
    const struct fp_dag *dag = p->dag;
    for (uint32_t i = 1; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        uint32_t first = dag->first_in[v], ways = dag->first_in[v + 1] - first;
        uint32_t d = dag->in_edges[first];
        uint32_t u = dag->edges[d].src;
        p->merged[v] = ways > 1 || p->merged[u] || p->options->eager || runs_into(p, v);
        if (!p->merged[v]) p->prefix[v] = p->prefix[u] + p->n->value[d];
    }
}

/* An edge between two vertices at which r is live: the only place where an
 * increment costs an instruction that is not there anyway. */
static bool is_inner(const struct planner *p, uint32_t d)
{
    const struct fp_dag_edge *edge = &p->dag->edges[d];
    return edge->src != p->dag->entry && p->merged[edge->src] && !p->decided[edge->dst] &&
           (!p->options->wanted || p->needed[edge->dst]);
}

/* The weight of an edge that must carry no code. With a running register there may be
 * too many of them for a tree. */
static double pinned(const struct planner *p)
{
    return p->options->running ? DBL_MAX : INFINITY;
}

static double tree_weight(const struct planner *p, uint32_t d)
{
    uint32_t e = p->dag->edges[d].cfg_edge;
    if (p->dag->cfg->edges[e].kind == FP_EDGE_UNWIND) return pinned(p);
    double weight = p->weights ? p->weights[d] : 1;
    return p->options->costs ? weight * p->options->costs[e] : weight;
}

struct tree_adjacency {
    uint32_t *first, *edge;
};

static struct tree_adjacency adjacency(struct planner *p, const struct fp_tree_edge *edges,
                                       uint32_t count, const struct fp_bitset *taken)
{
    uint32_t nverts = p->dag->nverts;
    struct tree_adjacency adj = {FP_NEW_ARRAY(p->scratch, uint32_t, (size_t)nverts + 2),
                                 FP_NEW_ARRAY(p->scratch, uint32_t, 2 * (size_t)nverts)};
    for (uint32_t i = 0; i < count; i++)
        if (fp_bitset_has(taken, i)) {
            adj.first[edges[i].a + 2]++;
            adj.first[edges[i].b + 2]++;
        }
    for (uint32_t v = 0; v < nverts; v++) adj.first[v + 2] += adj.first[v + 1];
    for (uint32_t i = 0; i < count; i++)
        if (fp_bitset_has(taken, i)) {
            adj.edge[adj.first[edges[i].a + 1]++] = i;
            adj.edge[adj.first[edges[i].b + 1]++] = i;
        }
    return adj;
}

/* Walks each tree of the forest from any of its vertices, giving every vertex
 * the potential that makes its tree edge's increment 0. */
static void set_potentials(struct planner *p, const struct fp_tree_edge *edges, uint32_t count,
                           const uint32_t *dag_edge, const struct fp_bitset *taken)
{
    uint32_t nverts = p->dag->nverts;
    struct tree_adjacency adj = adjacency(p, edges, count, taken);
    bool *seen = FP_NEW_ARRAY(p->scratch, bool, nverts);
    uint32_t *stack = FP_NEW_ARRAY(p->scratch, uint32_t, nverts);
    for (uint32_t root = 0; root < nverts; root++) {
        if (seen[root]) continue;
        uint32_t depth = 0;
        stack[depth++] = root;
        seen[root] = true;
        while (depth) {
            uint32_t v = stack[--depth];
            for (uint32_t k = adj.first[v]; k < adj.first[v + 1]; k++) {
                const struct fp_tree_edge *edge = &edges[adj.edge[k]];
                uint64_t value = p->n->value[dag_edge[adj.edge[k]]];
                uint32_t w = edge->a == v ? edge->b : edge->a;
                if (seen[w]) continue;
                seen[w] = true;
                p->potential[w] = edge->a == v ? p->potential[v] + value : p->potential[v] - value;
                stack[depth++] = w;
            }
        }
    }
}

static void choose_potentials(struct planner *p)
{
    const struct fp_dag *dag = p->dag;
    struct fp_tree_edge *edges = FP_NEW_ARRAY(p->scratch, struct fp_tree_edge, dag->nedges);
    uint32_t *dag_edge = FP_NEW_ARRAY(p->scratch, uint32_t, dag->nedges), count = 0;
    struct fp_bitset in_lap = fp_bitset_new(p->scratch, dag->nedges);
    const struct fp_laps *laps = &dag->truncation->laps;
    for (uint32_t i = 0; i < laps->len; i++)
        for (uint32_t k = 0; k < laps->at[i].nedges; k++)
            fp_bitset_add(&in_lap, dag->of_edge[laps->at[i].edges[k]]);
    for (uint32_t d = 0; d < dag->nedges; d++) {
        if (dag->edges[d].kind != FP_DAG_REAL || !is_inner(p, d)) continue;
        double weight = fp_bitset_has(&in_lap, d) ? pinned(p) : tree_weight(p, d);
        if (p->options->no_chords && !isinf(weight)) continue;
        edges[count] = (struct fp_tree_edge){dag->edges[d].src, dag->edges[d].dst, weight};
        dag_edge[count++] = d;
    }
    struct fp_bitset taken = fp_spanning_tree(p->scratch, dag->nverts, edges, count);
    set_potentials(p, edges, count, dag_edge, &taken);
}

static struct fp_op op(enum fp_op_kind kind, uint64_t value)
{
    return (struct fp_op){kind, (int64_t)value};
}

static struct fp_op op_on(const struct planner *p, uint32_t d)
{
    const struct fp_dag_edge *edge = &p->dag->edges[d];
    uint32_t u = edge->src, v = edge->dst;
    uint64_t value = p->n->value[d];
    if (!has_paths(p, v) || p->decided[u]) return op(FP_OP_NONE, 0);
    if (p->decided[v] ? !counts_on(p, d) : !p->needed[v]) return op(FP_OP_NONE, 0);
    if (p->decided[v])
        return p->merged[u] ? op(FP_OP_COUNT_REG, p->potential[u] + value + p->rest[v])
                            : op(FP_OP_COUNT, p->prefix[u] + value + p->rest[v]);
    if (!p->merged[v]) return op(FP_OP_NONE, 0);
    if (!p->merged[u]) return op(FP_OP_SET, p->prefix[u] + value - p->potential[v]);
    uint64_t increment = value + p->potential[u] - p->potential[v];
    return op(increment ? FP_OP_ADD : FP_OP_NONE, increment);
}

/* ---- counts in front of a branch ---- */

static bool is_count(enum fp_op_kind kind)
{
    return kind == FP_OP_COUNT || kind == FP_OP_COUNT_REG;
}

static bool is_critical(const struct fp_cfg *cfg, uint32_t e)
{
    const struct fp_edge *edge = &cfg->edges[e];
    return edge->kind <= FP_EDGE_SWITCH && fp_cfg_out_degree(cfg, edge->src) > 1 &&
           fp_cfg_in_degree(cfg, edge->dst) > 1 &&
           !(cfg->flags[edge->src] & (FP_BLOCK_HUB | FP_BLOCK_PAD));
}

/* A lap has no dag edge; its weight is what its source has left. */
static double weight_on(const struct planner *p, uint32_t e, double lap_weight)
{
    uint32_t d = p->dag->of_edge[e];
    if (d == FP_NONE) return lap_weight;
    return p->weights ? p->weights[d] : 1;
}

/* The block's last instruction is a call that may throw: what stands in front of it
 * is not yet at the branch. */
static bool may_unwind(const struct fp_cfg *cfg, uint32_t block)
{
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        if (cfg->edges[e].kind == FP_EDGE_UNWIND) return true;
    return false;
}

/* Blocks on the way round of some lap. */
static struct fp_bitset blocks_in_laps(const struct planner *p)
{
    const struct fp_cfg *cfg = p->dag->cfg;
    const struct fp_laps *laps = &p->dag->truncation->laps;
    struct fp_bitset in_laps = fp_bitset_new(p->scratch, cfg->nblocks);
    for (uint32_t i = 0; i < laps->len; i++) {
        fp_bitset_add(&in_laps, cfg->edges[laps->at[i].closing].dst);
        for (uint32_t k = 0; k < laps->at[i].nedges; k++)
            fp_bitset_add(&in_laps, cfg->edges[laps->at[i].edges[k]].dst);
    }
    return in_laps;
}

/* Of each block's out-edges with a count that would need a block, the hottest, if it is
 * not colder than all others together: moving it costs what the others run, and saves a
 * jump. On the way round of a lap only the lap's own count may move: another would be
 * made on every lap, and nobody knows how many laps a path had. */
static void move_counts(struct planner *p, const double *lap_weights)
{
    const struct fp_cfg *cfg = p->dag->cfg;
    const uint8_t *fate = p->dag->truncation->order.fate;
    struct fp_bitset in_laps = blocks_in_laps(p);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        p->plan->at_end[b] = FP_NONE;
        if (!p->options->branch_counts || may_unwind(cfg, b)) continue;
        double sum = 0, best_weight = 0;
        uint32_t best = FP_NONE;
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            if (fate[e] == FP_FATE_DEAD) continue;
            double weight = weight_on(p, e, lap_weights ? lap_weights[e] : 1);
            bool counts = fate[e] == FP_FATE_LAP || is_count(p->plan->on[p->dag->of_edge[e]].kind);
            if (fp_bitset_has(&in_laps, b)) counts = fate[e] == FP_FATE_LAP;
            sum += weight;
            if (!counts || !is_critical(cfg, e) || weight <= best_weight) continue;
            best = e;
            best_weight = weight;
        }
        if (best != FP_NONE && best_weight >= (sum - best_weight) * (1 - 1e-9))
            p->plan->at_end[b] = best;
    }
}

/* Is nothing done on edges that must carry no code? */
static bool is_feasible(const struct planner *p)
{
    const struct fp_dag *dag = p->dag;
    const struct fp_laps *laps = &dag->truncation->laps;
    for (uint32_t d = 0; d < dag->nedges; d++)
        if (dag->edges[d].kind == FP_DAG_REAL && p->plan->on[d].kind != FP_OP_NONE &&
            dag->cfg->edges[dag->edges[d].cfg_edge].kind == FP_EDGE_UNWIND)
            return false;
    for (uint32_t i = 0; i < laps->len; i++)
        for (uint32_t k = 0; k < laps->at[i].nedges; k++)
            if (p->plan->on[dag->of_edge[laps->at[i].edges[k]]].kind == FP_OP_ADD) return false;
    return true;
}

static void state_facts(struct planner *p)
{
    for (uint32_t b = 0; b < p->dag->cfg->nblocks; b++) {
        p->plan->counted[b] = p->decided[b];
        p->plan->has_register[b] =
            p->merged[b] && !p->decided[b] && (!p->options->wanted || p->needed[b]);
        p->plan->offset[b] = (int64_t)(p->merged[b] ? p->potential[b] : p->prefix[b]);
    }
}

/* Visits of the closing block are counted in front of its branch where nothing else is:
 * behind a test at the bottom of a loop that costs least. */
static void move_laps(struct planner *p)
{
    const struct fp_laps *laps = &p->dag->truncation->laps;
    for (uint32_t i = 0; p->options->lap_exits && i < laps->len; i++) {
        uint32_t closing = laps->at[i].closing, block = p->dag->cfg->edges[closing].src;
        if (p->options->lap_exits[i] != FP_NONE && p->plan->at_end[block] == FP_NONE)
            p->plan->at_end[block] = closing;
    }
}

/* Behind a returns-twice call nobody notices that a path begins. */
static bool may_run(const struct fp_numbering *numbering)
{
    const struct fp_cfg *cfg = numbering->dag->cfg;
    if (numbering->num_paths == 1) return false;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_TWICE) return false;
    return true;
}

static struct fp_plan *plan_new(struct fp_arena *arena, const struct fp_numbering *numbering,
                                const struct fp_plan_options *options)
{
    const struct fp_dag *dag = numbering->dag;
    struct fp_plan *plan = FP_NEW(arena, struct fp_plan);
    plan->numbering = numbering;
    plan->laps = options->laps;
    plan->lap_exits = options->lap_exits;
    plan->on = FP_NEW_ARRAY(arena, struct fp_op, dag->nedges);
    plan->at_end = FP_NEW_ARRAY(arena, uint32_t, dag->cfg->nblocks);
    plan->counted = FP_NEW_ARRAY(arena, bool, dag->cfg->nblocks);
    plan->has_register = FP_NEW_ARRAY(arena, bool, dag->cfg->nblocks);
    plan->offset = FP_NEW_ARRAY(arena, int64_t, dag->cfg->nblocks);
    return plan;
}

static void make_plan(struct fp_plan *plan, const double *cfg_weights,
                      const struct fp_plan_options *options)
{
    struct fp_arena scratch = {0};
    const struct fp_dag *dag = plan->numbering->dag;
    struct planner p = {
        .scratch = &scratch,
        .dag = dag,
        .n = plan->numbering,
        .weights = cfg_weights ? fp_dag_weights(&scratch, dag, cfg_weights) : NULL,
        .options = options,
        .plan = plan,
        .decided = FP_NEW_ARRAY(&scratch, bool, dag->nverts),
        .ends_wanted = FP_NEW_ARRAY(&scratch, bool, dag->nverts),
        .rest = FP_NEW_ARRAY(&scratch, uint64_t, dag->nverts),
        .needed = FP_NEW_ARRAY(&scratch, bool, dag->nverts),
        .merged = FP_NEW_ARRAY(&scratch, bool, dag->nverts),
        .prefix = FP_NEW_ARRAY(&scratch, uint64_t, dag->nverts),
        .potential = FP_NEW_ARRAY(&scratch, uint64_t, dag->nverts),
        .hold = fp_bitset_new(&scratch, dag->nverts),
    };
    find_decided(&p);
    find_needed(&p);
    find_merged(&p);
    choose_potentials(&p);
    for (uint32_t d = 0; d < dag->nedges; d++) plan->on[d] = op_on(&p, d);
    plan->running = options->running && is_feasible(&p);
    move_counts(&p, cfg_weights);
    move_laps(&p);
    state_facts(&p);
    fp_arena_free(&scratch);
}

struct fp_plan *fp_plan_make(struct fp_arena *arena, const struct fp_numbering *numbering,
                             const double *cfg_weights, const struct fp_plan_options *options)
{
    struct fp_plan *plan = plan_new(arena, numbering, options);
    struct fp_plan_options how = *options;
    how.running = options->running && may_run(numbering);
    make_plan(plan, cfg_weights, &how);
    if (how.running && !plan->running) {
        how.running = false;
        make_plan(plan, cfg_weights, &how);
    }
    return plan;
}

bool fp_plan_sets_on(const struct fp_plan *plan, uint32_t e, int64_t *value)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_edge *edge = &dag->cfg->edges[e];
    struct fp_op first = {FP_OP_NONE, 0}, start = {FP_OP_NONE, 0};
    enum fp_fate fate = dag->truncation->order.fate[e];
    if (fate == FP_FATE_TRUNCATED) first = plan->on[dag->start_of[edge->dst]];
    if (fate == FP_FATE_KEPT) first = plan->on[dag->of_edge[e]];
    if (fate == FP_FATE_KEPT && dag->cfg->flags[edge->src] & FP_BLOCK_HUB)
        start = plan->on[dag->start_of[edge->src]];
    *value = first.value;
    if (first.kind == FP_OP_ADD) *value += start.value;
    if (first.kind == FP_OP_NONE) *value = start.value;
    return first.kind == FP_OP_SET || start.kind == FP_OP_SET;
}

/* Is the value that r has in the edge's source still needed on the edge or behind it? */
static bool keeps_register(const struct fp_plan *plan, uint32_t e)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_edge *edge = &dag->cfg->edges[e];
    enum fp_fate fate = dag->truncation->order.fate[e];
    if (!plan->has_register[edge->src] || fate == FP_FATE_DEAD) return false;
    if (fate == FP_FATE_LAP) return plan->has_register[edge->dst];
    enum fp_op_kind kind = plan->on[dag->of_edge[e]].kind;
    if (kind == FP_OP_COUNT_REG) return plan->at_end[edge->src] != e;
    return fate == FP_FATE_KEPT && kind != FP_OP_SET && plan->has_register[edge->dst];
}

/* Is it the hottest of the truncated edges to its target? The code generator can lay the block
 * of one of them in front of the target. */
static bool is_main_way_back(const struct fp_plan *plan, const double *weights, uint32_t e)
{
    const struct fp_truncation *t = plan->numbering->dag->truncation;
    const struct fp_cfg *cfg = t->cfg;
    uint32_t header = cfg->edges[e].dst;
    if (t->order.fate[e] != FP_FATE_TRUNCATED) return false;
    for (uint32_t k = cfg->first_in[header]; k < cfg->first_in[header + 1]; k++) {
        uint32_t other = cfg->in_edges[k];
        if (other != e && t->order.fate[other] == FP_FATE_TRUNCATED && weights[other] >= weights[e])
            return false;
    }
    return true;
}

bool fp_plan_sets_before_branch(const struct fp_plan *plan, const double *weights, uint32_t e,
                                int64_t value, const bool *has_block)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_cfg *cfg = dag->cfg;
    uint32_t src = cfg->edges[e].src;
    if (has_block[e]) return false;
    for (uint32_t o = cfg->first_out[src]; o < cfg->first_out[src + 1]; o++) {
        int64_t other;
        if (o == e || dag->truncation->order.fate[o] == FP_FATE_DEAD) continue;
        if (keeps_register(plan, o) && is_main_way_back(plan, weights, e)) return false;
        if (!fp_plan_sets_on(plan, o, &other) || other == value) continue;
        if (has_block[o] || !plan->has_register[cfg->edges[o].dst]) continue;
        if (weights[o] > weights[e] || (weights[o] == weights[e] && o < e)) return false;
    }
    return true;
}

struct fp_edge_ops fp_plan_on_edge(const struct fp_plan *plan, uint32_t cfg_edge)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_truncation *truncation = dag->truncation;
    struct fp_edge_ops ops = {{FP_OP_NONE, 0}, {FP_OP_NONE, 0}};
    switch ((enum fp_fate)truncation->order.fate[cfg_edge]) {
    case FP_FATE_KEPT: ops.first = plan->on[dag->of_edge[cfg_edge]]; break;
    case FP_FATE_TRUNCATED:
        ops.first = plan->on[dag->of_edge[cfg_edge]];
        ops.then = plan->on[dag->start_of[dag->cfg->edges[cfg_edge].dst]];
        break;
    case FP_FATE_LAP:
        for (uint32_t low = 0, high = truncation->laps.len; low < high;) {
            uint32_t middle = low + (high - low) / 2;
            uint32_t closing = truncation->laps.at[middle].closing;
            bool counted = !plan->laps || fp_bitset_has(plan->laps, middle);
            if (closing == cfg_edge && counted)
                ops.first = op(FP_OP_COUNT, plan->numbering->num_paths +
                                                fp_lap_number(&truncation->laps, middle));
            if (closing < cfg_edge)
                low = middle + 1;
            else
                high = middle;
        }
        break;
    case FP_FATE_DEAD: break;
    }
    return ops;
}

double fp_plan_cost(const struct fp_plan *plan, const double *cfg_weights)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_cfg *cfg = dag->cfg;
    struct fp_arena scratch = {0};
    double *weights = fp_dag_weights(&scratch, dag, cfg_weights), cost = 0;
    for (uint32_t d = 0; d < dag->nedges; d++) {
        uint32_t e = dag->edges[d].cfg_edge;
        bool moved = e != FP_NONE && plan->at_end[cfg->edges[e].src] == e;
        if (plan->on[d].kind != FP_OP_NONE && !moved) cost += weights[d];
    }
    const struct fp_laps *laps = &dag->truncation->laps;
    for (uint32_t i = 0; i < laps->len; i++) {
        uint32_t e = laps->at[i].closing;
        if (plan->at_end[cfg->edges[e].src] != e) cost += cfg_weights[e];
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (plan->at_end[b] != FP_NONE) cost += fp_weight_of_block(cfg, cfg_weights, b);
    fp_arena_free(&scratch);
    return cost;
}
