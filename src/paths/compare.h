/* How well one profile predicts another: the measures of paper 002, sections 6.3 and
 * 6.4. One profile is the actual one, exact; the other is the estimate, sampled or of
 * another input. Functions match by name, file and shape (match.h), paths by the
 * edges they take, whatever their numbers are in either build. Where the paths of a function
 * end at other edges in the two builds, a path that one of them cannot have is in the other
 * alone: pair.redefined says how many such functions ran.
 *
 *     struct fp_pair pair;
 *     fp_pair_make(&arena, actual, estimate, &pair, &error);
 *     for (m = fp_metrics; m->name; m++) m->measure(&pair, &options)
 */
#ifndef FP_PATHS_COMPARE_H
#define FP_PATHS_COMPARE_H

#include "paths/edges.h"

/* A path in both profiles. Its flow is its frequency times its branches. */
struct fp_pair_path {
    double actual, estimate;
};

/* A block with several ways on; counts per way in the pair's two arrays. */
struct fp_pair_branch {
    size_t first;
    uint32_t ways;
};

struct fp_pair {
    FP_VEC(struct fp_pair_path) paths;
    FP_VEC(struct fp_pair_branch) branches;
    FP_VEC(double) actual, estimate;    /* edges out of branches */
    FP_VEC(struct fp_pair_path) edges;  /* all edges, in order of functions */
    FP_VEC(struct fp_pair_path) bodies; /* per function: the sum of its edges */
    bool have_paths;                    /* both profiles have some */
    size_t functions;                   /* in both */
    size_t unmatched;                   /* with counts, in one only */
    size_t redefined;                   /* with paths that end at other edges (match.h) */
};

/* False where the profiles have nothing in common. */
bool fp_pair_make(struct fp_arena *arena, struct fp_profile *actual, struct fp_profile *estimate,
                  struct fp_pair *pair, struct fp_error *error);

struct fp_metric_options {
    double hot; /* a path is hot when its flow is above this part of all flow */
};

#define FP_HOT_FLOW 0.00125 /* paper 002, section 6.3 */

struct fp_metric {
    const char *name, *what;
    bool needs_paths;
    double (*measure)(const struct fp_pair *pair, const struct fp_metric_options *options);
};

/* Ends with a NULL name. */
extern const struct fp_metric fp_metrics[];

/* Wall weight matching: of the flow of the paths that are hot in the actual profile,
 * the part whose paths are among as many hottest ones of the estimate. */
double fp_wall_match(const struct fp_pair *pair, const struct fp_metric_options *options);

/* How well the estimate predicts which way each branch goes, weighted by how often the branch
 * ran. A branch that the estimate has not seen counts as wrong. */
double fp_relative_overlap(const struct fp_pair *pair, const struct fp_metric_options *options);

/* The overlap of the two as shares of all branches taken. */
double fp_absolute_overlap(const struct fp_pair *pair, const struct fp_metric_options *options);

/* The degree of overlap of paper 003, section 5.1, over all edges; and the same over
 * functions, which no intra-procedural inference can exceed. */
double fp_edge_overlap(const struct fp_pair *pair, const struct fp_metric_options *options);
double fp_function_overlap(const struct fp_pair *pair, const struct fp_metric_options *options);

#endif
