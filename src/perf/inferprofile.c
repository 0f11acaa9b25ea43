/* Inference of a whole file of samples: events, blocks, functions, objects. */
#include "perf/inferprofile.h"

#include "base/names.h"
#include "perf/branches.h"
#include "perf/classify.h"
#include "perf/exactblocks.h"
#include "perf/insnwaits.h"
#include "perf/sampledobject.h"

#include <string.h>

struct infer_work {
    const struct fp_infer_job *job;
    struct fp_inferred *out;
    /* events; FP_NONE where they were not sampled. precise: instructions, by precise samples */
    uint32_t cycles, precise, misses, landings;
    double *stall_cycles; /* per event */
    double precise_scale; /* from its samples to those of the event that counts come from */
    double truth_scale;   /* samples per exact execution of an instruction */
    struct fp_exact_blocks truth;
    enum fp_normalisation by;
};

struct infer_object {
    struct infer_work *w;
    struct fp_arena arena;
    const struct fp_perf_object *s;
    struct fp_edge_profile *p;
    struct fp_sampled_object sampled;
};

/* ---- events ---- */

static bool counts_time(const struct fp_perf_event *event)
{
    return strstr(event->name, "clock") || strstr(event->name, "cycles") ||
           strstr(event->name, "CLK") || strstr(event->name, "CYCLES");
}

static bool counts_misses(const struct fp_perf_event *event)
{
    return strstr(event->name, "branch-misses") || strstr(event->name, "BR_MISP") ||
           strstr(event->name, "MISPREDICTED");
}

static bool counts_instructions_precisely(const struct fp_perf_event *event)
{
    return event->precise &&
           (strstr(event->name, "instructions") || strstr(event->name, "INST_RETIRED"));
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

static bool passed_over(const struct infer_work *w, uint32_t event)
{
    for (size_t i = 0; i < w->job->nwithout; i++)
        if (!strcmp(w->job->without[i], w->out->data.events.at[event].name)) return true;
    return false;
}

/* From processor manuals, for the events of our simulation; a job may have others. */
static const struct fp_stall known_stalls[] = {{"DTLB_MISS", 30}, {"L2_MISS", 165}};

static void find_stalls(struct infer_work *w)
{
    w->stall_cycles = FP_NEW_ARRAY(&w->out->arena, double, w->out->data.events.len);
    for (uint32_t e = 0; e < w->out->data.events.len; e++) {
        const char *name = w->out->data.events.at[e].name;
        if (passed_over(w, e)) continue;
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

static double mean_period(const struct infer_work *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->out->data.samples.len; i++)
        count += w->out->data.samples.at[i].event == w->out->event;
    double total = total_of(w, w->out->event);
    return total > 0 ? total / (double)count : 1; /* a file may say that periods are 0 */
}

static void find_other_events(struct infer_work *w)
{
    w->cycles = w->precise = w->misses = w->landings = FP_NONE;
    for (uint32_t e = 0; e < w->out->data.events.len; e++) {
        if (e == w->out->event || passed_over(w, e)) continue;
        if (counts_time(&w->out->data.events.at[e])) w->cycles = e;
        if (!w->job->classify) continue;
        if (counts_instructions_precisely(&w->out->data.events.at[e])) w->precise = e;
        /* the first level of precision names the instruction behind the one that counts */
        if (counts_misses(&w->out->data.events.at[e]))
            *(w->out->data.events.at[e].precise == 1 ? &w->landings : &w->misses) = e;
    }
    double precise = w->precise == FP_NONE ? 0 : total_of(w, w->precise);
    if (precise > 0) w->precise_scale = total_of(w, w->out->event) / precise;
}

static void classify_by_events(const struct infer_work *w, struct fp_arena *arena,
                               const struct fp_perf_object *s, const struct fp_machine_function *f,
                               uint8_t *classes)
{
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
        struct fp_block_events block = {
            f->blocks[b].ninsns, instructions[b],          cycles[b],
            stalled[b],          instructions[b] / period, cycles[b] / cycle_period};
        classes[b] = (uint8_t)(f->blocks[b].ninsns ? fp_classify(&block) : FP_CLASS_TRUSTED);
    }
}

/* By events, by exact counts, or by events where exact counts say the same. */
static const uint8_t *classify(void *context, struct fp_arena *arena,
                               const struct fp_machine_function *f, const double *weights)
{
    const struct infer_object *o = context;
    const struct infer_work *w = o->w;
    uint8_t *classes = FP_NEW_ARRAY(arena, uint8_t, f->cfg->nblocks);
    bool by_events = w->cycles != FP_NONE && (!w->job->truth || w->job->confirm);
    if (by_events) classify_by_events(w, arena, o->s, f, classes);
    if (!w->job->truth) return classes;
    const double *exact = fp_exact_blocks_of(arena, &w->truth, o->p, f);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        enum fp_perf_class class = fp_classify_exactly(weights[b] / w->truth_scale, exact[b]);
        if (by_events && classes[b] != class) class = FP_CLASS_TRUSTED;
        classes[b] = (uint8_t)class;
    }
    return classes;
}

/* ---- functions ---- */

