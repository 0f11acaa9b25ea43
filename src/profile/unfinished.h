/* Records of runs that had not ended when they were written. A program that dumps its
 * profile while it runs writes such records. A later record of the same run and module
 * replaces an earlier one, so a reader keeps them until the end of the file:
 *
 *     for each record:            if (fp_unfinished_take(&unfinished, run)) use(run);
 *     at the end of the file:     use each of unfinished.runs
 *                                 fp_arena_free(&unfinished.arena);
 */
#ifndef FP_PROFILE_UNFINISHED_H
#define FP_PROFILE_UNFINISHED_H

#include "base/vec.h"
#include "profile/runs.h"

struct fp_unfinished {
    struct fp_arena arena;
    FP_VEC(struct fp_run) runs;
};

/* True: the run has ended, use it now. False: it has not, and a copy is kept. Either way
 * an earlier record of the same run is dropped. */
bool fp_unfinished_take(struct fp_unfinished *unfinished, const struct fp_run *run);

/* Keeps a copy of the run, ended or not. */
void fp_unfinished_keep(struct fp_unfinished *unfinished, const struct fp_run *run);

#endif
