/* Exact block counts, to learn from and to judge inferred counts by. They come from a
 * profile of the same build, as `footpath import --format callgrind` makes it. */
#ifndef FP_PERF_EXACTBLOCKS_H
#define FP_PERF_EXACTBLOCKS_H

#include "paths/match.h"
#include "binary/edgeprofile.h"

struct fp_exact_blocks {
    struct fp_matcher matcher;
};

void fp_exact_blocks_init(struct fp_exact_blocks *exact, struct fp_arena *arena,
                          const struct fp_profile *profile);

/* Executions of each block; all 0 if the function did not run. */
double *fp_exact_blocks_of(struct fp_arena *arena, const struct fp_exact_blocks *exact,
                           struct fp_edge_profile *profile,
                           const struct fp_machine_function *function);

#endif
