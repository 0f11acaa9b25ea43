/* Makes a guide (guide/guide.h) from profiles.
 *
 * The compiler driver calls fp_guide_cached: PROFILE in, the name of an up-to-date guide
 * out. `footpath export --format guide` has a loaded profile and calls fp_guide_make.
 * A profile whose program is gone gives no guide: the map is needed. */
#ifndef FP_GUIDE_MAKEGUIDE_H
#define FP_GUIDE_MAKEGUIDE_H

#include "guide/guide.h"
#include "profile/profile.h"

/* How several runs become one number per edge and path. */
enum fp_guide_by {
    FP_GUIDE_BY_SUM,   /* all runs added up: a long run weighs more */
    FP_GUIDE_BY_MEAN,  /* every run weighs the same */
    FP_GUIDE_BY_WORST, /* of each path the most that any run took it, per call */
};

/* A guide before it is encoded. `unusable` counts the functions that were left out because
 * their counters contradict each other. */
struct fp_new_guide {
    struct fp_guide_function *functions;
    size_t nfunctions, unusable;
    struct fp_guide_summary summary;
};

/* needs: a profile whose maps are loaded. */
void fp_guide_make(struct fp_arena *arena, const struct fp_profile *profile,
                   struct fp_new_guide *made);

/* Reads the profiles and their maps, makes the guide of all their runs and writes it to
 * `out`. binary: where the program is now if it was moved, or NULL. */
bool fp_guide_write(const char *const *files, size_t nfiles, const char *binary,
                    enum fp_guide_by by, const char *out, struct fp_error *error);

/* The name of a guide for `path`. Where `path` is a guide, that is `path`. Where it is a
 * profile, the guide is kept beside it, or in the folder for temporary files if the
 * profile's folder is not writable; it is made again when it is missing or older than
 * the profile. */
const char *fp_guide_cached(struct fp_arena *arena, const char *path, enum fp_guide_by by,
                            struct fp_error *error);

#endif
