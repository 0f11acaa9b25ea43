/* Block weights: see blockweights.h. */
#include "perf/blockweights.h"

/* What a mispredicted branch adds to the size of a block. A guessed miss adds less: processors
 * mostly predict better than the guess. */
enum { GUESSED_MISS_TIME = 4, SAMPLED_MISS_TIME = 14, SAMPLED_MISS_INSTRUCTIONS = 10 };

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

double *fp_perf_block_samples(struct fp_arena *arena, const struct fp_perf_object *s,
                              const struct fp_machine_function *f, uint32_t event)
{
    double *samples = FP_NEW_ARRAY(arena, double, f->cfg->nblocks);
    for (size_t r = 0; r < f->ranges.len; r++) {
        uint64_t from = f->ranges.at[r].address, size = f->ranges.at[r].size;
        for (size_t i = first_hit(s, from); i < s->hits.len && s->hits.at[i].address - from < size;
             i++) {
            uint32_t insn = fp_machine_insn(f, s->hits.at[i].address, false);
            uint32_t block = insn == FP_NONE ? FP_NONE : f->insns.at[insn].block;
            if (block != FP_NONE) samples[block] += s->hits.at[i].samples[event];
        }
    }
    return samples;
}

/* A rough number of cycles: four simple instructions per cycle, more for slow ones. */
static double insn_time(const struct fp_insn *insn)
{
    double time = 0.25;
    if (insn->flags & FP_INSN_LOADS) time += 0.5;
    if (insn->flags & FP_INSN_STORES) time += 0.25;
    if (insn->flags & FP_INSN_MULTIPLIES) time += 1;
    if (insn->flags & FP_INSN_FLOATS) time += 0.5;
    if (insn->flags & FP_INSN_DIVIDES) time += 15;
    if (insn->flags & (FP_INSN_REPEATS | FP_INSN_LOCKED)) time += 15;
    switch ((enum fp_insn_kind)insn->kind) {
    case FP_INSN_SKIP:
    case FP_INSN_BRANCH: time += 0.5; break;
    case FP_INSN_JUMP_INDIRECT: time += 3; break;
    case FP_INSN_CALL:
    case FP_INSN_RETURN: time += 1; break;
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_JUMP:
    case FP_INSN_STOP: break;
    }
    return time;
}

double fp_block_size(const struct fp_machine_function *f, uint32_t block, enum fp_normalisation by)
{
    const struct fp_machine_block *b = &f->blocks[block];
    double size = 0;
    if (by == FP_BY_INSTRUCTIONS) return b->ninsns;
    for (uint32_t i = 0; i < b->ninsns; i++) size += insn_time(&f->insns.at[b->first_insn + i]);
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
                      const struct fp_branch_knowledge *k)
{
    double all = 0, wrong = 0;
    double each = GUESSED_MISS_TIME;
    if (k->misses) each = by == FP_BY_TIME ? SAMPLED_MISS_TIME : SAMPLED_MISS_INSTRUCTIONS;
    for (uint32_t i = f->cfg->first_in[block]; i < f->cfg->first_in[block + 1]; i++) {
        uint32_t e = f->cfg->in_edges[i];
        all += (double)k->edges[e];
        wrong += (double)k->edges[e] * surprise(f, e, k);
    }
    return all > 0 ? wrong / all * each : 0;
}

void fp_block_sizes(const struct fp_machine_function *f, enum fp_normalisation by,
                    const struct fp_branch_knowledge *k, double *sizes)
{
    bool use = k && (k->misses || by == FP_BY_TIME);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        sizes[b] = fp_block_size(f, b, by);
        if (use && f->blocks[b].ninsns) sizes[b] += penalty(f, b, by, k);
    }
}
