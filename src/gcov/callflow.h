/* Calls and entries that agree: a function runs as often as it is called.
 *
 * Counts of functions are inferred one by one. Where the block of a call got less than what it
 * calls, gcc would scale the callee down when it inlines it: to nothing where a call that ran
 * seldom was never sampled, so that the loop behind it becomes cold code. Here the blocks of such
 * calls get what is missing, callees first, along the way through the caller that changes its
 * counts least.
 */
#ifndef FP_GCOV_CALLFLOW_H
#define FP_GCOV_CALLFLOW_H

#include "gcov/arcs.h"

void fp_settle_calls(const struct fp_gcc_notes *notes, const struct fp_code_counts *code,
                     struct fp_gcc_counts *counts);

#endif
