/* Larger steps of rounds: see extrapolate.h. */
#include "perf/extrapolate.h"

#include <math.h>
#include <string.h>

/* The longest step, and by what factor it may change a count at most. */
static const double LONGEST = 8, MOST = 3;

void fp_extrapolation_init(struct fp_extrapolation *e, struct fp_arena *arena,
                           const struct fp_sampled_object *o)
{
    *e = (struct fp_extrapolation){.rounds = 0};
    for (int k = 0; k < 2; k++) {
        e->past[k] = FP_NEW_ARRAY(arena, uint64_t *, o->functions.len);
        for (size_t i = 0; i < o->functions.len; i++)
            e->past[k][i] = FP_NEW_ARRAY(arena, uint64_t, o->functions.at[i].f->cfg->nblocks);
    }
}

/* Logarithms of a block's counts: the first change, and how the second differs from it. */
struct change {
    double start, first, bend, last;
};

static struct change change_of(const struct fp_extrapolation *e, const struct fp_sampled_object *o,
                               size_t i, uint32_t block)
{
    double a = log((double)e->past[0][i][block] + 1), b = log((double)e->past[1][i][block] + 1);
    double c = log((double)o->functions.at[i].counts.blocks[block] + 1);
    return (struct change){a, b - a, c - b - (b - a), c};
}

/* How long the step is: 1 is where the rounds are by themselves. Blocks count by what they run. */
static double step_of(const struct fp_extrapolation *e, const struct fp_sampled_object *o)
{
    double first = 0, bend = 0;
    for (size_t i = 0; i < o->functions.len; i++) {
        const struct fp_sampled_function *s = &o->functions.at[i];
        for (uint32_t b = 0; b < s->f->cfg->nblocks; b++) {
            struct change c = change_of(e, o, i, b);
            first += ((double)s->counts.blocks[b] + 1) * c.first * c.first;
            bend += ((double)s->counts.blocks[b] + 1) * c.bend * c.bend;
        }
    }
    return bend > 0 ? fmin(sqrt(first / bend), LONGEST) : 1;
}

static void take_step(const struct fp_extrapolation *e, struct fp_sampled_object *o, size_t i,
                      double step)
{
    struct fp_sampled_function *s = &o->functions.at[i];
    for (uint32_t b = 0; b < s->f->cfg->nblocks; b++) {
        struct change c = change_of(e, o, i, b);
        double more = c.start + 2 * step * c.first + step * step * c.bend - c.last;
        double factor = exp(fmax(-log(MOST), fmin(log(MOST), more)));
        s->counts.blocks[b] = (uint64_t)((double)s->counts.blocks[b] * factor + 0.5);
        if (!b) s->counts.entries = (uint64_t)((double)s->counts.entries * factor + 0.5);
    }
}

void fp_extrapolate(struct fp_extrapolation *e, struct fp_sampled_object *o)
{
    if (e->rounds < 2) {
        for (size_t i = 0; i < o->functions.len; i++)
            memcpy(e->past[e->rounds][i], o->functions.at[i].counts.blocks,
                   o->functions.at[i].f->cfg->nblocks * sizeof(uint64_t));
        e->rounds++;
        return;
    }
    double step = step_of(e, o);
    for (size_t i = 0; step > 1 && i < o->functions.len; i++) take_step(e, o, i, step);
    e->rounds = 0;
}
