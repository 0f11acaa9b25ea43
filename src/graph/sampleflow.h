/* A flow from sampled counts of edges.
 *
 * Samples follow time. A function that is called a few times and then loops for long has samples
 * of its loops, but seldom one of the paths by which a call enters the function, or a loop is
 * left. A compiler that computes executions of blocks from branch probabilities needs those: a
 * loop that is never left, in a function that is never entered, counts for nothing there, however
 * often its blocks were sampled.
 *
 * So the counts get the cheapest correction that makes them a flow (placecounts.h), and every
 * part of the graph that was sampled is joined to the entry and to an exit by at least one
 * execution. By then executions of blocks follow from the branches and the entry as they were
 * sampled.
 */
#ifndef FP_GRAPH_SAMPLEFLOW_H
#define FP_GRAPH_SAMPLEFLOW_H

#include "graph/cfg.h"

#include <stdbool.h>

/* Corrects the counts in place. False where no flow is found: then the counts are as they were. */
bool fp_sample_flow(const struct fp_cfg *cfg, uint64_t *entries, uint64_t *edges);

#endif
