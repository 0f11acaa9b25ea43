/* Runs that were still going on when they were written wait until the end of the
 * file: a later record of the same run and module replaces them.
 *
 *     if (fp_unfinished_take(&waiting, run)) use(run);       for each record, then
 *     for each of waiting.runs: use it;  fp_arena_free(&waiting.arena)
 */
#ifndef FP_PROFILE_UNFINISHED_H
#define FP_PROFILE_UNFINISHED_H

#include "base/vec.h"
#include "profile/runs.h"

struct fp_unfinished {
    struct fp_arena arena;
    FP_VEC(struct fp_run) runs;
};

/* Is the run at its end, to be used now? Otherwise a copy waits. */
bool fp_unfinished_take(struct fp_unfinished *waiting, const struct fp_run *run);

/* A copy waits, whatever it is. */
void fp_unfinished_keep(struct fp_unfinished *waiting, const struct fp_run *run);

#endif
