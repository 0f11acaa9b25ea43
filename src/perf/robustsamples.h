/* Samples of blocks without what stalls add. An instruction that waits for memory, or behind a
 * mispredicted branch, has hundreds of times the samples of its neighbours, though all ran as
 * often. So what is far from the rest of a block, or from what its count lets expect, counts for
 * less (Huber's estimate: what is outside of a range counts as its bound). */
#ifndef FP_PERF_ROBUSTSAMPLES_H
#define FP_PERF_ROBUSTSAMPLES_H

#include "binary/machine.h"
#include "perf/fitted.h"

/* The block's samples, where no instruction has more than a few times the mean of them. */
double fp_capped_samples(const struct fp_fitted *fitted, const struct fp_machine_function *function,
                         uint32_t block, const double *insns);

/* The block's samples once a count is known: `expected` of them for each instruction. A sample is
 * `period`. */
double fp_clipped_samples(const struct fp_fitted *fitted,
                          const struct fp_machine_function *function, uint32_t block,
                          const double *insns, double expected, double period);

/* How much a weight says that is so far from the count that was found: 1 or less. Weights that are
 * too large are trusted less than those that are too small: there are stalls, but nothing that
 * makes code take no time. */
double fp_sample_trust(const struct fp_fitted *fitted, double weight, double count, double period);

/* What happens around a block of a few instructions easily outweighs what it does itself. */
double fp_block_trust(const struct fp_fitted *fitted, uint32_t ninsns);

#endif
