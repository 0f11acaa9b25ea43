/* Blocks in the order of the source: a branch, the code of its first way, that of its second, what
 * follows. Two compilers of one source agree on it better than on the numbers of their blocks. */
#ifndef FP_GCOV_SOURCEORDER_H
#define FP_GCOV_SOURCEORDER_H

#include "graph/cfg.h"

/* The edge that is the i'th way out of a block, as the source has them. */
typedef uint32_t fp_way(const void *context, uint32_t block, uint32_t i);

/* Per block its place in the order, or FP_NONE where it is not reachable. */
uint32_t *fp_source_order(struct fp_arena *arena, const struct fp_cfg *cfg, fp_way *way,
                          const void *context);

#endif
