/* What changed between two runs, or two builds: paths, edges and functions with
 * their counts on both sides.
 *
 * Functions match by name, file and shape (match.h); their paths by the blocks they
 * pass, so builds may number them differently. Of a function whose shape changed, the
 * blocks of both versions are matched (versions.h): paths that lie in matched blocks are
 * compared as paths, and the rest as a whole, by cost. A function whose paths end at
 * other edges (--fp-cuts, a guide) is compared as a whole, by calls and cost: a path of
 * one build is then no path of the other. Where both
 * sides have several runs, the difference of the means is weighed against the spread
 * between runs (Welch's t-test) and each item has a confidence: of counts per run, or,
 * between combined profiles, of counts per call.
 */
#ifndef FP_PATHS_DIFF_H
#define FP_PATHS_DIFF_H

#include "paths/each.h"

/* Counts of one path over several runs: how many, their sum and the sum of their squares. */
struct fp_spread {
    double n, sum, squares;
};

struct fp_diff_side {
    struct fp_profile *profile; /* all runs */
    struct fp_profile **runs;   /* each alone; may be NULL */
    size_t nruns;
    /* Of a combined profile, in place of runs: the counts per call of a path; or NULL. */
    struct fp_spread (*spread_of)(const void *view, const struct fp_function *function,
                                  uint64_t id);
    const void *view;
    double cost; /* filled: instructions executed */
};

enum fp_diff_kind { FP_DIFF_PATH, FP_DIFF_EDGE, FP_DIFF_FUNCTION };

struct fp_diff_item {
    enum fp_diff_kind kind;
    const struct fp_function *a, *b; /* NULL: not on that side */
    uint64_t id, id_b;               /* path, in the numbering of each; or FP_NO_ID */
    uint32_t edge;
    uint64_t count_a, count_b; /* of a function: calls */
    double cost_a, cost_b;     /* instructions; of an edge, times taken */
    double confidence;         /* 0..1 that the means differ; below 0: not known */
    /* Of a path: the other side's path nearest to it, in that side's numbering. That is the most
     * frequent one of those that share the longest beginning with it. FP_NO_ID: there is none. */
    uint64_t near_id, near_count;
    bool near_after; /* the other side is b: the path cost more in a */
    bool reshaped;   /* of a function whose shape changed; one without near paths */
};

struct fp_diff {
    struct fp_diff_item *items; /* changed ones; largest change of cost first */
    size_t nitems;
    uint64_t same;                              /* items of both sides with equal counts */
    uint64_t matched, reshaped, only_a, only_b; /* functions */
    uint64_t redefined; /* of those matched: paths end at other edges, compared as wholes */
    /* of those with another shape: executions of blocks in a, and of these in blocks that b has */
    double reshaped_total, reshaped_placed;
};

/* Where a path parts from the nearest one of the other side. */
struct fp_diff_parting {
    const struct fp_function *function;
    bool met;                  /* false: no path of the other side begins where this one does */
    uint32_t shared;           /* edges that both take first */
    uint32_t block;            /* the last block that they have in common */
    uint32_t edge, other_edge; /* what each takes there; FP_NONE: it leaves the function */
};

/* False where the item is no path. */
bool fp_diff_parting(struct fp_arena *arena, const struct fp_diff_item *item,
                     struct fp_diff_parting *parting);

struct fp_diff_options {
    bool edges;    /* edges in place of paths */
    bool relative; /* costs as shares of each side's total decide, not absolute ones */
};

void fp_diff_make(struct fp_arena *arena, struct fp_diff_side *a, struct fp_diff_side *b,
                  const struct fp_diff_options *options, struct fp_diff *diff);

/* Sorts the items again: largest change first, of cost or of share. */
void fp_diff_rank(struct fp_diff *diff, const struct fp_diff_side *a, const struct fp_diff_side *b,
                  bool relative);

/* Two-sided Welch test: the confidence that two means differ. */
double fp_welch(struct fp_spread a, struct fp_spread b);

#endif
