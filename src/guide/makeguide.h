/* From profiles to a guide for compilations: guide/guide.h. */
#ifndef FP_GUIDE_MAKEGUIDE_H
#define FP_GUIDE_MAKEGUIDE_H

#include "guide/guide.h"
#include "profile/profile.h"

/* How several runs become one number per edge and path. */
enum fp_guiding_by {
    FP_GUIDING_SUM,   /* all runs added up: a long run has more say */
    FP_GUIDING_MEAN,  /* every run has the same say */
    FP_GUIDING_WORST, /* the most that any run has, relative to the run */
};

/* The guide of one profile whose maps are loaded. `unusable` counts functions whose
 * counters contradict themselves; they are left out. */
struct fp_guiding {
    struct fp_guide_function *functions;
    size_t nfunctions, unusable;
    struct fp_guide_summary summary;
};
void fp_guiding_make(struct fp_arena *arena, const struct fp_profile *profile,
                     struct fp_guiding *guiding);

/* The guide of the runs in the files: they are read, and their maps too. Writes
 * it to `out`. binary: where the program is, if it was moved, or NULL. */
bool fp_guiding_write(const char *const *files, size_t nfiles, const char *binary,
                      enum fp_guiding_by by, const char *out, struct fp_error *error);

/* A guide for `path`, which is a guide itself or a profile: then one kept beside it
 * or, where that folder is not writable, in the folder for temporary files, is made
 * unless it is there and up to date. Gives its name. */
const char *fp_guiding_cached(struct fp_arena *arena, const char *path, enum fp_guiding_by by,
                              struct fp_error *error);

#endif
