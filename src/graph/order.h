/* Order of blocks, and the fate of every edge before any cut.
 *
 * A depth-first search finds the edges that close cycles. Those, and the edges
 * that a path cannot follow (indirect jumps, returns-twice points), are
 * truncated: a path ends at their source and another starts at their target.
 * What is kept has no cycle, also in irreducible graphs.
 *
 * An unwind edge can carry no code, so it is never truncated: where one closes
 * a cycle, the out-edge of its pad is truncated in its place, which lies on
 * every such cycle.
 */
#ifndef FP_GRAPH_ORDER_H
#define FP_GRAPH_ORDER_H

#include "graph/cfg.h"

enum fp_fate {
    FP_FATE_KEPT,
    FP_FATE_TRUNCATED,
    FP_FATE_LAP,  /* closes a loop of one path, counted apart: see laps.h */
    FP_FATE_DEAD, /* its source is unreachable */
};

struct fp_order {
    uint32_t *blocks; /* the reachable ones, topologically by kept edges */
    uint32_t nblocks;
    uint32_t *position; /* of a block in blocks, or FP_NONE */
    uint8_t *fate;      /* per edge, of enum fp_fate */
};

/* breaks: nothing. The result is valid as long as edges only go from kept to
 * truncated. */
void fp_order_make(struct fp_arena *arena, const struct fp_cfg *cfg, struct fp_order *order);

/* The same for fates that were decided before and stored: only which edges are
 * truncated or laps is taken from `fates`. False where that leaves a cycle or
 * breaks a rule above. */
bool fp_order_from_fates(struct fp_arena *arena, const struct fp_cfg *cfg, const uint8_t *fates,
                         struct fp_order *order);

#endif
