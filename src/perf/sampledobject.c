/* Counts of all sampled functions of one object: see sampledobject.h. */
#include "perf/sampledobject.h"

#include "perf/robustsamples.h"

/* The first rounds find a start; the last ones are averaged, since rounds may swing between two
 * solutions. */
enum { ROUNDS = 6, AVERAGED = 3, ROUNDS_BY_INSTRUCTIONS = 4, FIRST_WITH_CALLS = 2 };

/* What the two sides of a call say about each other, as blocks of these sizes would. */
static const double CALLERS_SIZE = 22, CALLEE_SIZE = 32;

struct sampled_work {
    struct fp_sampled_object *o;
    struct fp_arena *arena;
    uint32_t *index; /* per function of the machine: 1 + index among those sampled */
    unsigned rounds;
    bool robust; /* times by our own model */
};

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
    uint32_t i = w->index[f - w->o->machine->functions];
    return i ? &w->o->functions.at[i - 1] : NULL;
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
        samples[insn->block] += CALLEE_SIZE * part * (double)callee->counts.entries;
        sizes[insn->block] += CALLEE_SIZE;
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
        samples[b] = round ? fp_clipped_samples(s->f, b, s->insns, expected, w->o->period)
                           : fp_capped_samples(s->f, b, s->insns);
    }
}

static double *trusts_of(const struct sampled_work *w, struct fp_arena *scratch,
                         const struct fp_sampled_function *s, unsigned round, const double *weights)
{
    double *trusts = FP_NEW_ARRAY(scratch, double, s->f->cfg->nblocks);
    for (uint32_t b = 0; b < s->f->cfg->nblocks; b++) {
        trusts[b] = fp_block_trust(s->f->blocks[b].ninsns);
        if (round)
            trusts[b] *= fp_sample_trust(weights[b], (double)s->counts.blocks[b], w->o->period);
    }
    return trusts;
}

static uint64_t halfway(uint64_t a, uint64_t b)
{
    return a / 2 + b / 2 + (a & b & 1);
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

/* Halfway between rounds: what the next round is told about this one. */
static void keep_counts(const struct sampled_work *w, struct fp_sampled_function *s,
                        const struct fp_edge_counts *now, unsigned round)
{
    const struct fp_cfg *cfg = s->f->cfg;
    if (!round || !w->robust) {
        s->counts = *now;
        return;
    }
    for (uint32_t e = 0; e < cfg->nedges; e++)
        s->counts.edges[e] = halfway(s->counts.edges[e], now->edges[e]);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        s->counts.blocks[b] = halfway(s->counts.blocks[b], now->blocks[b]);
    s->counts.entries = halfway(s->counts.entries, now->entries);
    if (round + AVERAGED >= w->rounds) add_flow(w->arena, cfg, now, &s->sum);
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
    fp_block_sizes(s->f, w->o->by, round ? &known : NULL, w->robust ? s->waits : NULL, sizes);
    if (w->robust && round >= FIRST_WITH_CALLS) {
        add_callees(w, s, samples, sizes);
        if (s->calls > 0) in.entries = s->calls, in.entry_size = CALLERS_SIZE;
    }
    for (uint32_t b = 0; b < nblocks; b++) weights[b] = sizes[b] > 0 ? samples[b] / sizes[b] : 0;
    for (uint32_t b = 0; w->robust && b < nblocks; b++) s->sizes[b] = sizes[b];
    in.sizes = sizes;
    in.weights = weights;
    if (w->o->classify) in.classes = w->o->classify(w->o->context, &scratch, s->f, weights);
    if (w->robust) in.trusts = trusts_of(w, &scratch, s, round, weights);
    fp_infer(w->arena, &in, &now);
    keep_counts(w, s, &now, round);
    fp_arena_free(&scratch);
}

/* ---- */

void fp_sampled_infer(struct fp_arena *arena, struct fp_sampled_object *o)
{
    struct sampled_work w = {.o = o, .arena = arena, .rounds = 1};
    bool ours = o->model == FP_COSTS_FOOTPATH;
    w.robust = ours && o->by == FP_BY_TIME;
    if (w.robust)
        w.rounds = ROUNDS;
    else if (ours && o->functions.len && (o->functions.at[0].misses || o->functions.at[0].landings))
        w.rounds = ROUNDS_BY_INSTRUCTIONS;
    w.index = FP_NEW_ARRAY(arena, uint32_t, o->machine->nfunctions);
    for (size_t i = 0; i < o->functions.len; i++) {
        struct fp_sampled_function *s = &o->functions.at[i];
        w.index[s->f - o->machine->functions] = (uint32_t)i + 1;
        if (w.robust) s->sizes = FP_NEW_ARRAY(arena, double, s->f->cfg->nblocks);
    }
    for (unsigned round = 0; round < w.rounds; round++) {
        for (size_t i = 0; i < o->functions.len; i++) infer_one(&w, &o->functions.at[i], round);
        count_calls(&w);
    }
    for (size_t i = 0; w.robust && i < o->functions.len; i++)
        o->functions.at[i].counts = o->functions.at[i].sum;
}
