/* Weights of events by linear support vector regression (paper 003, section 4.1):
 * F = sum of w_i c_i + b, over blocks, with F the exact count and c_i the samples
 * of event i, each normalised by its mean. By liblinear. */
#ifndef FP_PERF_LEARN_H
#define FP_PERF_LEARN_H

#include "base/error.h"
#include "base/vec.h"

struct fp_training {
    uint32_t nevents;
    FP_VEC(double) exact;
    FP_VEC(double) events; /* nevents per block */
};

void fp_training_add(struct fp_training *training, struct fp_arena *arena, const double *events,
                     double exact);

struct fp_model {
    double *weights; /* per event */
    double constant;
};

/* Fails without liblinear, or if there are too few blocks to learn from. */
bool fp_learn(struct fp_arena *arena, const struct fp_training *training, struct fp_model *model,
              struct fp_error *error);

#endif
