/* The cheapest flow that fits weights of optimised code.
 *
 * Such weights err in two ways. Most are off by some percent, in hot blocks by more than all that
 * cold blocks weigh; so a small part of a weight is cheap to correct (as in the likelihood of
 * perf/infer.h). Some are wrong by any factor: code that was merged with other code has the
 * weight of both. So what is beyond twice or half of a weight costs the same for each unit, in
 * both directions.
 */
#ifndef FP_GCOV_CODEFLOW_H
#define FP_GCOV_CODEFLOW_H

#include "perf/infer.h"

/* As fp_infer; the model is not used. */
void fp_code_flow(struct fp_arena *arena, const struct fp_inference *inference,
                  struct fp_edge_counts *out);

#endif
