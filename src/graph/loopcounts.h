/* Counters of a loop that are added up where the loop is left.
 *
 *         |
 *         h <--.        A counter in a short loop waits on every round for its own last store.
 *        / \   |        Where control leaves the loop by edges alone, its counters can be kept
 *       a   b  |        in registers while it runs and be added to memory on the edges that
 *        \ /   |        leave it.
 *         c ---'
 *         |             All counters of a loop are kept so, or none. A run that ends inside the
 *       exit            loop then has the counts of a frame that came to the header and no
 *                       further.
 */
#ifndef FP_GRAPH_LOOPCOUNTS_H
#define FP_GRAPH_LOOPCOUNTS_H

#include "graph/flow.h"
#include "graph/truncate.h"

struct fp_counted_loop {
    uint32_t *blocks; /* the header, then the others in topological order */
    uint32_t nblocks;
    uint32_t *exits; /* the edges that leave it; at least one */
    uint32_t nexits;
    uint32_t *counted; /* the flow edges inside that have a counter; at least one */
    uint32_t ncounted;
    uint32_t lap; /* which lap it is, or FP_NONE */
};

struct fp_counted_loops {
    struct fp_counted_loop *at;
    uint32_t len;
};

/* The innermost loops whose counters can be added up where they are left, and that are expected
 * to go round often enough for it to pay. flow_slot: per flow edge, its counter, or FP_NONE. */
struct fp_counted_loops fp_counted_loops_find(struct fp_arena *arena,
                                              const struct fp_truncation *truncation,
                                              const struct fp_flow *flow, const uint32_t *flow_slot,
                                              const double *weights);

#endif
