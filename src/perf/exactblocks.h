/* Exact counts to learn from and to judge by: a profile of the same build, as
 * `footpath import --format callgrind` makes it. */
#ifndef FP_PERF_EXACTBLOCKS_H
#define FP_PERF_EXACTBLOCKS_H

#include "paths/match.h"
#include "binary/edgeprofile.h"

struct fp_truth {
    struct fp_matcher matcher;
};

void fp_truth_init(struct fp_truth *truth, struct fp_arena *arena,
                   const struct fp_profile *profile);

/* Executions of each block; all 0 where the function did not run. */
double *fp_truth_blocks(struct fp_arena *arena, const struct fp_truth *truth,
                        struct fp_edge_profile *profile,
                        const struct fp_machine_function *function);

#endif
