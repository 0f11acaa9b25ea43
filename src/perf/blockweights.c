/* Block weights: see blockweights.h. */
#include "perf/blockweights.h"

/* What a mispredicted branch adds to the size of a block. A guessed miss adds less: processors
 * mostly predict better than the guess. */
static const double GUESSED_MISS_TIME = 3.8, SAMPLED_MISS_TIME = 14, SAMPLED_MISS_INSTRUCTIONS = 10;

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

/* Cycles of an instruction of this kind, on average; parts add up. */
struct insn_times {
    double any, loads, stores, multiplies, floats, divides, repeats;
    double branch, jump, jump_indirect, call, returns;
    double wait; /* of a cycle that it waits for others (insnwaits.h) */
    double block;
};

/* Four simple instructions per cycle, more for slow ones. */
static const struct insn_times rough = {.any = 0.25,
                                        .loads = 0.5,
                                        .stores = 0.25,
                                        .multiplies = 1,
                                        .floats = 0.5,
                                        .divides = 15,
                                        .repeats = 15,
                                        .branch = 0.5,
                                        .jump_indirect = 3,
                                        .call = 1,
                                        .returns = 1};

/* Fitted to clock samples of programs by gcc and clang (docs/perf.md says which). Floats are too
 * rare in these to fit: two additions and two multiplications start in a cycle. */
static const struct insn_times fitted = {
    .any = 0.47,
    .loads = 0.86,
    .stores = 0.18,
    .multiplies = 2,
    .floats = 0.5,
    .divides = 15,
    .repeats = 15,
    .branch = 0.45,
    .jump = 0.34,
    .jump_indirect = 0.86,
    .call = 2.3,
    .returns = 1.5,
    .wait = 0.2,
    .block = 0.11,
};

static double insn_time(const struct insn_times *times, const struct fp_insn *insn)
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
                     const double *waits)
{
    const struct fp_machine_block *b = &f->blocks[block];
    const struct insn_times *times = waits ? &fitted : &rough;
    if (by == FP_BY_INSTRUCTIONS || !b->ninsns) return b->ninsns;
    double size = times->block;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->ninsns; i++)
        size += insn_time(times, &f->insns.at[i]) + (waits ? times->wait * waits[i] : 0);
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
                    const struct fp_branch_knowledge *k, const double *waits, double *sizes)
{
    bool use = k && (k->misses || k->landings || by == FP_BY_TIME);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        sizes[b] = fp_block_size(f, b, by, waits);
        if (use && f->blocks[b].ninsns) sizes[b] += penalty(f, b, by, k);
    }
}
