/* Placing counts: see placecounts.h.
 *
 * The network is that of perf/infer.h: a block is two nodes with an arc between them that raises
 * its count and one back that lowers it; an edge with a known count has two arcs in the same way.
 * A twice edge is two: its source leaves the function, its target is entered. Counts above 2^52,
 * or 2^56 by the size of the graph, are cut to that.
 */
#include "graph/placecounts.h"

#include "base/checked.h"
#include "graph/mincost.h"

/* Of one execution more or less than known. What never ran is the surest. Without the last one,
 * flow might go around where nobody knows of it. */
enum { COST_KNOWN = 20, COST_NEVER_RAN = 30, COST_UNKNOWN = 1 };

struct count_placing {
    const struct fp_placement *in;
    struct fp_arena scratch;
    struct fp_network net;
    uint64_t *old_blocks; /* executions, per block of the old version */
    int64_t most;         /* a count that is cut */
    size_t *arcs, entry;  /* per edge: the arc that raises it */
    struct fp_placed *out;
};

uint64_t fp_block_executions(const struct fp_cfg *cfg, uint64_t entries, const uint64_t *edges,
                             uint32_t block)
{
    uint64_t count = block ? 0 : entries;
    for (uint32_t i = cfg->first_in[block]; i < cfg->first_in[block + 1]; i++)
        count = fp_add_saturated(count, edges[cfg->in_edges[i]]);
    return count;
}

static int64_t cut(const struct count_placing *p, uint64_t count)
{
    return count > (uint64_t)p->most ? p->most : (int64_t)count;
}

/* ---- the network ---- */

static size_t add_known(struct count_placing *p, uint32_t from, uint32_t to, uint64_t count)
{
    int64_t known = cut(p, count);
    size_t arc =
        fp_network_arc(&p->net, from, to, FP_UNBOUNDED, known ? COST_KNOWN : COST_NEVER_RAN);
    fp_network_arc(&p->net, to, from, known, COST_KNOWN);
    p->net.supply[to] += known;
    p->net.supply[from] -= known;
    return arc;
}

static void add_block(struct count_placing *p, uint32_t block)
{
    uint32_t old = p->in->old_of[block], in = 2 * block, out = in + 1;
    if (old == FP_NONE)
        fp_network_arc(&p->net, in, out, FP_UNBOUNDED, COST_UNKNOWN);
    else
        add_known(p, in, out, p->old_blocks[old]);
    if (!fp_cfg_out_degree(p->in->now, block))
        fp_network_arc(&p->net, out, 2 * p->in->now->nblocks, FP_UNBOUNDED, 0);
}

static void add_edge(struct count_placing *p, uint32_t edge)
{
    const struct fp_edge *e = &p->in->now->edges[edge];
    uint32_t old = p->in->old_edges[edge], from = 2 * e->src + 1, to = 2 * e->dst;
    if (e->kind == FP_EDGE_TWICE) {
        uint32_t outside = 2 * p->in->now->nblocks;
        fp_network_arc(&p->net, from, outside, FP_UNBOUNDED, 0);
        from = outside;
    }
    p->arcs[edge] = old == FP_NONE ? fp_network_arc(&p->net, from, to, FP_UNBOUNDED, COST_UNKNOWN)
                                   : add_known(p, from, to, p->in->edges[old]);
}

static void make_network(struct count_placing *p)
{
    const struct fp_cfg *now = p->in->now;
    uint32_t outside = 2 * now->nblocks;
    fp_network_init(&p->net, &p->scratch, outside + 1);
    p->arcs = FP_NEW_ARRAY(&p->scratch, size_t, now->nedges);
    for (uint32_t b = 0; b < now->nblocks; b++) add_block(p, b);
    for (uint32_t e = 0; e < now->nedges; e++) add_edge(p, e);
    p->entry = fp_network_arc(&p->net, outside, 0, FP_UNBOUNDED, 0);
}

static void read_solution(struct count_placing *p)
{
    const struct fp_arc *arcs = p->net.arcs.at;
    p->out->entries = (uint64_t)arcs[p->entry].flow;
    for (uint32_t e = 0; e < p->in->now->nedges; e++) {
        uint32_t old = p->in->old_edges[e];
        int64_t flow = arcs[p->arcs[e]].flow;
        if (old != FP_NONE) flow += cut(p, p->in->edges[old]) - arcs[p->arcs[e] + 1].flow;
        p->out->edges[e] = (uint64_t)flow;
    }
}

