/* Paths that were never taken, the ones that might have been expected first.
 *
 * An edge profile gives every path an expected count: as if at each block the way
 * on were drawn at random by the edge counts. Paths come in falling order of it,
 * by a best-first search over the dag that knows the best way to go on from each
 * vertex; those that were taken are passed over. A path over an edge that never
 * ran has expected count 0 and comes behind, by how few such edges it has.
 */
#ifndef FP_PATHS_UNTAKEN_H
#define FP_PATHS_UNTAKEN_H

#include "paths/each.h"

struct fp_untaken {
    uint64_t id;
    double expected;
    uint32_t idle; /* edges that no path took though one came to their source */
};

/* The first `want` of them. *total is how many there are. Fewer are found where the
 * search gives up after `steps` steps (0: 20,000), which *gave_up tells. */
struct fp_untaken *fp_untaken_find(struct fp_arena *arena, const struct fp_measured *measured,
                                   size_t want, size_t steps, size_t *found, uint64_t *total,
                                   bool *gave_up);

#endif
