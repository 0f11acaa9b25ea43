/* Larger steps towards where rounds of inference lead (SQUAREM: Varadhan and Roland, Simple and
 * globally convergent methods for accelerating the convergence of any EM algorithm, 2008): three
 * rounds tell how fast they approach, and the rest of the way is gone at once. */
#ifndef FP_PERF_EXTRAPOLATE_H
#define FP_PERF_EXTRAPOLATE_H

#include "perf/sampledobject.h"

struct fp_extrapolation {
    uint64_t **past[2]; /* per function and block, of the rounds before */
    unsigned rounds;    /* kept in `past` */
};

void fp_extrapolation_init(struct fp_extrapolation *e, struct fp_arena *arena,
                           const struct fp_sampled_object *object);

/* After each round: keeps the counts, and at every third round changes those of the object. */
void fp_extrapolate(struct fp_extrapolation *e, struct fp_sampled_object *object);

#endif
