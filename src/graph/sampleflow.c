/* A flow from sampled counts: see sampleflow.h.
 *
 * The flow that fp_place_counts finds may still be a circulation somewhere: a loop with no way in
 * or out that was ever taken. One execution is added along the way from the entry to such a loop
 * that has the fewest edges that were never sampled, and along the way from there to an exit. Of a
 * flow, what is reached from the entry by edges with counts also leaves, so nothing else is
 * needed. A loop that has no exit is left alone behind its way in. */
#include "graph/sampleflow.h"

#include "base/bitset.h"
#include "graph/placecounts.h"

struct joining {
    const struct fp_cfg *cfg;
    struct fp_arena scratch;
    uint64_t *edges;
    uint32_t *cost;  /* per block: edges without counts on the way to it, or FP_NONE */
    uint32_t *by;    /* per block: the edge that it was reached by */
    uint32_t *queue; /* of blocks: 2 x nedges + 1 on either side of the middle */
};

/* ---- the correction ---- */

static uint32_t *same(struct fp_arena *arena, uint32_t n)
{
    uint32_t *each = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) each[i] = i;
    return each;
}

static bool correct(struct joining *j, uint64_t *entries)
{
    const struct fp_cfg *cfg = j->cfg;
    struct fp_placed placed;
    struct fp_placement in = {
        cfg,      cfg,     same(&j->scratch, cfg->nblocks), same(&j->scratch, cfg->nedges),
        *entries, j->edges};
    if (!fp_place_counts(&j->scratch, &in, &placed)) return false;
    *entries = placed.entries;
    for (uint32_t e = 0; e < cfg->nedges; e++) j->edges[e] = placed.edges[e];
    return true;
}

/* ---- ways ---- */

/* Costs of all blocks from one on. Edges with counts are free, others cost 1: a block goes to the
 * front of the queue by the former, to its end by the latter. */
static void find_ways(struct joining *j, uint32_t from)
{
    const struct fp_cfg *cfg = j->cfg;
    size_t front = cfg->nedges, end = front;
    for (uint32_t b = 0; b < cfg->nblocks; b++) j->cost[b] = FP_NONE;
    j->cost[from] = 0;
    j->by[from] = FP_NONE;
    j->queue[end++] = from;
    while (front < end) {
        uint32_t block = j->queue[front++];
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            uint32_t to = cfg->edges[e].dst, cost = j->cost[block] + !j->edges[e];
            if (j->cost[to] <= cost) continue;
            j->cost[to] = cost;
            j->by[to] = e;
            if (j->edges[e])
                j->queue[--front] = to;
            else
                j->queue[end++] = to;
        }
    }
}

static void add_way(struct joining *j, uint32_t to)
{
    while (j->by[to] != FP_NONE) {
        uint32_t e = j->by[to];
        j->edges[e]++;
        to = j->cfg->edges[e].src;
    }
}

/* The exit that is reached with the fewest edges without counts, or FP_NONE. */
static uint32_t nearest_exit(const struct joining *j)
{
    uint32_t best = FP_NONE;
    for (uint32_t b = 0; b < j->cfg->nblocks; b++)
        if (!fp_cfg_out_degree(j->cfg, b) && j->cost[b] != FP_NONE &&
            (best == FP_NONE || j->cost[b] < j->cost[best]))
            best = b;
    return best;
}

/* ---- parts of the graph ---- */

/* A block that ran, but that no execution from the entry comes to; FP_NONE: there is none. The
 * costs must be those from the entry. */
static uint32_t find_apart(const struct joining *j, uint64_t entries)
{
    for (uint32_t b = 0; b < j->cfg->nblocks; b++) {
        bool apart = j->cost[b] != FP_NONE && (j->cost[b] || !entries);
        if (apart && fp_block_executions(j->cfg, entries, j->edges, b)) return b;
    }
    return FP_NONE;
}

/* Each turn joins at least one block, so there are no more turns than blocks. */
static void join_parts(struct joining *j, uint64_t *entries)
{
    for (uint32_t turn = 0; turn < j->cfg->nblocks; turn++) {
        find_ways(j, 0);
        uint32_t block = find_apart(j, *entries);
        if (block == FP_NONE) return;
        add_way(j, block);
        ++*entries;
        find_ways(j, block);
        uint32_t leaves = nearest_exit(j);
        if (leaves != FP_NONE) add_way(j, leaves);
    }
}

bool fp_sample_flow(const struct fp_cfg *cfg, uint64_t *entries, uint64_t *edges)
{
    struct joining j = {.cfg = cfg, .edges = edges};
    j.cost = FP_NEW_ARRAY(&j.scratch, uint32_t, cfg->nblocks);
    j.by = FP_NEW_ARRAY(&j.scratch, uint32_t, cfg->nblocks);
    j.queue = FP_NEW_ARRAY(&j.scratch, uint32_t, 2 * (size_t)cfg->nedges + 1);
    bool ok = correct(&j, entries);
    if (ok) join_parts(&j, entries);
    fp_arena_free(&j.scratch);
    return ok;
}
