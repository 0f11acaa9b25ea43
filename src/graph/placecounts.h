/* Counts of one version of a function for another one (a stale profile).
 *
 * needs: the blocks of both versions matched (blockmatch.h), and the counts of the old one.
 *
 * Blocks and edges that have a match get its count, which need not add up any more. The cheapest
 * correction that makes them a flow (mincost.h) is what the new version gets: what enters a block
 * leaves it. Blocks without a match get what the flow leaves for them. Where nothing tells how a
 * branch without a match divides its flow, the branch is `guessed`: whoever uses the counts should
 * not take its side.
 */
#ifndef FP_GRAPH_PLACECOUNTS_H
#define FP_GRAPH_PLACECOUNTS_H

#include "base/bitset.h"
#include "graph/blockmatch.h"

struct fp_placement {
    const struct fp_cfg *old, *now;
    const uint32_t *old_of;    /* per block of `now`: fp_match_blocks */
    const uint32_t *old_edges; /* per edge of `now`: fp_match_edges */
    uint64_t entries, *edges;  /* of the old version */
};

struct fp_placed {
    uint64_t entries, *edges; /* of the new version: a flow */
    struct fp_bitset guessed; /* blocks whose way out is not known */
    double total, placed;     /* executions of blocks: of the old version, and what found a place */
};

/* False where no flow is found: then nothing can be said of the new version. */
bool fp_place_counts(struct fp_arena *arena, const struct fp_placement *placement,
                     struct fp_placed *out);

/* Executions of a block: what arrives by its edges, or enters the function. */
uint64_t fp_block_executions(const struct fp_cfg *cfg, uint64_t entries, const uint64_t *edges,
                             uint32_t block);

#endif
