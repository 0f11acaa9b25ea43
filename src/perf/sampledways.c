/* Where branches go, by walks: see sampledways.h. The constants are fitted as those of
 * fitted.c are. */
#include "perf/sampledways.h"

#include <math.h>
#include <string.h>

/* What the ways of a block are worth, as a block of this size would be, and at how many walks half
 * of it. */
static const double SIZE = 25, HALF_AT = 13;
/* The part of it for a way of a table: where a jump goes is often known only while it waits for a
 * slow load, which is not what it mostly does. */
static const double TABLE_PART = 0.35;
/* Of what the samples of a block say without any flow. No walk stands for less. */
static const double LEAST = 0.2;

static double executions_of(const struct fp_sampled_object *o, const struct fp_way *way)
{
    const struct fp_sampled_function *s = fp_sampled_function_of(o, way->from_function);
    const uint64_t *walks =
        fp_table_find(&o->forward->starts, (uint64_t)way->from_function << 32 | way->from_block);
    if (!s || !walks) return 0;
    double size = s->sizes[way->from_block], count = (double)s->counts.blocks[way->from_block];
    double least = size > 0 ? LEAST * o->period / size : 0;
    return fmax(count / (double)*walks, least);
}

void fp_sampled_ways_count(struct fp_sampled_object *o)
{
    for (size_t i = 0; i < o->functions.len; i++) {
        struct fp_sampled_function *s = &o->functions.at[i];
        memset(s->ways, 0, s->f->cfg->nedges * sizeof *s->ways);
        memset(s->walks, 0, s->f->cfg->nblocks * sizeof *s->walks);
    }
    for (size_t i = 0; i < o->forward->ways.len; i++) {
        const struct fp_way *way = &o->forward->ways.at[i];
        struct fp_sampled_function *s = fp_sampled_function_of(o, way->function);
        if (!s) continue; /* no sample hit it */
        s->ways[way->edge] += (double)way->count * executions_of(o, way);
        s->walks[s->f->cfg->edges[way->edge].src] += (double)way->walks;
    }
}

void fp_sampled_ways_add(struct fp_arena *scratch, const struct fp_sampled_function *s,
                         struct fp_inference *in)
{
    const struct fp_cfg *cfg = s->f->cfg;
    double *weights = FP_NEW_ARRAY(scratch, double, cfg->nedges);
    double *sizes = FP_NEW_ARRAY(scratch, double, cfg->nedges);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        double all = 0, size = SIZE * s->walks[b] / (s->walks[b] + HALF_AT);
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) all += s->ways[e];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            weights[e] = all > 0 ? (double)s->counts.blocks[b] * s->ways[e] / all : -1;
            sizes[e] = cfg->edges[e].kind == FP_EDGE_SWITCH ? TABLE_PART * size : size;
        }
    }
    in->edge_weights = weights;
    in->edge_sizes = sizes;
}
