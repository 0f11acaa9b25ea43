/* Block weights: see blockweights.h. */
#include "perf/blockweights.h"

/* What a sampled misprediction adds to the size of a block. */
static const double SAMPLED_MISS_TIME = 14, SAMPLED_MISS_INSTRUCTIONS = 10;

static size_t first_hit(const struct fp_perf_object *s, uint64_t address)
{
    size_t low = 0, high = s->hits.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->hits.at[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double *fp_perf_insn_samples(struct fp_arena *arena, const struct fp_perf_object *s,
                             const struct fp_machine_function *f, uint32_t event)
{
    double *samples = FP_NEW_ARRAY(arena, double, f->insns.len + 1);
    for (size_t r = 0; r < f->ranges.len; r++) {
        uint64_t from = f->ranges.at[r].address, size = f->ranges.at[r].size;
        for (size_t i = first_hit(s, from); i < s->hits.len && s->hits.at[i].address - from < size;
             i++) {
            uint32_t insn = fp_machine_insn(f, s->hits.at[i].address, false);
            if (insn != FP_NONE) samples[insn] += s->hits.at[i].samples[event];
        }
    }
    return samples;
}

double *fp_perf_block_samples(struct fp_arena *arena, const struct fp_perf_object *s,
                              const struct fp_machine_function *f, uint32_t event)
{
    double *samples = FP_NEW_ARRAY(arena, double, f->cfg->nblocks);
    const double *insns = fp_perf_insn_samples(arena, s, f, event);
    for (uint32_t i = 0; i < f->insns.len; i++)
        if (f->insns.at[i].block != FP_NONE) samples[f->insns.at[i].block] += insns[i];
    return samples;
}

static double insn_time(const struct fp_insn_times *times, const struct fp_insn *insn)
{
    double time = times->any;
    if (insn->flags & FP_INSN_LOADS) time += times->loads;
    if (insn->flags & FP_INSN_STORES) time += times->stores;
    if (insn->flags & FP_INSN_MULTIPLIES) time += times->multiplies;
    if (insn->flags & FP_INSN_FLOATS) time += times->floats;
    if (insn->flags & (FP_INSN_DIVIDES | FP_INSN_FLOAT_DIVIDES)) time += times->divides;
    if (insn->flags & (FP_INSN_REPEATS | FP_INSN_LOCKED)) time += times->repeats;
    switch ((enum fp_insn_kind)insn->kind) {
    case FP_INSN_SKIP:
    case FP_INSN_BRANCH: time += times->branch; break;
    case FP_INSN_JUMP_INDIRECT: time += times->jump_indirect; break;
    case FP_INSN_CALL: time += times->call; break;
    case FP_INSN_RETURN: time += times->returns; break;
    case FP_INSN_JUMP: time += times->jump; break;
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_STOP: break;
    }
    return time;
}

double fp_block_size(const struct fp_machine_function *f, uint32_t block, enum fp_normalisation by,
                     const struct fp_fitted *fitted, const double *waits)
{
    const struct fp_machine_block *b = &f->blocks[block];
    const struct fp_insn_times *times = fitted ? &fitted->times : &fp_rough_times;
    if (by == FP_BY_INSTRUCTIONS || !b->ninsns) return b->ninsns;
    double size = times->block;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->ninsns; i++)
        size += insn_time(times, &f->insns.at[i]) + (fitted ? times->wait * waits[i] : 0);
    return size;
}

/* ---- mispredicted branches ---- */

static double leaving(const struct fp_machine_function *f, uint32_t block, const uint64_t *edges)
{
    double sum = 0;
    for (uint32_t e = f->cfg->first_out[block]; e < f->cfg->first_out[block + 1]; e++)
        sum += (double)edges[e];
    return sum;
}

/* The share of an edge's executions that were mispredicted. Without perf samples of misses: the
 * rarer the way, the larger the share. */
static double surprise(const struct fp_machine_function *f, uint32_t edge,
                       const struct fp_branch_knowledge *k)
{
    uint32_t src = f->cfg->edges[edge].src;
    double all = leaving(f, src, k->edges), here = (double)k->edges[edge];
    if (all <= 0 || here <= 0 || fp_cfg_out_degree(f->cfg, src) < 2) return 0;
    if (!k->misses) return 1 - here / all;
    /* the misses are shared out in proportion to that guess */
    double shares = 0;
    for (uint32_t e = f->cfg->first_out[src]; e < f->cfg->first_out[src + 1]; e++)
        shares += (double)k->edges[e] / all * (1 - (double)k->edges[e] / all);
    double rate = shares > 0 ? k->misses[src] / all * (1 - here / all) / shares : 0;
    return rate < 1 ? rate : 1;
}

static double penalty(const struct fp_machine_function *f, uint32_t block, enum fp_normalisation by,
                      const struct fp_branch_knowledge *k, const struct fp_fitted *fitted)
{
    double all = 0, wrong = 0;
    double each = fitted ? fitted->guessed_miss : 0;
    if (k->misses || k->landings)
        each = by == FP_BY_TIME ? SAMPLED_MISS_TIME : SAMPLED_MISS_INSTRUCTIONS;
    for (uint32_t i = f->cfg->first_in[block]; i < f->cfg->first_in[block + 1]; i++) {
        uint32_t e = f->cfg->in_edges[i];
        all += (double)k->edges[e];
        wrong += (double)k->edges[e] * surprise(f, e, k);
    }
    if (k->landings) wrong = k->landings[block] < all ? k->landings[block] : all;
    return all > 0 ? wrong / all * each : 0;
}

void fp_block_sizes(const struct fp_machine_function *f, enum fp_normalisation by,
                    const struct fp_branch_knowledge *k, const struct fp_fitted *fitted,
                    const double *waits, double *sizes)
{
    bool use = k && (k->misses || k->landings || by == FP_BY_TIME);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        sizes[b] = fp_block_size(f, b, by, fitted, waits);
        if (use && f->blocks[b].ninsns) sizes[b] += penalty(f, b, by, k, fitted);
    }
}
