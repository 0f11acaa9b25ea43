/* Collating: one profile from the profiles of all copies of a division (paper 004).
 *
 * The result is a run of the reference, the ordinary build that the division was made
 * from, so that every reader of profiles reads it. A function that was profiled by turns has
 * the sum of its counts in all copies. Where the paths of a function were divided, each path
 * is taken from one copy. Two copies may have counted the same path (tasks that are united
 * admit more paths than they were made of); then their counts must be equal.
 */
#ifndef FP_P3_COLLATE_H
#define FP_P3_COLLATE_H

#include "p3/division.h"
#include "profile/profile.h"

/* copies: one profile per copy, in order, with maps loaded. Fills the counts of `run`, in the
 * arena; the caller fills in what ran and when. Fails where the copies are not of this
 * division or did not do the same; the error names the copy and the function. */
bool fp_collate(struct fp_arena *arena, const struct fp_program *reference,
                const struct fp_division *division, struct fp_profile *const *copies,
                struct fp_run *run, struct fp_error *error);

/* Do two profiles of one build have the same paths with the same counts? Else the error
 * names the first difference. Adds the number of paths to *paths. */
bool fp_same_paths(const struct fp_profile *expected, const struct fp_profile *got, size_t *paths,
                   struct fp_error *error);

/* The executed operations of a copy; false if it was not built to count them. */
bool fp_copy_hits(const struct fp_profile *copy, uint64_t *hits);

#endif
