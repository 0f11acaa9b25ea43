/* Weights of events by linear support vector regression (paper 003, section 4.1):
 * F = sum of w_i c_i + b, over blocks, with F the exact count and c_i the samples
 * of event i, each normalised by its mean in the program. By liblinear, with the
 * loss of support vector regression: deviations count as they are, not squared, so
 * that a few hot blocks do not decide. */
#ifndef FP_PERF_LEARN_H
#define FP_PERF_LEARN_H

#include "base/error.h"
#include "base/vec.h"

struct fp_training {
    uint32_t nevents;
    FP_VEC(double) exact;
    FP_VEC(double) events; /* nevents per block */
    size_t scaled;         /* blocks that were divided by their means */
};

void fp_training_add(struct fp_training *training, struct fp_arena *arena, const double *events,
                     double exact);

/* Divides counts and samples of the blocks since the last call by their means: once per program,
 * since programs run for different times. fp_learn does so for the last. */
void fp_training_scale(struct fp_training *training);

struct fp_model {
    double *weights; /* per event */
    double constant;
};

/* Fails without liblinear, or if there are too few blocks to learn from. */
bool fp_learn(struct fp_arena *arena, struct fp_training *training, struct fp_model *model,
              struct fp_error *error);

#endif
