/* Fitted constants: see fitted.h. Floats are too rare in the programs to fit: two additions and
 * two multiplications start in a cycle. */
#include "perf/fitted.h"

const struct fp_insn_times fp_rough_times = {.any = 0.25,
                                             .loads = 0.5,
                                             .stores = 0.25,
                                             .multiplies = 1,
                                             .floats = 0.5,
                                             .divides = 15,
                                             .repeats = 15,
                                             .branch = 0.5,
                                             .jump_indirect = 3,
                                             .call = 1,
                                             .returns = 1};

static const struct fp_fitted not_followed = {
    .times = {.any = 0.47,
              .loads = 0.86,
              .stores = 0.18,
              .multiplies = 2,
              .floats = 0.5,
              .divides = 15,
              .repeats = 15,
              .branch = 0.45,
              .jump = 0.34,
              .jump_indirect = 0.86,
              .call = 2.3,
              .returns = 1.5,
              .wait = 0.2,
              .block = 0.11},
    .guessed_miss = 3.8,
    .most_of_mean = 4.1,
    .most_of_expected = 6,
    .least_of_expected = 0.062,
    .slack = 2.4,
    .capped_part = 0.25,
    .tiny_block = 0.84,
    .small_block = 0.69,
    .far_above = 0.42,
    .far_below = 1.5,
    .callers_size = 22,
    .callee_size = 32,
    .rounds = 6,
    .averaged = 3,
    .new_part = 0.5,
};

static const struct fp_fitted walks_followed = {
    .times = {.any = 0.47,
              .loads = 0.57,
              .stores = 0.23,
              .multiplies = 2,
              .floats = 0.5,
              .divides = 15,
              .repeats = 15,
              .branch = 0.68,
              .jump = 0.43,
              .jump_indirect = 0.5,
              .call = 3.3,
              .returns = 0.67,
              .wait = 0.72,
              .block = 0.14},
    .guessed_miss = 3.8,
    .most_of_mean = 2.6,
    .most_of_expected = 1.1,
    .least_of_expected = 0.062,
    .slack = 4.5,
    .capped_part = 0.32,
    .tiny_block = 0.84,
    .small_block = 0.69,
    .far_above = 0.28,
    .far_below = 3.4,
    .callers_size = 54,
    .callee_size = 32,
    .rounds = 30,
    .averaged = 4,
    .new_part = 0.8,
};

const struct fp_fitted *fp_fitted(bool followed)
{
    return followed ? &walks_followed : &not_followed;
}
