/* Dominators, of blocks and of edges. */
#ifndef FP_GRAPH_DOMINATORS_H
#define FP_GRAPH_DOMINATORS_H

#include "graph/cfg.h"

/* Any graph, as successor lists: to[first[v]] .. to[first[v+1]-1]. */
struct fp_digraph {
    uint32_t nverts;
    const uint32_t *first, *to;
};

/* Immediate dominator per vertex; the root's is itself, an unreachable
 * vertex's is FP_NONE. */
uint32_t *fp_dominators(struct fp_arena *arena, const struct fp_digraph *graph, uint32_t root);

uint32_t *fp_cfg_dominators(struct fp_arena *arena, const struct fp_cfg *cfg);

/* Of blocks and edges alike: edge e is number nblocks + e. */
uint32_t *fp_place_dominators(struct fp_arena *arena, const struct fp_cfg *cfg);

/* The nearest edge that dominates each edge: every way from the entry to it
 * passes that one. FP_NONE where there is none (and for unreachable edges). */
uint32_t *fp_edge_dominators(struct fp_arena *arena, const struct fp_cfg *cfg);

#endif
