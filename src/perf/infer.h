/* A consistent edge profile from block weights that are not consistent, as a
 * minimum cost flow (paper 003, section 2.3).
 *
 * Each block is two nodes joined by a forward arc, which raises its count, and a
 * reverse arc, which lowers it. The weights are a first flow that is no flow; the
 * cheapest correction makes it one. What differs between the models is what a
 * correction costs per unit:
 *
 *   levin   k / ln(weight + 2), with k 50 times as large for lowering as for
 *           raising (Levin, Newman, Haber, the baseline of the paper). Edges cost as
 *           blocks without weight do: the flow through an edge is a correction, too, as
 *           in mcf.c of gcc, which authors of the paper wrote
 *   profi   constants: raising 10, lowering 20, raising what has no weight 11,
 *           calls 40 and 10 (He, Mestre, Pupyrev et al., Profile inference)
 *   paper   levin, and for blocks classified as over-sampled raising costs the
 *           maximum of the graph and lowering nothing; for under-sampled ones the
 *           other way round (section 4.2)
 *   footpath  likelihood: the count x of a block of size n with weight w costs
 *           n (x - w ln x), as if its n w samples were drawn at a rate of n x.
 *           Blocks that a flow forces to be equal then get the mean of their
 *           weights by size: samples that skid or pile up within a loop are
 *           shared out instead of outvoted. The curve becomes a few arcs, fewer in
 *           functions of more than 3,000 blocks, where it would take too long
 *   raw     no flow at all: weights spread over out-edges by static
 *           probabilities, the paper's first bar
 */
#ifndef FP_PERF_INFER_H
#define FP_PERF_INFER_H

#include "paths/edges.h"
#include "graph/cfg.h"

enum fp_cost_model {
    FP_COSTS_RAW,
    FP_COSTS_LEVIN,
    FP_COSTS_PROFI,
    FP_COSTS_PAPER,
    FP_COSTS_FOOTPATH
};

enum fp_perf_class { FP_CLASS_TRUSTED, FP_CLASS_OVER, FP_CLASS_UNDER, FP_CLASS_UNKNOWN };

struct fp_inference {
    const struct fp_cfg *cfg;
    const double *weights;      /* per block: estimated executions */
    const double *sizes;        /* per block: what its samples were divided by; 0: not known */
    const uint8_t *classes;     /* per block, of enum fp_perf_class, or NULL */
    const double *edge_weights; /* per edge, negative where not known; or NULL */
    const double *edge_sizes;   /* per edge: what its weight says, as a block of this size would;
                                   NULL: profi's costs */
    double entries;             /* estimated calls, or negative */
    double entry_size;          /* what that estimate says, as a block of this size would */
    const double *trusts;       /* per block: how much its weight says, 1 or less; or NULL */
    enum fp_cost_model model;
};

bool fp_cost_model_named(const char *name, enum fp_cost_model *model);

/* The resulting counts are a flow, except with FP_COSTS_RAW. Blocks that cannot be reached get
 * 0. */
void fp_infer(struct fp_arena *arena, const struct fp_inference *inference,
              struct fp_edge_counts *out);

#endif
