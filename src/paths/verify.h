/* Verification: the edges that paths imply against the edges that were counted
 * (paper 000, section 4.2.2). */
#ifndef FP_PATHS_VERIFY_H
#define FP_PATHS_VERIFY_H

#include "paths/edges.h"

struct fp_difference {
    const struct fp_function *function;
    uint32_t edge; /* FP_NONE: entries of the function */
    uint64_t from_paths, counted;
    const char *what; /* where no numbers can be compared: why */
};

struct fp_verification {
    size_t functions, edges;           /* compared */
    size_t different;                  /* of the edges */
    size_t unmatched;                  /* functions in one profile only, with counts */
    struct fp_difference *differences; /* the first ones */
    size_t ndifferences;
};

enum { FP_MOST_DIFFERENCES = 20 };

/* paths and edges may be one profile, of a check build. Functions of two builds match by name, file
 * and shape, and by the program or library that they are in. Error where there is nothing to
 * compare. */
bool fp_verify(struct fp_arena *arena, struct fp_profile *paths, struct fp_profile *edges,
               struct fp_verification *result, struct fp_error *error);

#endif
