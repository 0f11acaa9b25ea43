/* How often each edge runs: estimates, where no profile says. */
#ifndef FP_GRAPH_WEIGHTS_H
#define FP_GRAPH_WEIGHTS_H

#include "graph/loops.h"
#include "graph/order.h"

/* Weight per edge, for one call of the function: loop depth and those branch
 * heuristics of Ball and Larus that a cfg can support (loop branch, loop exit,
 * loop header, call, return, store, and cold blocks), combined as by Wu and Larus.
 * needs: order and loops of the cfg. */
double *fp_weights_static(struct fp_arena *arena, const struct fp_cfg *cfg,
                          const struct fp_order *order, const struct fp_loops *loops);

/* Σ of the weights of a block's in-edges, and 1 for the entry. */
double fp_weight_of_block(const struct fp_cfg *cfg, const double *weights, uint32_t block);

#endif
