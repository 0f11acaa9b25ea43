/* Laps counted where their loop is left.
 *
 *         |
 *         h <--.        A lap's counter goes up on every lap. Where the program itself
 *         |    |        knows how many laps there were, the counter can instead go up
 *         b ---'        once, by that number, on the edge that leaves the loop.
 *         |    lap
 *       exit            The graph says for which loops that is possible and pays. Whether
 *                       the program knows the number is for the caller to find out.
 */
#ifndef FP_GRAPH_LAPEXITS_H
#define FP_GRAPH_LAPEXITS_H

#include "graph/truncate.h"

/* The k-th block on the way round; the header is the first of nedges + 1. */
uint32_t fp_lap_block(const struct fp_cfg *cfg, const struct fp_lap *lap, uint32_t k);

/* Which one a block is, or FP_NONE. */
uint32_t fp_lap_place(const struct fp_cfg *cfg, const struct fp_lap *lap, uint32_t block);

/* Per lap: the edge that leaves its loop, where laps are to be counted there; else
 * FP_NONE. That edge is the only one that leaves the loop, it can carry code, nothing
 * else in the loop leaves the function, and the loop is expected to go round often
 * enough. A loop with several exits is mostly a search that ends soon. */
uint32_t *fp_lap_exits(struct fp_arena *arena, const struct fp_truncation *truncation,
                       const double *weights);

#endif
