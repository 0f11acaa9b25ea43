/* How far a program that runs has drifted from the profile that it was built with.
 *
 * What runs now is a profile; the other side is a profile or a guide (struct fp_drift_other).
 * Functions match by name, file and shape, as in a diff, and their paths by the edges that
 * they take. Each function is compared in itself: which part of its executions takes which
 * path. So an exact profile can be compared with a sampled one, of which the functions have
 * other shares. The functions are then weighted by what runs now.
 *
 *     fp_drift_against_profile(&arena, built_with, &other);
 *     fp_drift_make(&arena, now, &other, &drift);
 *
 * A function whose paths end at other edges in the two builds, or that has no counts of paths,
 * is compared by its branches. A function that has another shape is not compared.
 */
#ifndef FP_PATHS_DRIFT_H
#define FP_PATHS_DRIFT_H

#include "paths/each.h"

/* ---- the other side ---- */

enum fp_drift_match {
    FP_DRIFT_ABSENT,   /* the other build does not have the function */
    FP_DRIFT_RESHAPED, /* it has one of this name and file, of another shape */
    FP_DRIFT_SAME,
};

struct fp_known_path {
    struct fp_path path;
    uint64_t count;
};

/* What the other side knows of a function of the same shape. */
struct fp_known {
    uint64_t entries;
    const uint64_t *edges; /* per cfg edge */
    struct fp_known_path *paths;
    size_t npaths;
};

struct fp_drift_other {
    enum fp_drift_match (*find)(const struct fp_drift_other *other, struct fp_arena *arena,
                                const struct fp_function *function, struct fp_known *known);
    const void *context;
    double flow; /* executions of blocks, of all functions */
};

/* The profile and the arena must live as long as `other`. */
void fp_drift_against_profile(struct fp_arena *arena, const struct fp_profile *profile,
                              struct fp_drift_other *other);

/* Executions of all blocks of a function, from its edges. */
double fp_drift_flow(const struct fp_cfg *cfg, uint64_t entries, const uint64_t *edges);

/* ---- the comparison ---- */

/* All from 0 to 1. */
struct fp_drift_measures {
    double paths;    /* what both sides have in common of the distribution of paths */
    double branches; /* the same of the ways of branches, each branch by itself */
    double flipped;  /* branches taken against the other side's likely way, less those that go
                      * against the likely way of now */
    double unseen;   /* executions of paths that the other side has not */
    double chance;   /* what `paths` would be below 1 if nothing had changed: the counts are few */
};

struct fp_drift_function {
    const struct fp_function *function;
    enum fp_drift_match match;
    bool by_branches;   /* paths cannot be compared: `paths` is `branches` */
    uint64_t counts;    /* paths that ended now, or where paths are not counted, calls */
    double flow;        /* executions of its blocks now */
    double share, then; /* of all flow: now, and on the other side */
    struct fp_drift_measures m;
};

struct fp_drift {
    struct fp_drift_function *functions; /* that run now; those that drifted most first */
    size_t nfunctions;
    uint64_t counts;    /* in functions that were compared */
    double matched;     /* part of the flow of now that is in functions that were compared */
    double common_flow; /* overlap of the shares of functions */
    uint64_t by_branches, reshaped, absent, unusable; /* functions that run now */
    struct fp_drift_measures m;
};

/* needs: the maps of both are loaded. */
void fp_drift_make(struct fp_arena *arena, const struct fp_profile *now,
                   const struct fp_drift_other *other, struct fp_drift *drift);

#endif
