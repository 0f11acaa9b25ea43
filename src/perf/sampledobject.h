/* Counts of all sampled functions of one object, together.
 *
 * In rounds: first every function by itself (infer.h); then again with what the round before says
 * about mispredicted branches, about samples that do not fit the rest (robustsamples.h), and about
 * calls: a function is entered as often as those that call it directly say, and a block that calls
 * ran as often as the callee's entries say. Each is worth as much as a block of samples.
 *
 * Where samples were followed (forward.h), a branch goes where walks from the samples went
 * (sampledways.h). Then rounds take larger steps (extrapolate.h), since what is known of branches
 * moves counts along the graph, a little each round.
 *
 * The literature's costs, and events that count instructions, get none of that: one round, or some
 * where mispredictions were sampled or samples were followed. */
#ifndef FP_PERF_SAMPLEDOBJECT_H
#define FP_PERF_SAMPLEDOBJECT_H

#include "perf/blockweights.h"
#include "perf/forward.h"
#include "perf/infer.h"

struct fp_sampled_function {
    struct fp_machine_function *f; /* with a cfg */
    const double *samples;         /* per block */
    const double *insns;           /* per instruction */
    const double *waits;           /* per instruction (insnwaits.h) */
    const double *misses;          /* mispredictions per block, or NULL */
    const double *landings;        /* the same by where the program goes on, or NULL */
    struct fp_edge_counts counts;  /* the result; while inferring, of the rounds before */

    struct fp_edge_counts sum; /* of the last rounds */
    double *sizes;             /* per block, of the round before */
    double calls;              /* of the round before, by direct calls of sampled functions */
    double *ways;              /* per edge: executions that walks saw */
    double *walks;             /* per block: walks that saw which way it went */
};

struct fp_sampled_object {
    const struct fp_machine *machine;
    FP_VEC(struct fp_sampled_function) functions;
    enum fp_cost_model model;
    enum fp_normalisation by;
    const struct fp_forward *forward; /* or NULL */
    double period;                    /* what one sample adds to the sums */
    /* Classes of blocks by their weights, or NULL. */
    const uint8_t *(*classify)(void *context, struct fp_arena *scratch,
                               const struct fp_machine_function *f, const double *weights);
    void *context;
    uint32_t *index; /* while inferring, per function of the machine: 1 + index in functions */
};

/* Fills the counts, in `arena`. */
void fp_sampled_infer(struct fp_arena *arena, struct fp_sampled_object *object);

/* The sampled function of this number in the machine, or NULL. */
struct fp_sampled_function *fp_sampled_function_of(const struct fp_sampled_object *object,
                                                   uint32_t function);

#endif
