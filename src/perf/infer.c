/* Inference by minimum cost flow: see infer.h. */
#include "perf/infer.h"

#include "graph/loops.h"
#include "graph/mincost.h"
#include "graph/order.h"
#include "graph/weights.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Costs are integers; a unit of the models is this many. */
enum { COST_UNIT = 100, MOST_COST = 1 << 24 };

struct inferring {
    const struct fp_inference *in;
    struct fp_arena *arena, scratch;
    struct fp_order order;
    struct fp_network net;
    int64_t *weight; /* per block, rounded */
    double scale;    /* levin's b */
    int stride;      /* through the points of the likelihood */
    size_t *arc_of_edge, *arcs_end_of_edge, entry_arc, entry_arcs_end;
    struct fp_edge_counts *out;
};

bool fp_cost_model_named(const char *name, enum fp_cost_model *model)
{
    static const char *const names[] = {"raw", "levin", "profi", "paper", "footpath"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return *model = (enum fp_cost_model)i, true;
    return false;
}

static bool reachable(const struct inferring *f, uint32_t block)
{
    return f->order.position[block] != FP_NONE;
}

/* Weights are bounded so that no sum of supplies, capacities or flows can overflow. The
 * capacities of a block add up to 20 times its weight. */
static int64_t rounded(const struct inferring *f, double weight)
{
    const double most =
        (double)(1ll << 56) / ((double)f->in->cfg->nblocks + f->in->cfg->nedges + 1);
    const double exact = (double)(1ll << 52);
    if (!(weight > 0)) return 0;
    return (int64_t)(fmin(weight, fmin(most, exact)) + 0.5);
}

/* ---- costs ---- */

static int64_t cost_of(double units)
{
    double cost = units * COST_UNIT;
    return cost > MOST_COST ? MOST_COST : cost < 0 ? 0 : (int64_t)(cost + 0.5);
}

struct costs {
    int64_t raise, lower;
};

static struct costs levin(const struct inferring *f, double weight)
{
    double k = f->scale, per = log(weight + 2);
    /* scaled so that the costs of a graph stay within MOST_COST */
    return (struct costs){cost_of(k / per / f->scale), cost_of(50 * k / per / f->scale)};
}

static struct costs profi(double weight)
{
    return (struct costs){cost_of(weight > 0 ? 10 : 11), cost_of(20)};
}

static struct costs base_costs(const struct inferring *f, uint32_t block)
{
    double weight = f->in->weights[block];
    if (f->in->sizes[block] <= 0) return (struct costs){0, 0};
    switch (f->in->model) {
    case FP_COSTS_LEVIN:
    case FP_COSTS_PAPER: return levin(f, weight);
    case FP_COSTS_PROFI: return profi(weight);
    case FP_COSTS_FOOTPATH:
        return (struct costs){cost_of(f->in->sizes[block]), cost_of(10 * f->in->sizes[block])};
    case FP_COSTS_RAW: break;
    }
    return (struct costs){0, 0};
}

static int64_t highest_cost(const struct inferring *f)
{
    int64_t most = 0;
    for (uint32_t b = 0; b < f->in->cfg->nblocks; b++) {
        struct costs costs = base_costs(f, b);
        if (costs.raise > most) most = costs.raise;
        if (costs.lower > most) most = costs.lower;
    }
    return most;
}

static struct costs block_costs(const struct inferring *f, uint32_t block, int64_t highest)
{
    struct costs costs = base_costs(f, block);
    switch (f->in->classes ? (enum fp_perf_class)f->in->classes[block] : FP_CLASS_TRUSTED) {
    case FP_CLASS_OVER: return (struct costs){highest, 0};
    case FP_CLASS_UNDER: return (struct costs){0, highest};
    case FP_CLASS_UNKNOWN: return (struct costs){0, 0};
    case FP_CLASS_TRUSTED: break;
    }
    return costs;
}

/* ---- likelihood: n (x - w ln x), whose slope at x = r w is n (1 - 1/r) ---- */

static const double raised[] = {1, 1.15, 1.4, 1.8, 2.5, 4, 20};
static const double lowered[] = {1, 0.85, 0.7, 0.5, 0.33, 0.2, 0.05};
enum { SEGMENTS = sizeof raised / sizeof *raised };

/* How many points of the curve are left out: a finer curve takes longer to solve. */
static int stride_for(uint32_t nblocks)
{
    return nblocks <= 3000 ? 1 : nblocks <= 10000 ? 3 : SEGMENTS - 1;
}

static const double class_factor = 4;

/* The mean slope between two ratios. */
static double slope(double from, double to)
{
    return 1 - log(to / from) / (to - from);
}

/* A class makes one direction cheaper and the other dearer. The curve stays, since a class is
 * only a guess. */
static void class_factors(const struct inferring *f, uint32_t block, double *raise, double *lower)
{
    enum fp_perf_class class =
        f->in->classes ? (enum fp_perf_class)f->in->classes[block] : FP_CLASS_TRUSTED;
    *raise = class == FP_CLASS_OVER ? class_factor : class == FP_CLASS_UNDER ? 1 / class_factor : 1;
    *lower = 1 / *raise;
}

/* What is drawn from `from` to `to` should be `weight`. */
static void add_curve(struct inferring *f, uint32_t from, uint32_t to, int64_t count, double raise,
                      double lower)
{
    double weight = (double)count;
    int64_t left = count;
    bool straight = f->stride == SEGMENTS - 1; /* one line up, one down */
    for (int i = straight ? SEGMENTS : 0, next; i + 1 < SEGMENTS && weight > 0; i = next) {
        next = i + f->stride;
        int64_t up = (int64_t)(weight * (raised[next] - raised[i]) + 0.5);
        int64_t down = (int64_t)(weight * (lowered[i] - lowered[next]) + 0.5);
        if (down > left) down = left;
        left -= down;
        fp_network_arc(&f->net, from, to, up, cost_of(raise * slope(raised[i], raised[next])));
        fp_network_arc(&f->net, to, from, down, cost_of(-lower * slope(lowered[i], lowered[next])));
    }
    fp_network_arc(&f->net, from, to, FP_UNBOUNDED, cost_of(raise * (straight ? 0.5 : 1)));
    fp_network_arc(
        &f->net, to, from, left,
        cost_of(-lower * (straight ? slope(1, 0.3) : slope(lowered[SEGMENTS - 1], 0.01))));
    f->net.supply[to] += count;
    f->net.supply[from] -= count;
}

static void add_likelihood(struct inferring *f, uint32_t block)
{
    double size = f->in->sizes[block], raise, lower;
    class_factors(f, block, &raise, &lower);
    if (f->in->trusts) size *= f->in->trusts[block];
    add_curve(f, 2 * block, 2 * block + 1, f->weight[block], raise * size, lower * size);
}

/* ---- the network ---- */

static bool has_size(const struct inferring *f, uint32_t block)
{
    return f->in->sizes[block] > 0;
}

static void add_block(struct inferring *f, uint32_t block, int64_t highest)
{
    if (f->in->model == FP_COSTS_FOOTPATH && has_size(f, block)) {
        add_likelihood(f, block);
        return;
    }
    struct costs costs = block_costs(f, block, highest);
    uint32_t in = 2 * block, out = in + 1;
    int64_t weight = f->weight[block];
    fp_network_arc(&f->net, in, out, FP_UNBOUNDED, costs.raise);
    fp_network_arc(&f->net, out, in, weight, costs.lower);
    f->net.supply[out] += weight;
    f->net.supply[in] -= weight;
}

/* Levin's method corrects edges as it does blocks; from samples of blocks their weights are 0. */
static int64_t edge_cost(const struct inferring *f)
{
    switch (f->in->model) {
    case FP_COSTS_LEVIN:
    case FP_COSTS_PAPER: return levin(f, 0).raise;
    case FP_COSTS_PROFI:
    case FP_COSTS_FOOTPATH:
    case FP_COSTS_RAW: break;
    }
    return 0;
}

/* An edge whose count is known from branch records is corrected like a block. */
static void add_edge(struct inferring *f, uint32_t edge)
{
    const struct fp_edge *e = &f->in->cfg->edges[edge];
    uint32_t from = 2 * e->src + 1, to = 2 * e->dst;
    double known = f->in->edge_weights ? f->in->edge_weights[edge] : -1;
    /* edges through a hub are guesses: prefer the edges that the code has */
    int64_t cost = edge_cost(f) + (e->kind == FP_EDGE_INDIRECT ? cost_of(1) : 0);
    double size = f->in->edge_sizes ? f->in->edge_sizes[edge] : 0;
    f->arc_of_edge[edge] = f->net.arcs.len;
    if (known < 0) {
        fp_network_arc(&f->net, from, to, FP_UNBOUNDED, cost);
    } else if (f->in->edge_sizes) {
        add_curve(f, from, to, rounded(f, known), size, size);
    } else {
        struct costs costs = profi(known);
        int64_t weight = rounded(f, known);
        fp_network_arc(&f->net, from, to, FP_UNBOUNDED, costs.raise);
        fp_network_arc(&f->net, to, from, weight, costs.lower);
        f->net.supply[to] += weight;
        f->net.supply[from] -= weight;
    }
    f->arcs_end_of_edge[edge] = f->net.arcs.len;
}

static void make_network(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t outside = 2 * cfg->nblocks;
    int64_t highest = highest_cost(f);
    fp_network_init(&f->net, &f->scratch, outside + 1);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (!reachable(f, b)) continue;
        add_block(f, b, highest);
        if (!fp_cfg_out_degree(cfg, b))
            fp_network_arc(&f->net, 2 * b + 1, outside, FP_UNBOUNDED, 0);
    }
    f->entry_arc = f->net.arcs.len;
    if (f->in->entries > 0 && f->in->entry_size > 0)
        add_curve(f, outside, 0, rounded(f, f->in->entries), f->in->entry_size, f->in->entry_size);
    else
        fp_network_arc(&f->net, outside, 0, FP_UNBOUNDED, 0);
    f->entry_arcs_end = f->net.arcs.len;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (reachable(f, cfg->edges[e].src)) add_edge(f, e);
}