/* ---- what is known, and what follows from it ---- */

struct knowing {
    const struct fp_cfg *cfg;
    bool *block, *edge;
    bool more; /* something was added in this round */
};

static void learn(struct knowing *k, bool *what)
{
    k->more |= !*what;
    *what = true;
}

/* One side of a block: from all its edges the block, from the block the last edge. */
static void learn_side(struct knowing *k, uint32_t block, bool back)
{
    const struct fp_cfg *cfg = k->cfg;
    uint32_t first = back ? cfg->first_in[block] : cfg->first_out[block];
    uint32_t end = back ? cfg->first_in[block + 1] : cfg->first_out[block + 1];
    uint32_t unknown = 0, last = 0;
    if (first == end) return;
    for (uint32_t i = first; i < end; i++) {
        uint32_t e = back ? cfg->in_edges[i] : i;
        if (!back && cfg->edges[e].kind == FP_EDGE_TWICE) return; /* counted where it arrives */
        if (!k->edge[e]) unknown++, last = e;
    }
    if (!unknown) learn(k, &k->block[block]);
    if (unknown == 1 && k->block[block]) learn(k, &k->edge[last]);
}

/* Of a branch both ways must be known. Of a switch, the ways of most of what arrives. */
static bool is_guessed(const struct count_placing *p, const bool *known, uint32_t block)
{
    const struct fp_cfg *cfg = p->in->now;
    uint32_t unknown = 0, degree = fp_cfg_out_degree(cfg, block);
    double sum = 0, sure = 0;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        unknown += !known[e];
        sum += (double)p->out->edges[e];
        if (known[e]) sure += (double)p->out->edges[e];
    }
    return degree > 1 && unknown && (degree == 2 || sure < sum / 2);
}

static void find_guessed(struct count_placing *p)
{
    const struct fp_cfg *cfg = p->in->now;
    struct knowing k = {cfg, FP_NEW_ARRAY(&p->scratch, bool, cfg->nblocks),
                        FP_NEW_ARRAY(&p->scratch, bool, cfg->nedges), true};
    for (uint32_t b = 0; b < cfg->nblocks; b++) k.block[b] = p->in->old_of[b] != FP_NONE;
    for (uint32_t e = 0; e < cfg->nedges; e++) k.edge[e] = p->in->old_edges[e] != FP_NONE;
    while (k.more) {
        k.more = false;
        for (uint32_t b = 0; b < cfg->nblocks; b++) learn_side(&k, b, false);
        for (uint32_t b = cfg->nblocks; b--;) learn_side(&k, b, true);
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (is_guessed(p, k.edge, b)) fp_bitset_add(&p->out->guessed, b);
}

/* ---- all ---- */

static void sum_up(struct count_placing *p)
{
    const struct fp_cfg *now = p->in->now;
    for (uint32_t b = 0; b < p->in->old->nblocks; b++) p->out->total += (double)p->old_blocks[b];
    for (uint32_t b = 0; b < now->nblocks; b++) {
        uint32_t old = p->in->old_of[b];
        if (old == FP_NONE) continue;
        uint64_t here = fp_block_executions(now, p->out->entries, p->out->edges, b);
        uint64_t there = p->old_blocks[old];
        p->out->placed += (double)(here < there ? here : there);
    }
}

bool fp_place_counts(struct fp_arena *arena, const struct fp_placement *in, struct fp_placed *out)
{
    struct count_placing p = {.in = in, .out = out};
    const struct fp_cfg *old = in->old, *now = in->now;
    *out = (struct fp_placed){.edges = FP_NEW_ARRAY(arena, uint64_t, now->nedges),
                              .guessed = fp_bitset_new(arena, now->nblocks)};
    p.most = ((int64_t)1 << 56) / ((int64_t)now->nblocks + now->nedges + 1);
    if (p.most > (int64_t)1 << 52) p.most = (int64_t)1 << 52;
    p.old_blocks = FP_NEW_ARRAY(&p.scratch, uint64_t, old->nblocks);
    for (uint32_t b = 0; b < old->nblocks; b++)
        p.old_blocks[b] = fp_block_executions(old, in->entries, in->edges, b);
    make_network(&p);
    bool ok = fp_network_solve(&p.net);
    if (ok) {
        read_solution(&p);
        find_guessed(&p);
        sum_up(&p);
    }
    fp_arena_free(&p.scratch);
    return ok;
}
