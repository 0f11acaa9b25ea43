/* Characteristics of the paths of a run, and what two runs have in common: Tables
 * 2 and 3 of paper 001 (section 5), for any program.
 *
 * Lengths are in cfg edges, the one that ends a path included, and in
 * instructions. Averages are weighted by how often a path was taken. The edge
 * profile predicts a path by following, from where it starts, the most frequent
 * edge out of each block; where two are equal and one was taken, that one.
 * Paths that never ended are left out.
 */
#ifndef FP_PATHS_STATS_H
#define FP_PATHS_STATS_H

#include "paths/each.h"

struct fp_lengths {
    uint64_t longest_edges, longest_instructions;
    double sum_edges, sum_instructions; /* weighted */
};

struct fp_stats {
    uint64_t functions;        /* with path counters */
    uint64_t routines;         /* of those, with a path taken */
    uint64_t paths, potential; /* potential saturates */
    uint64_t most_paths;       /* taken in one routine */
    uint64_t flow;             /* paths counted as often as taken */
    uint64_t cuts, doors;      /* edges where paths end besides back edges; of routines executed */
    struct fp_lengths lengths;
    /* by the edge profile */
    uint64_t correct_paths, correct_flow;
    struct fp_lengths predicted; /* up to the first wrong step */
};

void fp_stats_of(const struct fp_profile *profile, struct fp_stats *stats);

/* How far the most frequent edges go along a path: steps predicted right, and
 * instructions of the blocks passed until then. True when to its end. */
struct fp_prediction {
    uint64_t edges, instructions;
    bool correct;
};
void fp_predict(const struct fp_function *function, const struct fp_edge_counts *edges,
                const struct fp_path *path, struct fp_prediction *prediction);

struct fp_common {
    uint64_t paths;                         /* taken in both */
    uint64_t paths_here;                    /* taken in the first */
    uint64_t flow, flow_here;               /* of the first: in common paths, in all */
    double instructions, instructions_here; /* executed by the first: likewise */
    uint64_t unmatched; /* functions of the first, with paths, that the other lacks */
    uint64_t redefined; /* those whose paths end at other edges there; they are left out */
};

void fp_stats_common(const struct fp_profile *profile, const struct fp_profile *other,
                     struct fp_common *common);

#endif