/* What flows through some arcs from a node, and against them. */
static int64_t flow_of(const struct inferring *f, size_t first, size_t end, uint32_t from)
{
    int64_t flow = 0;
    for (size_t i = first; i < end; i++) {
        const struct fp_arc *arc = &f->net.arcs.at[i];
        flow += arc->from == from ? arc->flow : -arc->flow;
    }
    return flow;
}

/* What flows from the outside to block 0. */
static void read_entries(struct inferring *f)
{
    int64_t entries = f->in->entries > 0 && f->in->entry_size > 0 ? rounded(f, f->in->entries) : 0;
    entries += flow_of(f, f->entry_arc, f->entry_arcs_end, 2 * f->in->cfg->nblocks);
    f->out->entries = (uint64_t)entries;
}

static void read_solution(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (!reachable(f, cfg->edges[e].src)) continue;
        double known = f->in->edge_weights ? f->in->edge_weights[e] : -1;
        int64_t base = known < 0 ? 0 : rounded(f, known);
        uint32_t from = 2 * cfg->edges[e].src + 1;
        f->out->edges[e] =
            (uint64_t)(base + flow_of(f, f->arc_of_edge[e], f->arcs_end_of_edge[e], from));
    }
    read_entries(f);
}

/* ---- islands: loops that run without ever being entered ---- */

