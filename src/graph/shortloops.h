/* Short loops, whose rounds wait for their counters.
 *
 *         |
 *         h <--.        Where the same path is taken round after round, its counter goes up in
 *        / \   |        memory each time, and each time waits for the store of the last. In a
 *       a   b  |        short loop that takes longer than the round itself. So such a loop counts
 *        \ /   |        in two copies of the counters in turn.
 *         c ---'
 */
#ifndef FP_GRAPH_SHORTLOOPS_H
#define FP_GRAPH_SHORTLOOPS_H

#include "graph/truncate.h"

/* Per block: the header of the short loop that it is in, or FP_NONE. NULL where there is none.
 * A short loop has no other loop in it, calls nothing, ends paths where it goes round, is expected
 * to go round often, and has few instructions. instructions: per block. */
uint32_t *fp_short_loops(struct fp_arena *arena, const struct fp_truncation *truncation,
                         const double *weights, const uint32_t *instructions);

#endif
