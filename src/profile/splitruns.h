/* The runs of a profile one by one, each as a profile of its own. */
#ifndef FP_PROFILE_SPLITRUNS_H
#define FP_PROFILE_SPLITRUNS_H

#include "profile/profile.h"

struct fp_split {
    FP_VEC(struct fp_profile *) runs; /* in the order of the files; they share the whole's map */
    bool complete;                    /* all counts of the profile are in them */
};

/* needs: the profile is of one module; with shared libraries a run has several records, and is
 * not told apart. Sums of several runs are left out, and so are runs behind the first `most`. */
void fp_profile_split(struct fp_arena *arena, const struct fp_profile *whole, size_t most,
                      struct fp_split *split);
void fp_split_free(struct fp_split *split);

#endif
