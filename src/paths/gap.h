/* What production does that no test does: paths of one profile that another does not have.
 *
 * Functions match by name, file and shape, and their paths by the edges they take. The paths
 * that tests took form a tree: each begins somewhere and goes from branch to branch. A path of
 * production is followed through that tree. The branch at which the tree has no such way is
 * where the path leaves what was tested. Paths of one function that leave at the same branch
 * and for the same reason are one gap.
 *
 * Some paths cannot be compared: the function has another shape in the tests' build, or its
 * paths end elsewhere (--fp-cuts), or tests counted edges only. Edges tell even then: a path
 * with an edge that no test took is a gap. What is left is unknown, and never called tested.
 */
#ifndef FP_PATHS_GAP_H
#define FP_PATHS_GAP_H

#include "paths/each.h"

enum fp_gap_reason {
    FP_GAP_ABSENT,   /* no test program has the function */
    FP_GAP_UNCALLED, /* no test called the function */
    FP_GAP_BEGIN,    /* no tested path begins where these do: at `block` */
    FP_GAP_EDGE,     /* no test took `edge` */
    FP_GAP_TOGETHER, /* tests took `edge`, but never after what precedes it on these paths */
    FP_GAP_END,      /* tests came that far, but went on or left in another way */
    FP_GAP_REASONS
};

struct fp_gap_path {
    uint64_t id; /* FP_NO_ID for a path that never ended */
    uint64_t count;
    double cost;     /* instructions */
    uint32_t length; /* how many of its edges were tested in this order */
    struct fp_path path;
};

struct fp_gap {
    const struct fp_function *function;
    enum fp_gap_reason reason;
    uint32_t edge, block; /* FP_NONE where the reason has none */
    uint64_t count;
    double cost;
    struct fp_gap_path *paths; /* most costly first */
    size_t npaths;
};

/* Executions of paths, what they cost, and how many different ones there are. */
struct fp_gap_sum {
    uint64_t paths, count;
    double cost;
};

struct fp_gaps {
    struct fp_gap *gaps; /* most costly first */
    size_t ngaps;
    struct fp_gap_sum tested, untested, unknown;
    uint64_t reshaped;   /* functions that ran and have another shape in the tests' build */
    uint64_t redefined;  /* and those whose paths end elsewhere, or were not counted */
    uint64_t unmeasured; /* functions that ran in production without counted paths */
};

/* Everything lives in `arena`, but for the functions, which are of `production`. */
void fp_gaps_make(struct fp_arena *arena, const struct fp_profile *production,
                  const struct fp_profile *tests, struct fp_gaps *gaps);

/* The part of all flow that tests took, from 0 to 1: by cost, or by executions of paths. */
double fp_gaps_tested(const struct fp_gaps *gaps, bool by_count);

#endif
