/* Blocks of two versions of a function that are the same block.
 *
 * A version is a cfg, and for each block what it is known by (struct fp_block_mark). The graph
 * core takes marks as they are: count/blockmarks.c makes them of lines, calls and sizes.
 *
 *     uint32_t *old_of = fp_match_blocks(&arena, &old, &now);
 *
 * The public idea (Ayupov, Panchenko, Pupyrev, "Stale profile matching"; LLVM's matcher by call
 * anchors): first blocks that are alone in having their content, together with that of their
 * neighbours; then, between those, the best alignment in the order of the code; then neighbours
 * of what is matched. A block is matched at most once. The same version twice gives every block
 * itself. Code that moved is found where its content is rare.
 */
#ifndef FP_GRAPH_BLOCKMATCH_H
#define FP_GRAPH_BLOCKMATCH_H

#include "graph/cfg.h"

/* Equal numbers mean: the same. 0: nothing is known, or there is nothing. */
struct fp_block_mark {
    uint32_t content; /* what the block does */
    uint32_t kind;    /* the same, less what edits elsewhere may change */
    uint32_t calls;   /* what it calls; 0: nothing */
    uint32_t line;    /* counted from the function's */
};

struct fp_version {
    const struct fp_cfg *cfg;
    const struct fp_block_mark *marks; /* per block */
};

/* Per block of `now`: the block of `old` that it is, or FP_NONE. */
uint32_t *fp_match_blocks(struct fp_arena *arena, const struct fp_version *old,
                          const struct fp_version *now);

/* Per edge of `now`: the edge of `old` between the same blocks, or FP_NONE. Of several between
 * two blocks the first is the first. */
uint32_t *fp_match_edges(struct fp_arena *arena, const struct fp_cfg *old, const struct fp_cfg *now,
                         const uint32_t *old_of);

/* The other way round: map has n entries, each below nback or FP_NONE. */
uint32_t *fp_match_turned(struct fp_arena *arena, const uint32_t *map, uint32_t n, uint32_t nback);

#endif
