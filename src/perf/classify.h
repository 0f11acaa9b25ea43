/* Which blocks have too many or too few samples, told from several events (paper
 * 003, section 4.2).
 *
 *   aggregation  A = sum over stall events of (stall duration x events)
 *   shadow       S = cycles - instructions retired
 *   under-sampled when S - A exceeds twice the block's count: its instructions
 *     retired over the number of its instructions
 *   over-sampled when A > S and A is more than half of the block's cycles
 */
#ifndef FP_PERF_CLASSIFY_H
#define FP_PERF_CLASSIFY_H

#include "perf/infer.h"

struct fp_block_events {
    double size;         /* its number of instructions */
    double instructions; /* retired: samples times period */
    double cycles;
    double stalled;                            /* the sum A, in cycles */
    double instruction_samples, cycle_samples; /* the numbers of samples that these come from */
};

enum fp_perf_class fp_classify(const struct fp_block_events *block);

/* By exact counts: over-sampled when the weight is more than twice what it should
 * be, under-sampled when it is less than half. */
enum fp_perf_class fp_classify_exactly(double weight, double exact);

#endif
