/* Counts of all sampled functions of one object: see sampledobject.h. */
#include "perf/sampledobject.h"

#include "perf/extrapolate.h"
#include "perf/robustsamples.h"
#include "perf/sampledways.h"

/* Of instructions, where mispredictions were sampled; the first that knows of calls; the first that
 * is extrapolated. */
enum { ROUNDS_BY_INSTRUCTIONS = 4, FIRST_WITH_CALLS = 2, FIRST_EXTRAPOLATED = 3 };

struct sampled_work {
    struct fp_sampled_object *o;
    struct fp_arena *arena;
    const struct fp_fitted *fitted;
    unsigned rounds, averaged; /* the last ones are averaged: rounds may swing */
    bool robust;               /* times by our own model */
};

struct fp_sampled_function *fp_sampled_function_of(const struct fp_sampled_object *o,
                                                   uint32_t function)
{
    return o->index[function] ? &o->functions.at[o->index[function] - 1] : NULL;
}

/* ---- calls ---- */

/* The sampled function that an instruction calls, also by a tail call. */
static struct fp_sampled_function *callee_of(const struct sampled_work *w,
                                             const struct fp_sampled_function *caller,
                                             const struct fp_insn *insn)
{
    bool call = insn->kind == FP_INSN_CALL || insn->kind == FP_INSN_JUMP;
    if (!call || !insn->target) return NULL;
    const struct fp_machine_function *f = fp_machine_find(w->o->machine, insn->target);
    if (!f || f == caller->f || f->symbol->address != insn->target) return NULL;
    return fp_sampled_function_of(w->o, (uint32_t)(f - w->o->machine->functions));
}

static void count_calls(struct sampled_work *w)
{
    for (size_t i = 0; i < w->o->functions.len; i++) w->o->functions.at[i].calls = 0;
    for (size_t i = 0; i < w->o->functions.len; i++) {
        const struct fp_sampled_function *s = &w->o->functions.at[i];
        for (size_t k = 0; k < s->f->insns.len; k++) {
            const struct fp_insn *insn = &s->f->insns.at[k];
            struct fp_sampled_function *callee =
                insn->block == FP_NONE ? NULL : callee_of(w, s, insn);
            if (callee) callee->calls += (double)s->counts.blocks[insn->block];
        }
    }
}

/* A block that calls ran as often as its part of the callee's entries. */
static void add_callees(const struct sampled_work *w, const struct fp_sampled_function *s,
                        double *samples, double *sizes)
{
    for (size_t k = 0; k < s->f->insns.len; k++) {
        const struct fp_insn *insn = &s->f->insns.at[k];
        const struct fp_sampled_function *callee =
            insn->block == FP_NONE ? NULL : callee_of(w, s, insn);
        if (!callee || callee->calls <= 0) continue;
        double part = (double)s->counts.blocks[insn->block] / callee->calls;
        samples[insn->block] += w->fitted->callee_size * part * (double)callee->counts.entries;
        sizes[insn->block] += w->fitted->callee_size;
    }
}

/* ---- one function, one round ---- */

static void robust_samples(const struct sampled_work *w, const struct fp_sampled_function *s,
                           unsigned round, double *samples)
{
    for (uint32_t b = 0; b < s->f->cfg->nblocks; b++) {
        uint32_t n = s->f->blocks[b].ninsns;
        if (!n) continue;
        double expected = round ? (double)s->counts.blocks[b] * s->sizes[b] / n : 0;
        samples[b] = round
                         ? fp_clipped_samples(w->fitted, s->f, b, s->insns, expected, w->o->period)
                         : fp_capped_samples(w->fitted, s->f, b, s->insns);
    }
}

static double *trusts_of(const struct sampled_work *w, struct fp_arena *scratch,
                         const struct fp_sampled_function *s, unsigned round, const double *weights)
{
    double *trusts = FP_NEW_ARRAY(scratch, double, s->f->cfg->nblocks);
    for (uint32_t b = 0; b < s->f->cfg->nblocks; b++) {
        trusts[b] = fp_block_trust(w->fitted, s->f->blocks[b].ninsns);
        if (round)
            trusts[b] *=
                fp_sample_trust(w->fitted, weights[b], (double)s->counts.blocks[b], w->o->period);
    }
    return trusts;
}

static uint64_t between(const struct sampled_work *w, uint64_t before, uint64_t now)
{
    return (uint64_t)((double)before + w->fitted->new_part * ((double)now - (double)before) + 0.5);
}

/* A sum of flows is a flow. */
static void add_flow(struct fp_arena *arena, const struct fp_cfg *cfg,
                     const struct fp_edge_counts *now, struct fp_edge_counts *sum)
{
    if (!sum->edges) {
        sum->edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges);
        sum->blocks = FP_NEW_ARRAY(arena, uint64_t, cfg->nblocks);
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) sum->edges[e] += now->edges[e];
    for (uint32_t b = 0; b < cfg->nblocks; b++) sum->blocks[b] += now->blocks[b];
    sum->entries += now->entries;
}

