/* From samples of instructions to weights of blocks: an estimate of how often
 * each block ran, in units of the event's period.
 *
 * For events that count instructions: samples over instructions (section 2.1).
 * For events that count time the samples of a block are divided by the time it
 * should take, by a rough model of latencies, which is closer than the number of
 * its instructions.
 */
#ifndef FP_SAMPLE_WEIGHTS_H
#define FP_SAMPLE_WEIGHTS_H

#include "sample/attribute.h"
#include "sample/machine.h"

enum fp_normalisation { FP_BY_INSTRUCTIONS, FP_BY_TIME };

/* Sums per block of one event. */
double *fp_block_samples(struct fp_arena *arena, const struct fp_sampled_object *sampled,
                         const struct fp_machine_function *function, uint32_t event);

/* What a block is divided by: see above. */
double fp_block_size(const struct fp_machine_function *function, uint32_t block,
                     enum fp_normalisation by);

/* The sizes of all blocks. With edge counts of an earlier inference, or NULL, the
 * time of mispredicted branches is added to where it shows: to the block that the
 * less frequent way of a branch leads to. */
void fp_block_sizes(const struct fp_machine_function *function, enum fp_normalisation by,
                    const uint64_t *edges, double *sizes);

/* Counts of edges from branch records, scaled to the weights; NULL without them.
 * Negative where nothing is known. */
double *fp_branch_weights(struct fp_arena *arena, const struct fp_sampled_object *sampled,
                          const struct fp_machine_function *function);

#endif
