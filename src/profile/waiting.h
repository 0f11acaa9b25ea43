/* Runs that were still going on when they were written wait until the end of the
 * file: a later record of the same run and module replaces them.
 *
 *     if (fp_waiting_take(&waiting, run)) use(run);       for each record, then
 *     for each of waiting.runs: use it;  fp_arena_free(&waiting.arena)
 */
#ifndef FP_PROFILE_WAITING_H
#define FP_PROFILE_WAITING_H

#include "base/vec.h"
#include "profile/runs.h"

struct fp_waiting {
    struct fp_arena arena;
    FP_VEC(struct fp_run) runs;
};

/* Is the run at its end, to be used now? Otherwise a copy waits. */
bool fp_waiting_take(struct fp_waiting *waiting, const struct fp_run *run);

/* A copy waits, whatever it is. */
void fp_waiting_keep(struct fp_waiting *waiting, const struct fp_run *run);

#endif