/* Samples that skid and precise ones are wrong in different ways, so their mean is nearer. */
static double *samples_of(const struct infer_work *w, struct fp_arena *scratch,
                          const struct fp_perf_object *s, const struct fp_machine_function *f)
{
    double *samples = fp_perf_block_samples(scratch, s, f, w->out->event);
    if (w->job->model != FP_COSTS_FOOTPATH || w->by != FP_BY_INSTRUCTIONS || w->precise_scale <= 0)
        return samples;
    const double *precise = fp_perf_block_samples(scratch, s, f, w->precise);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++)
        samples[b] = (samples[b] + w->precise_scale * precise[b]) / 2;
    return samples;
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
    fp_block_sizes(f, FP_BY_INSTRUCTIONS, NULL, NULL, NULL, sizes);
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

/* The function at an address, once; NULL where there is none. */
static struct fp_machine_function *visit(struct infer_work *w, struct infer_object *o, bool *done,
                                         uint64_t address)
{
    struct fp_machine_function *f = fp_machine_find(&o->p->machine, address);
    if (!f || done[f - o->p->machine.functions]) return f;
    done[f - o->p->machine.functions] = true;
    fp_machine_build(&o->p->machine, f);
    if (!f->cfg) return f;
    struct fp_sampled_function one = {.f = f,
                                      .samples = samples_of(w, &o->arena, o->s, f),
                                      .insns =
                                          fp_perf_insn_samples(&o->arena, o->s, f, w->out->event),
                                      .waits = fp_insn_waits(&o->arena, o->p->machine.object, f)};
    if (w->misses != FP_NONE) one.misses = fp_perf_block_samples(&o->arena, o->s, f, w->misses);
    if (w->landings != FP_NONE)
        one.landings = fp_perf_block_samples(&o->arena, o->s, f, w->landings);
    fp_vec_push(&o->arena, &o->sampled.functions, one);
    return f;
}

static void add_function(struct infer_object *o, const struct fp_machine_function *f,
                         const struct fp_edge_counts *counts)
{
    fp_edge_profile_add(o->p, f, counts->entries, counts->edges);
    o->w->out->functions++;
}

/* Counts by samples and by records have different units, so an object uses one kind. */
static void infer_functions(struct infer_work *w, struct infer_object *o)
{
    bool records = has_records(w, o->s);
    if (!records) fp_sampled_infer(&o->arena, &o->sampled);
    for (size_t i = 0; i < o->sampled.functions.len; i++) {
        struct fp_sampled_function *one = &o->sampled.functions.at[i];
        struct fp_arena scratch = {0};
        if (!records || infer_from_branches(w, &scratch, o->s, one->f, &one->counts))
            add_function(o, one->f, &one->counts);
        fp_arena_free(&scratch);
    }
}

/* Where samples have registers. Branch records say more than these; the literature's costs know of
 * neither. */
static void follow_samples(struct infer_work *w, struct infer_object *o)
{
    bool follow = w->job->model == FP_COSTS_FOOTPATH && !w->job->no_registers;
    if (!follow || has_records(w, o->s) || !o->s->register_hits.len) return;
    struct fp_forward *forward = FP_NEW(&o->arena, struct fp_forward);
    fp_forward_follow(&o->arena, &o->p->machine, o->s, w->out->event, forward);
    if (!forward->walks) return; /* registers are of other events */
    o->sampled.forward = forward;
    w->out->walks += forward->walks;
}

static void infer_object(struct infer_work *w, const struct fp_perf_object *s)
{
    struct infer_object o = {.w = w, .s = s};
    struct fp_embedded_map *map = FP_NEW(&w->out->arena, struct fp_embedded_map);
    o.p = FP_NEW(&w->out->arena, struct fp_edge_profile);
    fp_edge_profile_init(o.p, &w->out->arena, s->object);
    o.sampled = (struct fp_sampled_object){.machine = &o.p->machine,
                                           .model = w->job->model,
                                           .by = w->by,
                                           .period = mean_period(w),
                                           .context = &o};
    if (w->job->classify && (w->job->truth || w->cycles != FP_NONE)) o.sampled.classify = classify;
    bool *done = FP_NEW_ARRAY(&w->out->arena, bool, o.p->machine.nfunctions);
    for (size_t i = 0; i < s->hits.len; i++)
        if (visit(w, &o, done, s->hits.at[i].address))
            w->out->samples += s->hits.at[i].counts[w->out->event];
    for (size_t i = 0; has_records(w, s) && i < s->spans.len; i++)
        if (visit(w, &o, done, s->spans.at[i].from)) w->out->records += s->spans.at[i].count;
    follow_samples(w, &o);
    infer_functions(w, &o);
    fp_vec_push(&w->out->arena, &w->out->profiles, o.p);
    static char *no_args[] = {(char *)"(sampled)"};
    struct fp_run run = fp_edge_profile_run(o.p, map, no_args, 1);
    if (o.p->nfunctions) fp_vec_push(&w->out->arena, &w->out->runs, run);
    fp_arena_free(&o.arena);
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
    find_other_events(&w);
    fp_attribute(&out->arena, &out->data, job->binary, &out->found);
    /* of several programs in a profile the last is shown: the one with most samples */
    for (size_t i = out->found.objects.len; i-- > 0;) {
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
