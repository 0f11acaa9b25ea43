/* Planning for a whole program: which copy profiles what (paper 004, section 3.2, and
 * beyond it). The result is a division (p3/division.h).
 *
 *   procedures   every function goes to one copy (the paper's PBL)
 *   p3           functions with at most one call site are divided by find_partition,
 *                others go to one copy; tasks are distributed by their cost
 *   cuts         as procedures; then functions that make one copy the slowest are
 *                divided by the edge cut that serves best
 *   invocations  as cuts; but first, functions with many operations per call are
 *                profiled by turns
 *
 * Costs are hits by a guide's counts, or without one, numbers of operations.
 */
#ifndef FP_P3_DIVIDE_H
#define FP_P3_DIVIDE_H

#include "p3/hits.h"
#include "p3/division.h"
#include "profile/profile.h"

struct fp_divide_options {
    uint32_t ncopies;
    enum fp_strategy strategy;
    bool plain_labels;
    const struct fp_profile *guide; /* with maps loaded, or NULL */
};

bool fp_divide(struct fp_arena *arena, const struct fp_program *reference,
               const struct fp_divide_options *options, struct fp_division *division,
               struct fp_error *error);

/* What a division costs: expected hits by the counts of `measure`, or operations. */
struct fp_division_cost {
    double *loads;          /* per copy */
    double plain, weighted; /* one copy that profiles all: labels that take all edges as
                               alike; labels by weights */
    size_t functions;
    size_t candidates; /* functions that p3 considers: at most one call site */
    size_t divided;    /* with more than one copy that counts some of the paths */
    size_t turns;
};

void fp_division_cost(struct fp_arena *arena, const struct fp_program *reference,
                      const struct fp_division *division, const struct fp_profile *measure,
                      struct fp_division_cost *cost);

/* ---- between the two files that plan ---- */

struct fp_divided { /* a function while planning */
    const struct fp_function *function;
    struct fp_part part;
    struct fp_flow_counts *counts; /* of the guide; or all 1 */
    const double *weights;         /* for labels; NULL: plain */
    double whole;                  /* cost in one copy */
    double turns;                  /* cost in every copy, by turns */
    double *costs;                 /* per copy, once divided */
    bool tried;
};

/* Divides one function by the cut that makes the largest load smallest, given what
 * the copies have to do besides. Returns that load, INFINITY where nothing can be
 * divided; on success part and costs are set. */
double fp_divide_by_cut(struct fp_arena *arena, struct fp_divided *d, const double *base,
                        uint32_t ncopies);

/* Hits of a copy that counts some paths. */
double fp_cost_of_paths(const struct fp_function *f, const struct fp_bitset *edges,
                        const struct fp_bitset *laps, const double *weights,
                        const struct fp_flow_counts *counts);

#endif
