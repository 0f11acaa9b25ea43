/* Edge counts by conservation of flow: counters on the chords of a spanning
 * tree are enough, the rest follows (paper 000, optimised edge profiling; Ball
 * and Larus, Optimally Profiling and Tracing Programs).
 *
 * The flow graph has the cfg's live edges and a vertex `outside`:
 *   outside -> entry        calls
 *   block that leaves -> outside
 *   a twice edge pre ~> post becomes pre -> outside and outside -> post, since
 *   arrivals behind setjmp are not bounded by arrivals in front. Its count is
 *   the number of arrivals behind.
 * Frames that left for good in mid-block are flow to the outside as well; how
 * many there were per block is an input of the solution.
 */
#ifndef FP_GRAPH_FLOW_H
#define FP_GRAPH_FLOW_H

#include "base/bitset.h"
#include "graph/order.h"

enum fp_flow_kind {
    FP_FLOW_ENTRY,
    FP_FLOW_EDGE,  /* a cfg edge; of a twice edge, its arrival */
    FP_FLOW_EXIT,  /* the block `src` leaves the function */
    FP_FLOW_FRONT, /* of a twice edge: the call of setjmp */
};

struct fp_flow_edge {
    uint32_t src, dst; /* nblocks stands for outside */
    uint32_t cfg_edge; /* of FP_FLOW_EDGE and FP_FLOW_FRONT */
    enum fp_flow_kind kind;
};

struct fp_flow {
    const struct fp_cfg *cfg;
    struct fp_flow_edge *edges;
    uint32_t nedges;
    struct fp_bitset in_tree; /* the others are the chords, which have counters */
    uint32_t nchords;
};

/* weights: per cfg edge, or NULL. Unwind edges, which can take no counter, are
 * in the tree. */
struct fp_flow *fp_flow_make(struct fp_arena *arena, const struct fp_cfg *cfg,
                             const struct fp_order *order, const double *weights);

/* Fills the counts of tree edges from those of the chords; counts are per flow
 * edge. left: per block, frames that left in mid-block, or NULL. False when the
 * numbers are no flow (some count would be negative). */
bool fp_flow_solve(const struct fp_flow *flow, uint64_t *counts, const int64_t *left);

/* Does every block get as much as it gives? FP_NONE, or a block that does not. */
uint32_t fp_flow_check(const struct fp_flow *flow, const uint64_t *counts, const int64_t *left);

#endif
