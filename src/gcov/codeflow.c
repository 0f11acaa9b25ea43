/* Flows that fit weights of optimised code: see codeflow.h. */
#include "gcov/codeflow.h"

#include "graph/mincost.h"
#include "graph/order.h"

#include <assert.h>
#include <math.h>

/* Ratios of a count to its weight, and what each unit between two of them costs: the mean slope of
 * x - ln x there, as far as it goes up to 1. */
static const double up[] = {1, 1.15, 1.4, 2}, up_cost[] = {0.07, 0.21, 0.4, 0.8};
static const double down[] = {1, 0.85, 0.7, 0.5, 0}, down_cost[] = {0.08, 0.3, 0.67, 1.2};
enum { COST_UNIT = 1000, SEGMENTS = sizeof up_cost / sizeof *up_cost };

static const double of_edges = 0.1; /* how far the weight of an edge is trusted */

struct code_flow {
    const struct fp_inference *in;
    struct fp_arena scratch;
    struct fp_order order;
    struct fp_network net;
    size_t *arc_of_edge; /* SIZE_MAX: not reachable */
    size_t entry_arc;
    struct fp_edge_counts *out;
};

static int64_t rounded(const struct code_flow *f, double weight)
{
    double most = (double)(1ll << 50) / ((double)f->in->cfg->nblocks + f->in->cfg->nedges + 1);
    return weight > 0 ? (int64_t)(fmin(weight, most) + 0.5) : 0;
}

/* Arcs that correct a weight, which is a flow from `from` to `to` already. */
static void add_weight(struct code_flow *f, uint32_t from, uint32_t to, double given, double trust)
{
    int64_t weight = rounded(f, given), left = weight;
    for (int i = 0; i < SEGMENTS; i++) {
        bool last = i + 1 == SEGMENTS;
        double wide = last ? 0 : (double)weight * (up[i + 1] - up[i]);
        if (last || wide >= 1)
            fp_network_arc(&f->net, from, to, last ? FP_UNBOUNDED : (int64_t)wide,
                           (int64_t)(trust * up_cost[i] * COST_UNIT));
        int64_t back = last ? left : (int64_t)((double)weight * (down[i] - down[i + 1]));
        left -= back;
        if (back)
            fp_network_arc(&f->net, to, from, back, (int64_t)(trust * down_cost[i] * COST_UNIT));
    }
    f->net.supply[to] += weight;
    f->net.supply[from] -= weight;
}

static bool reachable(const struct code_flow *f, uint32_t block)
{
    return f->order.position[block] != FP_NONE;
}

static void make_network(struct code_flow *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t outside = 2 * cfg->nblocks;
    fp_network_init(&f->net, &f->scratch, outside + 1);
    f->entry_arc = fp_network_arc(&f->net, outside, 0, FP_UNBOUNDED, 0);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (!reachable(f, b)) continue;
        if (f->in->sizes[b] > 0)
            add_weight(f, 2 * b, 2 * b + 1, f->in->weights[b], f->in->sizes[b]);
        else
            fp_network_arc(&f->net, 2 * b, 2 * b + 1, FP_UNBOUNDED, 1);
        if (!fp_cfg_out_degree(cfg, b))
            fp_network_arc(&f->net, 2 * b + 1, outside, FP_UNBOUNDED, 0);
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t from = 2 * cfg->edges[e].src + 1, to = 2 * cfg->edges[e].dst;
        f->arc_of_edge[e] = f->net.arcs.len;
        if (!reachable(f, cfg->edges[e].src))
            ;
        else if (f->in->edge_weights[e] >= 0)
            add_weight(f, from, to, f->in->edge_weights[e], of_edges);
        else
            fp_network_arc(&f->net, from, to, FP_UNBOUNDED, 0);
    }
}

static void read_solution(struct code_flow *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        size_t end = e + 1 < cfg->nedges ? f->arc_of_edge[e + 1] : f->net.arcs.len;
        double known = f->in->edge_weights[e];
        int64_t count = 0;
        if (!reachable(f, cfg->edges[e].src)) continue;
        if (known >= 0) count = rounded(f, known);
        for (size_t i = f->arc_of_edge[e]; i < end; i++) {
            const struct fp_arc *arc = &f->net.arcs.at[i];
            count += arc->from == 2 * cfg->edges[e].src + 1 ? arc->flow : -arc->flow;
        }
        f->out->edges[e] = (uint64_t)count;
    }
    f->out->entries = (uint64_t)f->net.arcs.at[f->entry_arc].flow;
}

