/* Finding short loops: see shortloops.h. */
#include "graph/shortloops.h"

#include "graph/loops.h"

enum { MOST_INSTRUCTIONS = 24 };
static const double ROUNDS = 8; /* expected per entry */

struct short_loop {
    bool possible;
    uint32_t instructions;
    double rounds, entries;
    bool ends_paths; /* on the way round */
};

static void look_at_block(const struct fp_truncation *truncation, const struct fp_loops *loops,
                          const double *weights, uint32_t block, uint32_t header,
                          struct short_loop *loop)
{
    const struct fp_cfg *cfg = truncation->cfg;
    const uint32_t bad = FP_BLOCK_CALLS | FP_BLOCK_LEAVES | FP_BLOCK_PAD | FP_BLOCK_HUB;
    if (cfg->flags[block] & bad) loop->possible = false;
    for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
        uint32_t e = cfg->in_edges[k];
        enum fp_fate fate = (enum fp_fate)truncation->order.fate[e];
        bool inside = fp_loops_contain(loops, header, cfg->edges[e].src);
        if (fate == FP_FATE_DEAD) continue;
        if (cfg->edges[e].kind > FP_EDGE_SWITCH || (block != header && !inside))
            loop->possible = false;
        if (block != header) continue;
        if (inside)
            loop->rounds += weights[e];
        else
            loop->entries += weights[e];
        if (inside && fate == FP_FATE_TRUNCATED) loop->ends_paths = true;
    }
}

/* The innermost loop around a block, or FP_NONE. */
static uint32_t loop_of(const struct fp_loops *loops, uint32_t block)
{
    return fp_bitset_has(&loops->heads, block) ? block : loops->header[block];
}

static bool is_short(const struct short_loop *loop)
{
    return loop->possible && loop->ends_paths && loop->instructions <= MOST_INSTRUCTIONS &&
           loop->rounds >= ROUNDS * loop->entries;
}

uint32_t *fp_short_loops(struct fp_arena *arena, const struct fp_truncation *truncation,
                         const double *weights, const uint32_t *instructions)
{
    const struct fp_cfg *cfg = truncation->cfg;
    struct fp_loops loops;
    bool any = false;
    fp_loops_find(arena, cfg, &loops);
    struct short_loop *found = FP_NEW_ARRAY(arena, struct short_loop, cfg->nblocks);
    uint32_t *of = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        found[b].possible = fp_bitset_has(&loops.heads, b) && !fp_bitset_has(&loops.irreducible, b);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint32_t header = of[b] = loop_of(&loops, b);
        if (header == FP_NONE) continue;
        if (header == b && loops.header[b] != FP_NONE) found[loops.header[b]].possible = false;
        found[header].instructions += instructions[b];
        look_at_block(truncation, &loops, weights, b, header, &found[header]);
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (of[b] != FP_NONE && !is_short(&found[of[b]])) of[b] = FP_NONE;
        any |= of[b] != FP_NONE;
    }
    return any ? of : NULL;
}
