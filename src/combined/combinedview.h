/* A combined profile as a profile: the counts of all its runs, for everything that
 * shows counts, with the distributions within reach. */
#ifndef FP_COMBINED_COMBINEDVIEW_H
#define FP_COMBINED_COMBINEDVIEW_H

#include "combined/combine.h"
#include "paths/diff.h"

struct fp_combined_view {
    struct fp_profile *profile; /* freeing it frees all of this */
    struct fp_combined *combined;
    struct fp_combiner *combiner;
    struct fp_table of; /* address of a function -> address of its combined function */
};

/* Takes combiner and combined over, in any case. Both are settled and have the maps.
 * NULL, with an error, where no map is found. */
struct fp_combined_view *fp_combined_view_make(struct fp_combiner *combiner,
                                               struct fp_combined *combined,
                                               struct fp_error *error);

/* The counts of all runs of one function, whose map entry is `function`. */
void fp_combined_counts(struct fp_arena *arena, const struct fp_combined_function *combined,
                        const struct fp_function *function, struct fp_counts *counts);

/* Which function of the combiner's maps each function of a combined profile is: by index;
 * NULL where its module has no map. missing: per module, why it has none. */
const struct fp_function **fp_combined_functions(struct fp_arena *arena,
                                                 const struct fp_combined *combined,
                                                 struct fp_combiner *combiner,
                                                 struct fp_error *missing);

/* How often a path was taken per call, run by run; NULL where that is not known. */
const struct fp_distribution *fp_combined_view_path(const struct fp_combined_view *view,
                                                    const struct fp_function *function,
                                                    uint64_t id);
/* The same as struct fp_diff_side wants it; view: a struct fp_combined_view. */
struct fp_spread fp_combined_view_spread(const void *view, const struct fp_function *function,
                                         uint64_t id);

#endif
