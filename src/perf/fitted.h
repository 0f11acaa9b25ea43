/* The constants of inference that were fitted to clock samples of programs by gcc and clang
 * (docs/perf.md says which programs). There are two sets. Where samples were followed (forward.h),
 * it is known where branches go, so the times of blocks only say how often loops and functions run,
 * and samples that do not fit can be dropped without fear of losing a branch. */
#ifndef FP_PERF_FITTED_H
#define FP_PERF_FITTED_H

#include <stdbool.h>

/* Cycles of an instruction of this kind, on average; parts add up. */
struct fp_insn_times {
    double any, loads, stores, multiplies, floats, divides, repeats;
    double branch, jump, jump_indirect, call, returns;
    double wait; /* of a cycle that it waits for others (insnwaits.h) */
    double block;
};

struct fp_fitted {
    struct fp_insn_times times;
    /* What a guessed misprediction adds to the time of a block. Processors mostly predict better
     * than the guess, so it is less than one costs. */
    double guessed_miss;

    /* robustsamples.h: limits of what one instruction's samples count for */
    double most_of_mean, most_of_expected, least_of_expected, slack;
    double capped_part;             /* the rest is clipped */
    double tiny_block, small_block; /* trust in blocks of 1 or 2 instructions, and of 3 */
    double far_above, far_below; /* as logarithms: at what distance a weight has half its trust */

    /* sampledobject.h: what the two sides of a call say about each other, as blocks of these sizes
     * would */
    double callers_size, callee_size;
    unsigned rounds, averaged; /* all, and the last ones, which are averaged */
    double new_part;           /* of a round, that the next one is told; the rest is as before */
};

/* Times that the literature's costs get: four simple instructions per cycle, more for slow ones. */
extern const struct fp_insn_times fp_rough_times;

const struct fp_fitted *fp_fitted(bool followed);

#endif