struct walk {
    uint32_t *via; /* per block: the tree edge that leads to it, or FP_NONE */
    bool *seen;
    uint32_t *queue;
};

/* A breadth-first tree over all edges. */
static void grow(const struct inferring *f, struct walk *w, bool backwards, uint32_t *len,
                 uint32_t from)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t end = *len;
    for (; from < end; from++) {
        uint32_t b = w->queue[from];
        uint32_t first = backwards ? cfg->first_in[b] : cfg->first_out[b];
        uint32_t last = backwards ? cfg->first_in[b + 1] : cfg->first_out[b + 1];
        for (uint32_t i = first; i < last; i++) {
            uint32_t e = backwards ? cfg->in_edges[i] : i;
            uint32_t next = backwards ? cfg->edges[e].src : cfg->edges[e].dst;
            if (w->seen[next] || !reachable(f, next)) continue;
            w->seen[next] = true;
            w->via[next] = e;
            w->queue[end++] = next;
        }
        *len = end;
    }
}

static struct walk walk_from(struct inferring *f, bool backwards)
{
    const struct fp_cfg *cfg = f->in->cfg;
    struct walk w = {FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks),
                     FP_NEW_ARRAY(&f->scratch, bool, cfg->nblocks),
                     FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks)};
    uint32_t len = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        bool root = backwards ? reachable(f, b) && !fp_cfg_out_degree(cfg, b) : b == 0;
        w.via[b] = FP_NONE;
        if (!root) continue;
        w.seen[b] = true;
        w.queue[len++] = b;
    }
    grow(f, &w, backwards, &len, 0);
    return w;
}

