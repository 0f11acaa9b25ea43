/* What gcc's blocks weigh by a profile of optimised machine code (codecounts.h).
 *
 * A block weighs what the places of its statements ran. Code that is inlined counts for the
 * function in whose graph gcc has it when it counts: the outermost one of the chain of inlined
 * calls whose blocks have the place. A place that the machine code does not have says nothing,
 * nor does one that several blocks share and that ran differently in them, nor one whose branch
 * became a conditional move.
 */
#ifndef FP_GCOV_CODEWEIGHTS_H
#define FP_GCOV_CODEWEIGHTS_H

#include "gcov/codecounts.h"
#include "gcov/notes.h"
#include "graph/cfg.h"

struct fp_code_weights;

struct fp_code_weights *fp_code_weights_new(struct fp_arena *arena,
                                            const struct fp_gcc_notes *notes,
                                            const struct fp_code_counts *counts);

/* Per block of a function of the notes; size 0: not known. False: the profile does not have the
 * function. */
bool fp_code_weigh(const struct fp_code_weights *all, uint32_t function, const struct fp_cfg *cfg,
                   double *weights, double *sizes);

#endif
