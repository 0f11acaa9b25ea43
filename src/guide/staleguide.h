/* Counts of an earlier version of a function, for the function as it is now.
 *
 * A function that fp_guide_find calls stale is known under its name with another shape. Its
 * blocks are matched with those of the version that was counted (graph/blockmatch.h), and the
 * counts placed (graph/placecounts.h). One that is absent may be there under another name or in
 * another file: the only function of exactly its content.
 *
 * What comes out is as of fp_guide_find, less the paths and values whose blocks are gone. Counts
 * that find no place are lost. Where that is more than half, the function gets none at all: they
 * would be worse than the compiler's own estimates.
 */
#ifndef FP_GUIDE_STALEGUIDE_H
#define FP_GUIDE_STALEGUIDE_H

#include "guide/guide.h"

struct fp_guide_placed {
    double total, placed; /* executions of blocks: of the version that was counted, and placed */
    bool moved;           /* found under another name or in another file */
};

/* needs: a function with its calls (FP_FUNCTION_CALLS) and sites, for which fp_guide_find found
 * `match`. True: `found` may be used. `placed` is set where an earlier version was found. */
bool fp_guide_find_stale(struct fp_arena *arena, const struct fp_guide *guide,
                         const struct fp_function *function, enum fp_guide_match match,
                         struct fp_guide_function *found, struct fp_guide_placed *placed);

#endif
