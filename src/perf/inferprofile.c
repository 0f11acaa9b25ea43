/* Inference of a whole file of samples: events, blocks, functions, objects. */
#include "perf/inferprofile.h"

#include "base/names.h"
#include "perf/branches.h"
#include "perf/classify.h"
#include "perf/exactblocks.h"

#include <string.h>

enum { ROUNDS = 4 };

struct infer_work {
    const struct fp_infer_job *job;
    struct fp_inferred *out;
    uint32_t cycles, misses; /* events; FP_NONE where they were not sampled */
    double *stall_cycles;    /* per event */
    double mean_cpi;
    double truth_scale; /* samples per exact execution of an instruction */
    struct fp_exact_blocks truth;
    enum fp_normalisation by;
};

/* ---- events ---- */

static bool counts_time(const struct fp_perf_event *event)
{
    return strstr(event->name, "clock") || strstr(event->name, "cycles") ||
           strstr(event->name, "CLK") || strstr(event->name, "CYCLES");
}

static bool counts_misses(const struct fp_perf_event *event)
{
    return strstr(event->name, "branch-misses") || strstr(event->name, "BR_MISP");
}

static void choose_event(const struct fp_infer_job *job, struct fp_inferred *out)
{
    const struct fp_perf_data *data = &out->data;
    for (out->event = 0; job->event && out->event < data->events.len; out->event++)
        if (!strcmp(data->events.at[out->event].name, job->event)) break;
}

static enum fp_normalisation normalisation(const struct fp_infer_job *job,
                                           const struct fp_perf_event *event)
{
    switch (job->by) {
    case FP_INFER_BY_EVENT: break;
    case FP_INFER_BY_INSTRUCTIONS: return FP_BY_INSTRUCTIONS;
    case FP_INFER_BY_TIME: return FP_BY_TIME;
    }
    return counts_time(event) ? FP_BY_TIME : FP_BY_INSTRUCTIONS;
}

/* ---- several events: classification ---- */

/* From processor manuals, for the events of our simulation; a job may have others. */
static const struct fp_stall known_stalls[] = {{"DTLB_MISS", 30}, {"L2_MISS", 120}};

static void find_stalls(struct infer_work *w)
{
    w->stall_cycles = FP_NEW_ARRAY(&w->out->arena, double, w->out->data.events.len);
    for (uint32_t e = 0; e < w->out->data.events.len; e++) {
        const char *name = w->out->data.events.at[e].name;
        for (size_t i = 0; i < sizeof known_stalls / sizeof *known_stalls; i++)
            if (!strcmp(known_stalls[i].event, name)) w->stall_cycles[e] = known_stalls[i].cycles;
        for (size_t i = 0; i < w->job->nstalls; i++)
            if (!strcmp(w->job->stalls[i].event, name))
                w->stall_cycles[e] = w->job->stalls[i].cycles;
    }
}

static double total_of(const struct infer_work *w, uint32_t event)
{
    double sum = 0;
    for (size_t i = 0; i < w->out->data.samples.len; i++)
        if (w->out->data.samples.at[i].event == event)
            sum += (double)w->out->data.samples.at[i].period;
    return sum;
}

static void find_cycles(struct infer_work *w)
{
    w->cycles = w->misses = FP_NONE;
    for (uint32_t e = 0; e < w->out->data.events.len; e++) {
        if (e == w->out->event) continue;
        if (counts_time(&w->out->data.events.at[e])) w->cycles = e;
        if (counts_misses(&w->out->data.events.at[e]) && w->job->classify) w->misses = e;
    }
    if (w->cycles == FP_NONE) return;
    double instructions = total_of(w, w->out->event);
    w->mean_cpi = instructions > 0 ? total_of(w, w->cycles) / instructions : 1;
}