/* ---- loops that run without ever being entered ---- */

/* The edge by which a search comes to each block, or FP_NONE: from the entry on, or backwards from
 * the exits. */
static uint32_t *search(struct code_flow *f, bool backwards)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t *via = FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks);
    uint32_t *queue = FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks), len = 0;
    bool *seen = FP_NEW_ARRAY(&f->scratch, bool, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        via[b] = FP_NONE;
        if (backwards ? fp_cfg_out_degree(cfg, b) != 0 : b != 0) continue;
        seen[b] = true;
        queue[len++] = b;
    }
    for (uint32_t at = 0; at < len; at++) {
        uint32_t b = queue[at];
        const uint32_t *first = backwards ? cfg->first_in : cfg->first_out;
        for (uint32_t i = first[b]; i < first[b + 1]; i++) {
            uint32_t e = backwards ? cfg->in_edges[i] : i;
            uint32_t next = backwards ? cfg->edges[e].src : cfg->edges[e].dst;
            if (seen[next]) continue;
            seen[next] = true;
            via[next] = e;
            queue[len++] = next;
        }
    }
    return via;
}

static void mark(const struct code_flow *f, bool *reached, uint32_t *stack, uint32_t start)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t len = 0;
    if (reached[start]) return;
    reached[start] = true;
    for (stack[len++] = start; len;) {
        uint32_t b = stack[--len];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            if (f->out->edges[e] && !reached[cfg->edges[e].dst])
                reached[stack[len++] = cfg->edges[e].dst] = true;
    }
}

/* One execution from the entry through the block to an exit. */
static void connect(struct code_flow *f, const uint32_t *in, const uint32_t *out, bool *reached,
                    uint32_t *stack, uint32_t block)
{
    const struct fp_cfg *cfg = f->in->cfg;
    f->out->entries++;
    for (uint32_t b = block; in[b] != FP_NONE; b = cfg->edges[in[b]].src) f->out->edges[in[b]]++;
    for (uint32_t b = block; out[b] != FP_NONE; b = cfg->edges[out[b]].dst) f->out->edges[out[b]]++;
    memset(reached, 0, cfg->nblocks * sizeof *reached);
    mark(f, reached, stack, 0);
}

static void connect_islands(struct code_flow *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    bool *reached = FP_NEW_ARRAY(&f->scratch, bool, cfg->nblocks);
    uint32_t *stack = FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks);
    const uint32_t *in = search(f, false), *out = search(f, true);
    if (f->out->entries) mark(f, reached, stack, 0);
    for (uint32_t i = 0; i < f->order.nblocks; i++) {
        uint32_t b = f->order.blocks[i];
        bool runs = false;
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            runs |= f->out->edges[e] != 0;
        if (runs && !reached[b] && out[b] != FP_NONE) connect(f, in, out, reached, stack, b);
    }
}

void fp_code_flow(struct fp_arena *arena, const struct fp_inference *inference,
                  struct fp_edge_counts *out)
{
    const struct fp_cfg *cfg = inference->cfg;
    struct code_flow f = {.in = inference, .out = out};
    *out = (struct fp_edge_counts){.edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges),
                                   .blocks = FP_NEW_ARRAY(arena, uint64_t, cfg->nblocks)};
    fp_order_make(&f.scratch, cfg, &f.order);
    f.arc_of_edge = FP_NEW_ARRAY(&f.scratch, size_t, cfg->nedges);
    make_network(&f);
    bool solved = fp_network_solve(&f.net);
    assert(solved); /* lowering everything to 0 is a solution */
    (void)solved;
    read_solution(&f);
    connect_islands(&f);
    out->blocks[0] = out->entries;
    for (uint32_t e = 0; e < cfg->nedges; e++) out->blocks[cfg->edges[e].dst] += out->edges[e];
    fp_arena_free(&f.scratch);
}
