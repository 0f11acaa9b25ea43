/* From perf samples of instructions to block weights: estimates of how often each block ran, in
 * units of the event's period (paper 003, section 2.1).
 *
 * For events that count instructions the weight is samples / instructions. For events that
 * count time the samples of a block are divided by the time that the block should take, by a
 * rough model of latencies; that is closer than the number of its instructions.
 */
#ifndef FP_PERF_BLOCKWEIGHTS_H
#define FP_PERF_BLOCKWEIGHTS_H

#include "perf/attribute.h"
#include "perf/fitted.h"
#include "binary/machine.h"

enum fp_normalisation { FP_BY_INSTRUCTIONS, FP_BY_TIME };

/* Sums per instruction, and per block, of one event. */
double *fp_perf_insn_samples(struct fp_arena *arena, const struct fp_perf_object *sampled,
                             const struct fp_machine_function *function, uint32_t event);
double *fp_perf_block_samples(struct fp_arena *arena, const struct fp_perf_object *sampled,
                              const struct fp_machine_function *function, uint32_t event);

/* What the samples of a block are divided by: see above. Times are those that were fitted, with
 * waits (insnwaits.h); without them (NULL) a rough guess, which the literature's costs get. */
double fp_block_size(const struct fp_machine_function *function, uint32_t block,
                     enum fp_normalisation by, const struct fp_fitted *fitted, const double *waits);

/* What one round of inference tells the next. Mispredicted branches make samples pile up in the
 * block that they lead to; the next round treats that block as larger. */
struct fp_branch_knowledge {
    const uint64_t *edges; /* counts */
    /* mispredictions from perf samples, or NULL: by the block that branches, and by the block where
     * the program goes on. Without either they are guessed from the counts. */
    const double *misses, *landings;
};

/* The sizes of all blocks; knowledge may be NULL. */
void fp_block_sizes(const struct fp_machine_function *function, enum fp_normalisation by,
                    const struct fp_branch_knowledge *knowledge, const struct fp_fitted *fitted,
                    const double *waits, double *sizes);

#endif
