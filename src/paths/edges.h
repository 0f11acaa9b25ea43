/* Edge and block counts of a function: derived from its paths, or read from its
 * edge counters. Path counts imply edge counts imply block counts. */
#ifndef FP_PATHS_EDGES_H
#define FP_PATHS_EDGES_H

#include "profile/profile.h"

struct fp_edge_counts {
    uint64_t entries; /* calls of the function */
    uint64_t *edges;  /* per cfg edge */
    uint64_t *blocks; /* per block: times entered */
};

/* From path counts. False, with the id, where a path cannot be decoded. */
bool fp_edges_from_paths(struct fp_arena *arena, const struct fp_counts *counts,
                         struct fp_edge_counts *out, struct fp_error *error);

/* From edge counters; those that were not placed are recovered. False where the
 * counters are no flow. */
bool fp_edges_from_counters(struct fp_arena *arena, const struct fp_counts *counts,
                            struct fp_edge_counts *out, struct fp_error *error);

/* By whichever the function has, paths first. */
bool fp_edges_of(struct fp_arena *arena, const struct fp_counts *counts, struct fp_edge_counts *out,
                 struct fp_error *error);

/* Calls `visit` with each edge that a path takes, the one that ends it included
 * (arrivals behind setjmp count where a path starts). */
void fp_path_each_edge(const struct fp_cfg *cfg, const struct fp_path *path,
                       void (*visit)(uint32_t edge, void *context), void *context);

/* What one execution of a path costs: the instructions of its blocks. */
double fp_path_instructions(const struct fp_function *function, const struct fp_path *path);

#endif
