/* Finding loops with one way round: see laps.h. Inner loops first, so that a
 * loop around laps can be one as well. */
#include "graph/laps.h"

#include "base/vec.h"
#include "graph/tree.h"

struct finder {
    struct fp_arena *arena;
    const struct fp_cfg *cfg;
    const struct fp_loops *loops;
    struct fp_order *order;
    FP_VEC(uint32_t) walk;
    FP_VEC(struct fp_lap) laps;
    struct fp_union_find pinned; /* blocks joined by edges that carry no code */
    struct fp_bitset in_lap;     /* edges on the way round of a lap */
};

static bool is_live(const struct finder *f, uint32_t e)
{
    return f->order->fate[e] == FP_FATE_KEPT || f->order->fate[e] == FP_FATE_TRUNCATED;
}

/* The only live edge from block that stays in the loop, or FP_NONE. */
static uint32_t only_way_on(const struct finder *f, uint32_t header, uint32_t block)
{
    const struct fp_cfg *cfg = f->cfg;
    uint32_t found = FP_NONE;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        if (!is_live(f, e) || !fp_loops_contain(f->loops, header, cfg->edges[e].dst)) continue;
        if (found != FP_NONE) return FP_NONE;
        found = e;
    }
    return found;
}

static bool has_one_way_in(const struct finder *f, uint32_t block)
{
    const struct fp_cfg *cfg = f->cfg;
    uint32_t ways = 0;
    for (uint32_t i = cfg->first_in[block]; i < cfg->first_in[block + 1]; i++)
        ways += is_live(f, cfg->in_edges[i]);
    return ways == 1;
}

/* Follows the only way round from the header; gives the closing edge. */
static uint32_t walk_round(struct finder *f, uint32_t header)
{
    f->walk.len = 0;
    for (uint32_t block = header;;) {
        uint32_t e = only_way_on(f, header, block);
        if (e == FP_NONE) return FP_NONE;
        const struct fp_edge *edge = &f->cfg->edges[e];
        if (edge->dst == header)
            return f->order->fate[e] == FP_FATE_TRUNCATED && edge->kind <= FP_EDGE_SWITCH ? e
                                                                                          : FP_NONE;
        if (f->order->fate[e] != FP_FATE_KEPT || !has_one_way_in(f, edge->dst)) return FP_NONE;
        fp_vec_push(f->arena, &f->walk, e);
        block = edge->dst;
    }
}

/* Some live edge leaves the loop from a block of the walk. */
static bool something_leaves(const struct finder *f, uint32_t header)
{
    const struct fp_cfg *cfg = f->cfg;
    for (size_t i = 0; i <= f->walk.len; i++) {
        uint32_t block = i ? cfg->edges[f->walk.at[i - 1]].dst : header;
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
            if (is_live(f, e) && !fp_loops_contain(f->loops, header, cfg->edges[e].dst))
                return true;
    }
    return false;
}

/* Pins the walk's edges, or none of them if that would close a cycle of pinned
 * edges. Those of laps inside this one are pinned already. */
static bool pin_walk(struct finder *f)
{
    for (size_t i = 0; i < f->walk.len; i++) {
        uint32_t e = f->walk.at[i];
        if (fp_bitset_has(&f->in_lap, e)) continue;
        if (fp_union_find_join(&f->pinned, f->cfg->edges[e].src, f->cfg->edges[e].dst)) continue;
        for (size_t k = i; k-- > 0;)
            if (!fp_bitset_has(&f->in_lap, f->walk.at[k])) fp_union_find_undo(&f->pinned);
        return false;
    }
    for (size_t i = 0; i < f->walk.len; i++) fp_bitset_add(&f->in_lap, f->walk.at[i]);
    return true;
}

static void try_header(struct finder *f, uint32_t header)
{
    if (fp_bitset_has(&f->loops->irreducible, header)) return;
    uint32_t closing = walk_round(f, header);
    if (closing == FP_NONE || !something_leaves(f, header) || !pin_walk(f)) return;
    struct fp_lap lap = {closing, (uint32_t)f->walk.len, NULL};
    lap.edges = FP_NEW_ARRAY(f->arena, uint32_t, f->walk.len);
    for (size_t i = 0; i < f->walk.len; i++) lap.edges[i] = f->walk.at[i];
    fp_vec_push(f->arena, &f->laps, lap);
    f->order->fate[closing] = FP_FATE_LAP;
}

/* Headers sorted by depth, deepest first. */
static uint32_t *headers_inside_out(struct fp_arena *scratch, const struct finder *f,
                                    uint32_t *count)
{
    uint32_t deepest = 0, n = f->cfg->nblocks;
    for (uint32_t b = 0; b < n; b++)
        if (f->loops->depth[b] > deepest) deepest = f->loops->depth[b];
    uint32_t *start = FP_NEW_ARRAY(scratch, uint32_t, (size_t)deepest + 2);
    uint32_t *sorted = FP_NEW_ARRAY(scratch, uint32_t, n);
    for (uint32_t b = 0; b < n; b++)
        if (fp_bitset_has(&f->loops->heads, b)) start[deepest - f->loops->depth[b] + 1]++;
    for (uint32_t d = 0; d <= deepest; d++) start[d + 1] += start[d];
    *count = start[deepest + 1];
    for (uint32_t b = 0; b < n; b++)
        if (fp_bitset_has(&f->loops->heads, b)) sorted[start[deepest - f->loops->depth[b]]++] = b;
    return sorted;
}

void fp_laps_find(struct fp_arena *arena, const struct fp_cfg *cfg, const struct fp_loops *loops,
                  struct fp_order *order, struct fp_laps *laps)
{
    struct fp_arena scratch = {0};
    struct finder f = {
        .arena = arena,
        .cfg = cfg,
        .loops = loops,
        .order = order,
        .pinned = fp_union_find_new(&scratch, cfg->nblocks),
        .in_lap = fp_bitset_new(&scratch, cfg->nedges),
    };
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_UNWIND)
            fp_union_find_join(&f.pinned, cfg->edges[e].src, cfg->edges[e].dst);
    uint32_t count;
    uint32_t *headers = headers_inside_out(&scratch, &f, &count);
    for (uint32_t i = 0; i < count; i++)
        if (order->position[headers[i]] != FP_NONE) try_header(&f, headers[i]);
    fp_arena_free(&scratch);
    laps->at = f.laps.at;
    laps->len = (uint32_t)f.laps.len;
    laps->number = NULL;
}
