/* Going through the measured functions of a profile. Coverage, statistics, line counts and
 * differences use it. */
#ifndef FP_PATHS_EACH_H
#define FP_PATHS_EACH_H

#include "paths/edges.h"

struct fp_measured {
    const struct fp_module *module;
    const struct fp_function *function;
    const struct fp_counts *counts;
    const struct fp_edge_counts *edges; /* NULL if they are not known: see problem */
    const char *problem;
};

/* Calls with every function that was instrumented. Counts and edges live in `scratch`, which is
 * emptied after each call. */
typedef void fp_measured_callback(const struct fp_measured *measured, struct fp_arena *scratch,
                                  void *context);
void fp_each_measured(const struct fp_profile *profile, fp_measured_callback *call, void *context);

#endif
