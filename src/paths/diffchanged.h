/* Differences of a function whose shape changed: the part that is in both versions. See diff.h;
 * diff.c alone includes this. */
#ifndef FP_PATHS_DIFFCHANGED_H
#define FP_PATHS_DIFFCHANGED_H

#include "paths/diff.h"
#include "paths/versions.h"

struct fp_changed_pair {
    const struct fp_function *a, *b;
    const struct fp_counts *counts_a, *counts_b;
    const struct fp_edge_counts *edges_a, *edges_b;
    struct fp_versions versions;
    double total, placed;  /* executions of blocks of a: all, and of blocks that are in b too */
    double rest_a, rest_b; /* filled: the cost of what has no counterpart */
};

/* False where the versions cannot be matched. */
bool fp_changed_pair_match(struct fp_arena *scratch, struct fp_changed_pair *pair);

/* Items of paths that both versions have; or of edges. The rest is in rest_a and rest_b. */
void fp_changed_pair_paths(struct fp_arena *scratch, struct fp_changed_pair *pair,
                           void (*add)(void *context, const struct fp_diff_item *), void *context);
void fp_changed_pair_edges(struct fp_changed_pair *pair,
                           void (*add)(void *context, const struct fp_diff_item *), void *context);

#endif
