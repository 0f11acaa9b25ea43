/* Hits: how many operations of a plan are executed, given how often each edge is (paper 004,
 * section 4.2). In the paper a hit is an executed probe; here every operation on the path
 * register or on a counter is one. An unwind edge carries no code, so an operation of the plan
 * there is no hit. */
#ifndef FP_P3_HITS_H
#define FP_P3_HITS_H

#include "graph/plan.h"

/* Executions of each edge of a cfg. */
struct fp_flow_counts {
    uint64_t entries;
    const uint64_t *edges; /* per cfg edge */
};

uint64_t fp_plan_hits(const struct fp_plan *plan, const struct fp_flow_counts *counts);

/* Operations on a cfg edge, without one that was moved in front of the branch; and
 * those in the block itself: on entering the function, in front of its branch, on
 * leaving the function. */
uint32_t fp_hits_on_edge(const struct fp_plan *plan, uint32_t cfg_edge);
uint32_t fp_hits_in_block(const struct fp_plan *plan, uint32_t block);

#endif
