/* What walks from samples (forward.h) say of branches: where each goes, in which share of its
 * executions. */
#ifndef FP_PERF_SAMPLEDWAYS_H
#define FP_PERF_SAMPLEDWAYS_H

#include "perf/sampledobject.h"

/* Adds up the ways of all walks. A walk stands for the executions of its first block, by the counts
 * of the round before, over the walks that started there. */
void fp_sampled_ways_count(struct fp_sampled_object *object);

/* Tells an inference how often each edge ran, as a part of what its block did in the round
 * before. */
void fp_sampled_ways_add(struct fp_arena *scratch, const struct fp_sampled_function *function,
                         struct fp_inference *in);

#endif