static void mark_reached(const struct inferring *f, bool *reached, uint32_t *stack, uint32_t start)
{
    const struct fp_cfg *cfg = f->in->cfg;
    uint32_t len = 0;
    if (reached[start]) return;
    reached[start] = true;
    stack[len++] = start;
    while (len) {
        uint32_t b = stack[--len];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            uint32_t next = cfg->edges[e].dst;
            if (!f->out->edges[e] || reached[next]) continue;
            reached[next] = true;
            stack[len++] = next;
        }
    }
}

/* Adds one execution from the entry through the block to an exit, by the shortest way. */
static void connect(struct inferring *f, const struct walk *in, const struct walk *out,
                    bool *reached, uint32_t *stack, uint32_t block)
{
    const struct fp_cfg *cfg = f->in->cfg;
    if (!out->seen[block]) return; /* no way leads out: nothing can be added */
    f->out->entries++;
    for (uint32_t b = block; in->via[b] != FP_NONE; b = cfg->edges[in->via[b]].src)
        f->out->edges[in->via[b]]++;
    for (uint32_t b = block; out->via[b] != FP_NONE; b = cfg->edges[out->via[b]].dst)
        f->out->edges[out->via[b]]++;
    mark_reached(f, reached, stack, 0);
    for (uint32_t b = block; in->via[b] != FP_NONE; b = cfg->edges[in->via[b]].src)
        mark_reached(f, reached, stack, b);
    for (uint32_t b = block; out->via[b] != FP_NONE; b = cfg->edges[out->via[b]].dst)
        mark_reached(f, reached, stack, cfg->edges[out->via[b]].dst);
}

static void connect_islands(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    bool *reached = FP_NEW_ARRAY(&f->scratch, bool, cfg->nblocks);
    uint32_t *stack = FP_NEW_ARRAY(&f->scratch, uint32_t, cfg->nblocks);
    struct walk in = walk_from(f, false), out = walk_from(f, true);
    if (f->out->entries) mark_reached(f, reached, stack, 0);
    for (uint32_t i = 0; i < f->order.nblocks; i++) {
        uint32_t b = f->order.blocks[i];
        bool runs = false;
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            runs |= f->out->edges[e] != 0;
        if (runs && !reached[b]) connect(f, &in, &out, reached, stack, b);
    }
}

/* ---- raw ---- */

static void spread(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    struct fp_loops loops;
    fp_loops_find(&f->scratch, cfg, &loops);
    double *weights = fp_weights_static(&f->scratch, cfg, &f->order, &loops);
    f->out->entries = (uint64_t)f->weight[0];
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        double sum = 0;
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) sum += weights[e];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            double part = sum > 0 ? weights[e] / sum : 1.0 / fp_cfg_out_degree(cfg, b);
            f->out->edges[e] = (uint64_t)((double)f->weight[b] * part + 0.5);
        }
    }
}

/* ---- */

static void count_blocks(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    f->out->blocks = FP_NEW_ARRAY(f->arena, uint64_t, cfg->nblocks);
    f->out->blocks[0] = f->out->entries;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        f->out->blocks[cfg->edges[e].dst] += f->out->edges[e];
}

static void round_weights(struct inferring *f)
{
    const struct fp_cfg *cfg = f->in->cfg;
    double sum = 0;
    f->weight = FP_NEW_ARRAY(&f->scratch, int64_t, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        f->weight[b] = rounded(f, f->in->weights[b]);
        sum += f->in->weights[b];
    }
    f->scale = sqrt(sum / cfg->nblocks);
    if (f->scale < 1) f->scale = 1;
}

void fp_infer(struct fp_arena *arena, const struct fp_inference *inference,
              struct fp_edge_counts *out)
{
    const struct fp_cfg *cfg = inference->cfg;
    struct inferring f = {
        .in = inference, .arena = arena, .out = out, .stride = stride_for(cfg->nblocks)};
    *out = (struct fp_edge_counts){.edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges)};
    fp_order_make(&f.scratch, cfg, &f.order);
    round_weights(&f);
    if (inference->model == FP_COSTS_RAW) {
        spread(&f);
    } else {
        f.arc_of_edge = FP_NEW_ARRAY(&f.scratch, size_t, cfg->nedges);
        f.arcs_end_of_edge = FP_NEW_ARRAY(&f.scratch, size_t, cfg->nedges);
        make_network(&f);
        bool solved = fp_network_solve(&f.net);
        assert(solved); /* always feasible: lowering everything to 0 is a solution */
        (void)solved;
        read_solution(&f);
        connect_islands(&f);
    }
    count_blocks(&f);
    fp_arena_free(&f.scratch);
}
