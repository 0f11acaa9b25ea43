/* Two versions of a function: which of their blocks, edges and paths are the same
 * (graph/blockmatch.h), where the shape changed between two builds. */
#ifndef FP_PATHS_VERSIONS_H
#define FP_PATHS_VERSIONS_H

#include "count/function.h"
#include "graph/number.h"

/* What blocks and edges of one version are in the other; FP_NONE: nothing. */
struct fp_counterparts {
    uint32_t *blocks, *edges;
};

struct fp_versions {
    struct fp_counterparts of_a, of_b;
};

/* False where what blocks do is not known: the map has no calls. */
bool fp_versions_match(struct fp_arena *arena, const struct fp_function *a,
                       const struct fp_function *b, struct fp_versions *versions);

/* The path in the other version. False where a block or an edge of it is not there. */
bool fp_versions_path(struct fp_arena *arena, const struct fp_counterparts *parts,
                      const struct fp_path *path, struct fp_path *other);

#endif
