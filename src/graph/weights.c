/* Static weights: branch probabilities by heuristics (Ball and Larus, Branch
 * Prediction for Free, PLDI 1993), combined as evidence (Wu and Larus, MICRO
 * 1994), and frequencies by one pass in topological order that multiplies at
 * each loop header. It overestimates loops with many exits; the users of these
 * weights only compare them. */
#include "graph/weights.h"

static const double LOOP_FACTOR = 10;
static const double COLD_PROBABILITY = 1e-4;
static const double HIGHEST = 1e100; /* keeps a nest of hundreds of loops finite */

struct estimator {
    const struct fp_cfg *cfg;
    const struct fp_loops *loops;
    const struct fp_order *order;
};

/* Evidence that an edge is taken, as the hit rate of each heuristic that speaks
 * for or against it; 0.5 says nothing. */
static double combine(double a, double b)
{
    return a * b / (a * b + (1 - a) * (1 - b));
}

static uint32_t innermost_loop(const struct estimator *s, uint32_t block)
{
    return fp_bitset_has(&s->loops->heads, block) ? block : s->loops->header[block];
}

static double edge_evidence(const struct estimator *s, uint32_t e)
{
    const struct fp_edge *edge = &s->cfg->edges[e];
    uint8_t flags = s->cfg->flags[edge->dst];
    if (flags & FP_BLOCK_COLD || edge->kind == FP_EDGE_UNWIND) return COLD_PROBABILITY;
    double p = 0.5;
    uint32_t loop = innermost_loop(s, edge->src);
    bool stays = loop == FP_NONE || fp_loops_contain(s->loops, loop, edge->dst);
    if (!stays)
        p = combine(p, 0.12); /* loop exit */
    else if (loop != FP_NONE && edge->dst == loop)
        p = combine(p, 0.88); /* loop branch */
    if (stays && edge->dst != loop && fp_bitset_has(&s->loops->heads, edge->dst))
        p = combine(p, 0.75);                                            /* loop header */
    if (fp_cfg_out_degree(s->cfg, edge->dst) == 0) p = combine(p, 0.28); /* return */
    if (flags & FP_BLOCK_CALLS) p = combine(p, 0.22);
    if (flags & FP_BLOCK_STORES) p = combine(p, 0.45);
    return p;
}

static void share_out(const struct estimator *s, uint32_t block, double frequency, double *weights)
{
    const struct fp_cfg *cfg = s->cfg;
    double sum = 0;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        sum += weights[e] = edge_evidence(s, e);
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        weights[e] *= frequency / sum;
}

double *fp_weights_static(struct fp_arena *arena, const struct fp_cfg *cfg,
                          const struct fp_order *order, const struct fp_loops *loops)
{
    struct estimator s = {cfg, loops, order};
    double *weights = FP_NEW_ARRAY(arena, double, cfg->nedges);
    for (uint32_t i = 0; i < order->nblocks; i++) {
        uint32_t block = order->blocks[i];
        double frequency = block == 0;
        for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
            uint32_t e = cfg->in_edges[k];
            if (order->position[cfg->edges[e].src] < i) frequency += weights[e];
        }
        /* entered only by jumps the order does not follow: as often as a call */
        if (frequency == 0) frequency = 1;
        if (fp_bitset_has(&loops->heads, block)) frequency *= LOOP_FACTOR;
        if (frequency > HIGHEST) frequency = HIGHEST;
        share_out(&s, block, frequency, weights);
    }
    return weights;
}

double fp_weight_of_block(const struct fp_cfg *cfg, const double *weights, uint32_t block)
{
    double sum = block == 0;
    for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++)
        sum += weights[cfg->in_edges[k]];
    return sum;
}
