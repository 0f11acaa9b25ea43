/* Building and checking control-flow graphs. */
#include "graph/cfg.h"

#include "base/table.h"

#include <string.h>

/* Counting sort by source keeps the order in which edges were added. */
static void sort_by_source(struct fp_arena *arena, struct fp_cfg *cfg, const struct fp_edge *edges)
{
    cfg->first_out = FP_NEW_ARRAY(arena, uint32_t, (size_t)cfg->nblocks + 1);
    cfg->edges = FP_NEW_ARRAY(arena, struct fp_edge, cfg->nedges);
    uint32_t *next = FP_NEW_ARRAY(arena, uint32_t, (size_t)cfg->nblocks + 1);
    for (uint32_t e = 0; e < cfg->nedges; e++) cfg->first_out[edges[e].src + 1]++;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        cfg->first_out[b + 1] += cfg->first_out[b];
        next[b] = cfg->first_out[b];
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) cfg->edges[next[edges[e].src]++] = edges[e];
}

static void list_in_edges(struct fp_arena *arena, struct fp_cfg *cfg)
{
    cfg->first_in = FP_NEW_ARRAY(arena, uint32_t, (size_t)cfg->nblocks + 1);
    cfg->in_edges = FP_NEW_ARRAY(arena, uint32_t, cfg->nedges);
    uint32_t *next = FP_NEW_ARRAY(arena, uint32_t, (size_t)cfg->nblocks + 1);
    for (uint32_t e = 0; e < cfg->nedges; e++) cfg->first_in[cfg->edges[e].dst + 1]++;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        cfg->first_in[b + 1] += cfg->first_in[b];
        next[b] = cfg->first_in[b];
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) cfg->in_edges[next[cfg->edges[e].dst]++] = e;
}

struct fp_cfg *fp_cfg_new(struct fp_arena *arena, uint32_t nblocks, const struct fp_edge *edges,
                          uint32_t nedges, const uint8_t *flags)
{
    struct fp_cfg *cfg = FP_NEW(arena, struct fp_cfg);
    cfg->nblocks = nblocks;
    cfg->nedges = nedges;
    cfg->flags = FP_NEW_ARRAY(arena, uint8_t, nblocks);
    if (flags) memcpy(cfg->flags, flags, nblocks);
    sort_by_source(arena, cfg, edges);
    list_in_edges(arena, cfg);
    return cfg;
}

static bool check_edge(const struct fp_cfg *cfg, uint32_t e, struct fp_error *error)
{
    const struct fp_edge *edge = &cfg->edges[e];
    bool to_pad = cfg->flags[edge->dst] & FP_BLOCK_PAD;
    bool to_hub = cfg->flags[edge->dst] & FP_BLOCK_HUB;
    if (to_pad != (edge->kind == FP_EDGE_UNWIND))
        return fp_fail(error, NULL, "edge %u->%u: unwind edges, and only they, lead to pads",
                       edge->src, edge->dst);
    if (to_hub != (edge->kind == FP_EDGE_INDIRECT))
        return fp_fail(error, NULL, "edge %u->%u: indirect edges, and only they, lead to hubs",
                       edge->src, edge->dst);
    if (edge->kind == FP_EDGE_TWICE &&
        (fp_cfg_out_degree(cfg, edge->src) != 1 || fp_cfg_in_degree(cfg, edge->dst) != 1))
        return fp_fail(error, NULL, "edge %u->%u: a twice edge stands alone at both ends",
                       edge->src, edge->dst);
    return true;
}

static bool check_block(const struct fp_cfg *cfg, uint32_t b, struct fp_error *error)
{
    uint32_t unwinds = 0;
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        unwinds += cfg->edges[e].kind == FP_EDGE_UNWIND;
    if (unwinds > 1) return fp_fail(error, NULL, "block %u has %u unwind edges", b, unwinds);
    if (cfg->flags[b] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) {
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            if (cfg->edges[e].kind != FP_EDGE_NORMAL)
                return fp_fail(error, NULL, "block %u: out-edges of pads and hubs are ordinary", b);
        if (cfg->flags[b] & FP_BLOCK_PAD && fp_cfg_out_degree(cfg, b) != 1)
            return fp_fail(error, NULL, "block %u: a pad has one out-edge", b);
        if (fp_cfg_out_degree(cfg, b) == 0)
            return fp_fail(error, NULL, "block %u: a hub has an out-edge", b);
    }
    return true;
}

bool fp_cfg_check(const struct fp_cfg *cfg, struct fp_error *error)
{
    if (cfg->nblocks == 0) return fp_fail(error, NULL, "a graph has at least one block");
    if (cfg->flags[0] & (FP_BLOCK_PAD | FP_BLOCK_HUB))
        return fp_fail(error, NULL, "the entry block is neither pad nor hub");
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (cfg->edges[e].dst >= cfg->nblocks)
            return fp_fail(error, NULL, "edge %u leads to block %u of %u", e, cfg->edges[e].dst,
                           cfg->nblocks);
        if (!check_edge(cfg, e, error)) return false;
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (!check_block(cfg, b, error)) return false;
    return true;
}

uint64_t fp_cfg_hash(const struct fp_cfg *cfg)
{
    uint64_t hash = fp_hash64(cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        hash = fp_hash64(hash ^ (cfg->flags[b] & (FP_BLOCK_PAD | FP_BLOCK_HUB)));
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        const struct fp_edge *edge = &cfg->edges[e];
        hash = fp_hash64(hash ^ ((uint64_t)edge->src << 32 | edge->dst));
        hash = fp_hash64(hash + (uint64_t)edge->kind);
    }
    return hash;
}
