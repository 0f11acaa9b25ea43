/* P3 in the compiler: what one copy of a divided program counts of a function (paper 004,
 * docs/p3.md). */
#ifndef FP_LLVM_P3COPY_H
#define FP_LLVM_P3COPY_H

#include "llvm/work.h"

/* The division that --fp-plan names, if one is named: work->division. False after saying
 * on stderr what is wrong. */
bool fp_p3_read_division(struct fp_work *work);

/* Plans what this copy counts of the function: all paths, some, those of every n-th
 * invocation, or only the invocations. Needs: numbers and id as in the reference build.
 * False where the division does not have the function. */
bool fp_p3_plan(struct fp_job *job);

/* --fp-hits in an ordinary build. */
void fp_p3_add_hits(struct fp_job *job);

/* Does the function take turns: with a plain body for the other copies' invocations?
 * *turn: which of division->ncopies this copy counts. */
bool fp_p3_takes_turns(const struct fp_job *job, uint32_t *turn);

#endif
