/* Dividing a whole program: which copy profiles what (paper 004, section 3.2; cuts and
 * invocations are ours). The result is a division (division.h).
 *
 *   procedures   every function goes to one copy (the paper's PBL)
 *   p3           functions with at most one call site are divided by find_partition,
 *                others go to one copy; tasks are distributed by cost
 *   cuts         as procedures; then functions that make one copy the slowest are
 *                divided by the edge cut that lowers the largest load most
 *   invocations  as cuts; but first, functions with many operations per call are
 *                profiled by turns
 *
 * The cost of a function is its hits (hits.h) by the counts of a guide, or without a guide
 * the number of its operations.
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
    double plain, weighted; /* one copy that profiles all, with labels that take all
                               edges as equally hot; with labels by weights */
    size_t functions;
    size_t candidates; /* functions that p3 considers: at most one call site */
    size_t divided;    /* by paths, among several copies */
    size_t turns;
};

void fp_division_cost(struct fp_arena *arena, const struct fp_program *reference,
                      const struct fp_division *division, const struct fp_profile *measure,
                      struct fp_division_cost *cost);

/* ---- between divide.c and divide_cut.c ---- */

struct fp_divided { /* a function while it is divided */
    const struct fp_function *function;
    struct fp_part part;
    struct fp_flow_counts *counts; /* of the guide; without one, all 1 */
    const double *weights;         /* for placing labels; NULL: all edges alike */
    double whole;                  /* cost in one copy */
    double turns;                  /* cost in each copy, if they take turns */
    double *costs;                 /* per copy, once it is divided by paths */
    bool tried;
};

/* Divides one function by the cut that makes the largest load smallest. base: what each
 * copy has to do besides. Returns that largest load and sets part and costs, or returns
 * INFINITY if the function cannot be divided. */
double fp_divide_by_cut(struct fp_arena *arena, struct fp_divided *d, const double *base,
                        uint32_t ncopies);

/* Hits of a copy that counts the paths made of these edges, and these laps. */
double fp_cost_of_paths(const struct fp_function *f, const struct fp_bitset *edges,
                        const struct fp_bitset *laps, const double *weights,
                        const struct fp_flow_counts *counts);

#endif