/* What the next round is told about this one. */
static void keep_counts(const struct sampled_work *w, struct fp_sampled_function *s,
                        const struct fp_edge_counts *now, unsigned round)
{
    const struct fp_cfg *cfg = s->f->cfg;
    if (!round || !w->averaged) {
        s->counts = *now;
        return;
    }
    for (uint32_t e = 0; e < cfg->nedges; e++)
        s->counts.edges[e] = between(w, s->counts.edges[e], now->edges[e]);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        s->counts.blocks[b] = between(w, s->counts.blocks[b], now->blocks[b]);
    s->counts.entries = between(w, s->counts.entries, now->entries);
    if (round + w->averaged >= w->rounds) add_flow(w->arena, cfg, now, &s->sum);
}

static void infer_one(const struct sampled_work *w, struct fp_sampled_function *s, unsigned round)
{
    struct fp_arena scratch = {0};
    uint32_t nblocks = s->f->cfg->nblocks;
    double *sizes = FP_NEW_ARRAY(&scratch, double, nblocks);
    double *samples = FP_NEW_ARRAY(&scratch, double, nblocks);
    double *weights = FP_NEW_ARRAY(&scratch, double, nblocks);
    struct fp_branch_knowledge known = {s->counts.edges, s->misses, s->landings};
    struct fp_inference in = {.cfg = s->f->cfg, .model = w->o->model, .entries = -1};
    struct fp_edge_counts now;
    for (uint32_t b = 0; b < nblocks; b++) samples[b] = s->samples[b];
    if (w->robust) robust_samples(w, s, round, samples);
    fp_block_sizes(s->f, w->o->by, round ? &known : NULL, w->robust ? w->fitted : NULL, s->waits,
                   sizes);
    if (w->robust && round >= FIRST_WITH_CALLS) {
        add_callees(w, s, samples, sizes);
        if (s->calls > 0) in.entries = s->calls, in.entry_size = w->fitted->callers_size;
    }
    for (uint32_t b = 0; b < nblocks; b++) weights[b] = sizes[b] > 0 ? samples[b] / sizes[b] : 0;
    for (uint32_t b = 0; b < nblocks; b++) s->sizes[b] = sizes[b];
    in.sizes = sizes;
    in.weights = weights;
    if (w->o->classify) in.classes = w->o->classify(w->o->context, &scratch, s->f, weights);
    if (w->o->forward && round) fp_sampled_ways_add(&scratch, s, &in);
    if (w->robust) in.trusts = trusts_of(w, &scratch, s, round, weights);
    fp_infer(w->arena, &in, &now);
    keep_counts(w, s, &now, round);
    fp_arena_free(&scratch);
}

/* ---- */

static void plan_rounds(struct sampled_work *w)
{
    const struct fp_sampled_object *o = w->o;
    bool ours = o->model == FP_COSTS_FOOTPATH;
    const struct fp_sampled_function *first = o->functions.len ? &o->functions.at[0] : NULL;
    w->robust = ours && o->by == FP_BY_TIME;
    w->fitted = fp_fitted(o->forward);
    w->rounds = 1;
    if (o->forward || w->robust)
        w->rounds = w->fitted->rounds, w->averaged = w->fitted->averaged;
    else if (ours && first && (first->misses || first->landings))
        w->rounds = ROUNDS_BY_INSTRUCTIONS;
}

static void make_room(struct fp_arena *arena, struct fp_sampled_object *o)
{
    o->index = FP_NEW_ARRAY(arena, uint32_t, o->machine->nfunctions);
    for (size_t i = 0; i < o->functions.len; i++) {
        struct fp_sampled_function *s = &o->functions.at[i];
        o->index[s->f - o->machine->functions] = (uint32_t)i + 1;
        s->sizes = FP_NEW_ARRAY(arena, double, s->f->cfg->nblocks);
        s->ways = FP_NEW_ARRAY(arena, double, s->f->cfg->nedges);
        s->walks = FP_NEW_ARRAY(arena, double, s->f->cfg->nblocks);
    }
}

void fp_sampled_infer(struct fp_arena *arena, struct fp_sampled_object *o)
{
    struct sampled_work w = {.o = o, .arena = arena};
    struct fp_extrapolation extrapolation;
    plan_rounds(&w);
    make_room(arena, o);
    fp_extrapolation_init(&extrapolation, arena, o);
    for (unsigned round = 0; round < w.rounds; round++) {
        for (size_t i = 0; i < o->functions.len; i++) infer_one(&w, &o->functions.at[i], round);
        if (o->forward && round >= FIRST_EXTRAPOLATED) fp_extrapolate(&extrapolation, o);
        count_calls(&w);
        if (o->forward) fp_sampled_ways_count(o);
    }
    for (size_t i = 0; w.averaged && i < o->functions.len; i++)
        o->functions.at[i].counts = o->functions.at[i].sum;
}