static uint8_t *classify(struct infer_work *w, struct fp_arena *arena,
                         const struct fp_perf_object *s, struct fp_edge_profile *p,
                         const struct fp_machine_function *f, const double *weights)
{
    uint8_t *classes = FP_NEW_ARRAY(arena, uint8_t, f->cfg->nblocks);
    if (w->job->truth) {
        const double *exact = fp_exact_blocks_of(arena, &w->truth, p, f);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            classes[b] = (uint8_t)fp_classify_exactly(weights[b] / w->truth_scale, exact[b]);
        return classes;
    }
    const double *instructions = fp_perf_block_samples(arena, s, f, w->out->event);
    const double *cycles = fp_perf_block_samples(arena, s, f, w->cycles);
    double *stalled = FP_NEW_ARRAY(arena, double, f->cfg->nblocks);
    for (uint32_t e = 0; e < w->out->data.events.len; e++) {
        if (w->stall_cycles[e] <= 0) continue;
        const double *events = fp_perf_block_samples(arena, s, f, e);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++) stalled[b] += w->stall_cycles[e] * events[b];
    }
    double period = (double)w->out->data.events.at[w->out->event].period,
           cycle_period = (double)w->out->data.events.at[w->cycles].period;
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        struct fp_block_events block = {instructions[b], cycles[b], stalled[b],
                                        instructions[b] / period, cycles[b] / cycle_period};
        classes[b] = (uint8_t)fp_classify(&block, w->mean_cpi);
    }
    return classes;
}

/* ---- functions ---- */

/* Counts of block weights: samples over sizes. */
static void infer_from_samples(struct infer_work *w, struct fp_arena *scratch,
                               const struct fp_perf_object *s, struct fp_edge_profile *p,
                               struct fp_machine_function *f, struct fp_edge_counts *counts)
{
    struct fp_inference in = {.cfg = f->cfg, .model = w->job->model, .entries = -1};
    double *sizes = FP_NEW_ARRAY(scratch, double, f->cfg->nblocks);
    double *weights = FP_NEW_ARRAY(scratch, double, f->cfg->nblocks);
    double *samples = fp_perf_block_samples(scratch, s, f, w->out->event);
    const double *misses =
        w->misses == FP_NONE ? NULL : fp_perf_block_samples(scratch, s, f, w->misses);
    /* samples pile up behind mispredicted branches; the first round of inference finds those */
    bool again = in.model == FP_COSTS_FOOTPATH && (w->by == FP_BY_TIME || misses);
    unsigned rounds = again ? ROUNDS : 1;
    for (unsigned round = 0; round < rounds; round++) {
        fp_block_sizes(f, w->by,
                       round ? &(struct fp_branch_knowledge){counts->edges, misses} : NULL, sizes);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            weights[b] = sizes[b] > 0 ? samples[b] / sizes[b] : 0;
        in.sizes = sizes;
        in.weights = weights;
        if (w->job->classify && (w->job->truth || w->cycles != FP_NONE))
            in.classes = classify(w, scratch, s, p, f, weights);
        fp_infer(scratch, &in, counts);
    }
}

/* Counts blocks and edges by branch records. Their ends contradict each other; inference
 * corrects that. False if no record is in the function. */
static bool infer_from_branches(struct infer_work *w, struct fp_arena *scratch,
                                const struct fp_perf_object *s, struct fp_machine_function *f,
                                struct fp_edge_counts *counts)
{
    struct fp_branch_counts branches;
    fp_branch_count(scratch, s, f, &branches);
    if (branches.total <= 0) return false;
    double *sizes = FP_NEW_ARRAY(scratch, double, f->cfg->nblocks);
    fp_block_sizes(f, FP_BY_INSTRUCTIONS, NULL, sizes);
    struct fp_inference in = {.cfg = f->cfg,
                              .model = w->job->model,
                              .entries = -1,
                              .sizes = sizes,
                              .weights = branches.blocks,
                              .edge_weights = branches.edges};
    fp_infer(scratch, &in, counts);
    return true;
}

static bool has_records(const struct infer_work *w, const struct fp_perf_object *s)
{
    return s->spans.len && !w->job->no_branches;
}

/* Counts by samples and by records have different units, so an object uses one kind. */
static void infer_function(struct infer_work *w, const struct fp_perf_object *s,
                           struct fp_edge_profile *p, struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_edge_counts counts;
    bool found = true;
    if (has_records(w, s))
        found = infer_from_branches(w, &scratch, s, f, &counts);
    else
        infer_from_samples(w, &scratch, s, p, f, &counts);
    if (found) {
        fp_edge_profile_add(p, f, counts.entries, counts.edges);
        w->out->functions++;
    }
    fp_arena_free(&scratch);
}

