/* Minimum cost flow by the network simplex method.
 *
 *     struct fp_network net = {0};
 *     fp_network_init(&net, &arena, nnodes);
 *     fp_network_arc(&net, from, to, capacity, cost);   ...
 *     net.supply[node] += ...;
 *     fp_network_solve(&net);    net.arcs.at[i].flow
 *
 * Supplies must add up to 0 (positive ones give, negative ones take). Costs may
 * not be negative. The basis is a spanning tree that is kept strongly feasible,
 * so that the method ends (Cunningham); the entering arc is the worst of a block
 * of arcs (Ahuja, Magnanti, Orlin, Network Flows, chapter 11).
 */
#ifndef FP_GRAPH_MINCOST_H
#define FP_GRAPH_MINCOST_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define FP_UNBOUNDED INT64_MAX

struct fp_arc {
    uint32_t from, to;
    int64_t capacity, cost, flow;
};

struct fp_network {
    struct fp_arena *arena;
    uint32_t nnodes;
    FP_VEC(struct fp_arc) arcs;
    int64_t *supply;    /* per node */
    int64_t *potential; /* per node, after the solution: proves it optimal */
    uint64_t pivots;
};

void fp_network_init(struct fp_network *network, struct fp_arena *arena, uint32_t nnodes);
/* The index of the new arc. */
size_t fp_network_arc(struct fp_network *network, uint32_t from, uint32_t to, int64_t capacity,
                      int64_t cost);

/* False when no flow meets the supplies within the capacities. */
bool fp_network_solve(struct fp_network *network);

int64_t fp_network_cost(const struct fp_network *network);

/* Is the flow a flow, within capacities, and optimal by its potentials? */
bool fp_network_check(const struct fp_network *network);

#endif
