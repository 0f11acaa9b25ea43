/* One profile from the profiles of all copies of a plan (paper 004).
 *
 * The result is a run of the reference, the ordinary build that the plan was made
 * from, so that everything that reads profiles reads it. Counts of turns add up. Of
 * paths that were divided, each is taken from one copy; two copies may have it both
 * (united tasks admit more than their paths), and then they must agree.
 */
#ifndef FP_P3_COLLATE_H
#define FP_P3_COLLATE_H

#include "p3/division.h"
#include "profile/profile.h"

/* copies: one profile per copy, in order, with maps loaded. run is filled with counts
 * in the arena; who calls adds what ran when. An error names the copy and the
 * function, and is of one of these kinds: the copies are not of this plan, or they did
 * not do the same. */
bool fp_collate(struct fp_arena *arena, const struct fp_program *reference,
                const struct fp_division *division, struct fp_profile *const *copies,
                struct fp_run *run, struct fp_error *error);

/* Have two profiles of one build the same paths, each as often? Else an error that
 * names the first that differs. paths: how many there are. */
bool fp_same_paths(const struct fp_profile *expected, const struct fp_profile *got, size_t *paths,
                   struct fp_error *error);

/* Executed operations of a copy, where it was built to count them. */
bool fp_copy_hits(const struct fp_profile *copy, uint64_t *hits);

#endif
