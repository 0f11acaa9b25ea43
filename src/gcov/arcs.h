/* Counts of the arcs of gcc's graphs, from counts of source lines.
 *
 * gcc counts behind its first optimisations: small functions are inlined already, branches may be
 * folded. So its graph is not that of the profile, and lines are what both have. A block of gcc
 * ran as often as one of the blocks of its line; which one, and how often where the line has no
 * count, follows from the cheapest flow (perf/infer.h). Code of an inlined function has the share
 * of that function's counts that its calls from here have.
 */
#ifndef FP_GCOV_ARCS_H
#define FP_GCOV_ARCS_H

#include "gcov/codecounts.h"
#include "gcov/notes.h"
#include "gcov/sourcecounts.h"

struct fp_gcc_counts {
    uint64_t *arcs; /* per arc of the notes; NULL: the profile does not know the function */
    uint64_t weighed, weighed_alike; /* executions of blocks with a line, and those of them that
                                      * the flow left as the profile has them */
};

/* Per function of the notes; by `code` where the profile is of machine code, else NULL. */
struct fp_gcc_counts *fp_gcc_counts_make(struct fp_arena *arena, const struct fp_gcc_notes *notes,
                                         const struct fp_source_counts *source,
                                         const struct fp_code_counts *code);

#endif
