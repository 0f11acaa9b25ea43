/* Classification of blocks: see classify.h. */
#include "perf/classify.h"

enum { FEWEST_SAMPLES = 8 }; /* with fewer, differences are noise */

enum fp_perf_class fp_classify(const struct fp_block_events *block)
{
    double shadow = block->cycles - block->instructions;
    if (block->cycle_samples + block->instruction_samples < FEWEST_SAMPLES) return FP_CLASS_TRUSTED;
    if (shadow - block->stalled > 2 * block->instructions / block->size) return FP_CLASS_UNDER;
    if (block->stalled > shadow && block->stalled > block->cycles / 2) return FP_CLASS_OVER;
    return FP_CLASS_TRUSTED;
}

enum fp_perf_class fp_classify_exactly(double weight, double exact)
{
    if (weight > 2 * exact) return FP_CLASS_OVER;
    return weight < exact / 2 ? FP_CLASS_UNDER : FP_CLASS_TRUSTED;
}
