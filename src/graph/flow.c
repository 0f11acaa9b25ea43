/* Chord counters and recovery of all edges: see flow.h. */
#include "graph/flow.h"

#include "graph/tree.h"
#include "graph/weights.h"

#include <math.h>

static void add(struct fp_flow *flow, uint32_t src, uint32_t dst, uint32_t cfg_edge,
                enum fp_flow_kind kind)
{
    flow->edges[flow->nedges++] = (struct fp_flow_edge){src, dst, cfg_edge, kind};
}

static void add_flow_edges(struct fp_flow *flow, const struct fp_order *order)
{
    const struct fp_cfg *cfg = flow->cfg;
    uint32_t outside = cfg->nblocks;
    add(flow, outside, 0, FP_NONE, FP_FLOW_ENTRY);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        const struct fp_edge *edge = &cfg->edges[e];
        if (order->fate[e] == FP_FATE_DEAD) continue;
        if (edge->kind == FP_EDGE_TWICE) {
            add(flow, edge->src, outside, e, FP_FLOW_FRONT);
            add(flow, outside, edge->dst, e, FP_FLOW_EDGE);
        } else {
            add(flow, edge->src, edge->dst, e, FP_FLOW_EDGE);
        }
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (order->position[b] != FP_NONE && fp_cfg_out_degree(cfg, b) == 0)
            add(flow, b, outside, FP_NONE, FP_FLOW_EXIT);
}

static double flow_weight(const struct fp_flow *flow, uint32_t i, const double *weights)
{
    const struct fp_flow_edge *edge = &flow->edges[i];
    if (edge->cfg_edge != FP_NONE && flow->cfg->edges[edge->cfg_edge].kind == FP_EDGE_UNWIND)
        return INFINITY;
    if (!weights) return 1;
    switch (edge->kind) {
    case FP_FLOW_ENTRY: return 1;
    case FP_FLOW_EDGE: return weights[edge->cfg_edge];
    case FP_FLOW_EXIT:
    case FP_FLOW_FRONT: return fp_weight_of_block(flow->cfg, weights, edge->src);
    }
    return 1;
}

struct fp_flow *fp_flow_make(struct fp_arena *arena, const struct fp_cfg *cfg,
                             const struct fp_order *order, const double *weights)
{
    struct fp_arena scratch = {0};
    struct fp_flow *flow = FP_NEW(arena, struct fp_flow);
    flow->cfg = cfg;
    flow->edges =
        FP_NEW_ARRAY(arena, struct fp_flow_edge, 2 * (size_t)cfg->nedges + cfg->nblocks + 1);
    add_flow_edges(flow, order);
    struct fp_tree_edge *edges = FP_NEW_ARRAY(&scratch, struct fp_tree_edge, flow->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++)
        edges[i] = (struct fp_tree_edge){flow->edges[i].src, flow->edges[i].dst,
                                         flow_weight(flow, i, weights)};
    flow->in_tree = fp_spanning_tree(arena, cfg->nblocks + 1, edges, flow->nedges);
    flow->nchords = flow->nedges - (uint32_t)fp_bitset_count(&flow->in_tree);
    fp_arena_free(&scratch);
    return flow;
}

/* Removes leaves: a vertex with one unknown edge left determines it. balance is
 * what is known to flow in less what is known to flow out, modulo 2^64: of counts that
 * come from a file any sum may occur. */
struct solver {
    const struct fp_flow *flow;
    uint64_t *counts;
    uint64_t *balance;
    uint32_t *unknown;  /* edges left per vertex */
    uint32_t *unknowns; /* xor of their indexes: the one that is left is the value */
    uint32_t *ready;
    uint32_t nready;
};

static void account(struct solver *s, uint32_t i)
{
    const struct fp_flow_edge *edge = &s->flow->edges[i];
    s->balance[edge->dst] += s->counts[i];
    s->balance[edge->src] -= s->counts[i];
}

static void make_ready(struct solver *s, uint32_t v)
{
    if (s->unknown[v] == 1 && v != s->flow->cfg->nblocks) s->ready[s->nready++] = v;
}

static bool solve_at(struct solver *s, uint32_t v)
{
    if (s->unknown[v] != 1) return true; /* solved from its other end */
    uint32_t i = s->unknowns[v];
    const struct fp_flow_edge *edge = &s->flow->edges[i];
    uint32_t other = edge->src == v ? edge->dst : edge->src;
    uint64_t count = edge->src == v ? s->balance[v] : 0 - s->balance[v];
    if ((int64_t)count < 0) return false;
    s->counts[i] = count;
    account(s, i);
    s->unknown[v]--;
    s->unknown[other]--;
    s->unknowns[other] ^= i;
    make_ready(s, other);
    return true;
}

bool fp_flow_solve(const struct fp_flow *flow, uint64_t *counts, const int64_t *left)
{
    struct fp_arena scratch = {0};
    uint32_t nverts = flow->cfg->nblocks + 1;
    struct solver s = {
        .flow = flow,
        .counts = counts,
        .balance = FP_NEW_ARRAY(&scratch, uint64_t, nverts),
        .unknown = FP_NEW_ARRAY(&scratch, uint32_t, nverts),
        .unknowns = FP_NEW_ARRAY(&scratch, uint32_t, nverts),
        .ready = FP_NEW_ARRAY(&scratch, uint32_t, nverts),
    };
    for (uint32_t b = 0; left && b < flow->cfg->nblocks; b++) s.balance[b] -= (uint64_t)left[b];
    for (uint32_t i = 0; i < flow->nedges; i++) {
        const struct fp_flow_edge *edge = &flow->edges[i];
        if (!fp_bitset_has(&flow->in_tree, i)) {
            account(&s, i);
            continue;
        }
        s.unknown[edge->src]++;
        s.unknown[edge->dst]++;
        s.unknowns[edge->src] ^= i;
        s.unknowns[edge->dst] ^= i;
    }
    for (uint32_t v = 0; v < nverts; v++) make_ready(&s, v);
    bool ok = true;
    for (uint32_t k = 0; ok && k < s.nready; k++) ok = solve_at(&s, s.ready[k]);
    fp_arena_free(&scratch);
    return ok;
}

uint32_t fp_flow_check(const struct fp_flow *flow, const uint64_t *counts, const int64_t *left)
{
    struct fp_arena scratch = {0};
    uint32_t n = flow->cfg->nblocks, bad = FP_NONE;
    uint64_t *balance = FP_NEW_ARRAY(&scratch, uint64_t, (size_t)n + 1);
    for (uint32_t i = 0; i < flow->nedges; i++) {
        balance[flow->edges[i].dst] += counts[i];
        balance[flow->edges[i].src] -= counts[i];
    }
    for (uint32_t b = n; b-- > 0;)
        if (balance[b] != (left ? (uint64_t)left[b] : 0)) bad = b;
    fp_arena_free(&scratch);
    return bad;
}
