/* Opening what a user names: any number of profile files, or of combined ones, and the
 * programs that ran. What is there is opened; what is missing or wrong is a warning.
 *
 *     struct fp_load load = {.names = names, .nnames = n, .binary = NULL};
 *     struct fp_profile *profile = fp_load_profile(&load);
 *     for each of load.warnings: tell; and where there is no profile, load.error
 *     fp_load_free(&load);
 */
#ifndef FP_COMBINED_LOAD_H
#define FP_COMBINED_LOAD_H

#include "combined/combine.h"
#include "footpath/footpath.h"

struct fp_load {
    const char *const *names;
    size_t nnames;
    const char *binary; /* the program that ran, where it was moved; or NULL */
    /* Whose runs: name, path or build-id of a program. NULL: of the build that ran last. */
    const char *program;
    bool each_program; /* with NULL: of each program the build that ran last */
    bool all_builds;   /* all runs, whatever the program */
    bool strict;       /* a bad file among several is a failure */
    /* filled */
    FP_VEC(struct footpath_warning) warnings; /* as they were found */
    size_t read, skipped;                     /* files: asked for, bad */
    enum footpath_result result;
    const char *error; /* why there is nothing, or NULL */
    struct fp_arena arena;
};

void fp_load_free(struct fp_load *load);
void fp_load_warn(struct fp_load *load, enum footpath_warning_kind kind,
                  const struct fp_error *error);

/* The runs of the files as one profile, without maps; with them. NULL after a failure. */
struct fp_profile *fp_load_runs(struct fp_load *load);
struct fp_profile *fp_load_profile(struct fp_load *load);

/* Is `binary` a program with a map, or NULL? */
bool fp_load_check_binary(struct fp_load *load);

/* Combined profiles and runs as one combined profile, settled. */
struct fp_combined *fp_load_combined(struct fp_load *load, struct fp_combiner *combiner,
                                     uint32_t bins);

/* A combined profile, by its name (.cp) or by what is in the file. */
bool fp_is_combined(const char *path);
/* The most bins that one of the files has; the default where none is combined yet. */
uint32_t fp_combined_bins(const char *const *names, size_t count);

#endif