/* The function at an address, once; NULL where there is none. */
static struct fp_machine_function *visit(struct infer_work *w, const struct fp_perf_object *s,
                                         struct fp_edge_profile *p, bool *done, uint64_t address)
{
    struct fp_machine_function *f = fp_machine_find(&p->machine, address);
    if (!f || done[f - p->machine.functions]) return f;
    done[f - p->machine.functions] = true;
    fp_machine_build(&p->machine, f);
    if (f->cfg) infer_function(w, s, p, f);
    return f;
}

static void infer_object(struct infer_work *w, const struct fp_perf_object *s)
{
    struct fp_edge_profile *p = FP_NEW(&w->out->arena, struct fp_edge_profile);
    struct fp_embedded_map *map = FP_NEW(&w->out->arena, struct fp_embedded_map);
    fp_edge_profile_init(p, &w->out->arena, s->object);
    bool *done = FP_NEW_ARRAY(&w->out->arena, bool, p->machine.nfunctions);
    for (size_t i = 0; i < s->hits.len; i++)
        if (visit(w, s, p, done, s->hits.at[i].address))
            w->out->samples += s->hits.at[i].counts[w->out->event];
    for (size_t i = 0; has_records(w, s) && i < s->spans.len; i++)
        if (visit(w, s, p, done, s->spans.at[i].from)) w->out->records += s->spans.at[i].count;
    fp_vec_push(&w->out->arena, &w->out->profiles, p);
    static char *no_args[] = {(char *)"(sampled)"};
    struct fp_run run = fp_edge_profile_run(p, map, no_args, 1);
    if (p->nfunctions) fp_vec_push(&w->out->arena, &w->out->runs, run);
}

/* ---- the whole file ---- */

bool fp_infer_wants(const struct fp_infer_job *job, const struct fp_perf_object *object)
{
    return !job->module || strstr(fp_base_name(object->path), job->module);
}

/* Exact counts are scaled to the samples by their totals. */
static void scale_truth(struct infer_work *w)
{
    if (!w->job->truth) return;
    fp_exact_blocks_init(&w->truth, &w->out->arena, w->job->truth);
    double truth = 0;
    for (size_t i = 0; i < w->truth.matcher.refs.len; i++) {
        const struct fp_function_ref *ref = &w->truth.matcher.refs.at[i];
        struct fp_arena scratch = {0};
        struct fp_counts counts;
        struct fp_edge_counts edges;
        struct fp_error error = {0};
        fp_profile_counts(&scratch, ref->module, ref->function, &counts);
        if (fp_edges_of(&scratch, &counts, &edges, &error))
            for (uint32_t b = 0; b < ref->function->paths.cfg->nblocks; b++)
                truth += (double)edges.blocks[b] * ref->function->source.blocks[b].instructions;
        fp_arena_free(&scratch);
    }
    w->truth_scale = truth > 0 ? total_of(w, w->out->event) / truth : 1;
}

bool fp_infer_read(const struct fp_infer_job *job, struct fp_inferred *out, struct fp_error *error)
{
    *out = (struct fp_inferred){0};
    if (!fp_perf_read(&out->arena, job->input, &out->data, error)) return false;
    choose_event(job, out);
    return true;
}

void fp_infer_profile(const struct fp_infer_job *job, struct fp_inferred *out)
{
    struct infer_work w = {.job = job, .out = out};
    w.by = normalisation(job, &out->data.events.at[out->event]);
    scale_truth(&w);
    find_stalls(&w);
    find_cycles(&w);
    fp_attribute(&out->arena, &out->data, job->binary, &out->found);
    for (size_t i = 0; i < out->found.objects.len; i++) {
        const struct fp_perf_object *s = out->found.objects.at[i];
        if (s->object && !s->problem.set && s->samples && fp_infer_wants(job, s))
            infer_object(&w, s);
    }
}

void fp_inferred_free(struct fp_inferred *inferred)
{
    for (size_t i = 0; i < inferred->profiles.len; i++)
        fp_edge_profile_free(inferred->profiles.at[i]);
    fp_attribution_close(&inferred->found);
    fp_arena_free(&inferred->arena);
}
