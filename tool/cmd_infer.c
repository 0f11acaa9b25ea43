/* footpath infer: from samples of an ordinary program to an edge profile. */
#include "commands.h"

#include "perf/classify.h"
#include "perf/infer.h"
#include "perf/attribute.h"
#include "perf/branches.h"
#include "binary/edgeprofile.h"
#include "perf/exactblocks.h"
#include "perf/blockweights.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the profile (footpath.prof)"},
    {"--costs", "MODEL", "footpath, profi, levin, paper, raw (footpath)"},
    {"--event", "NAME", "the event to estimate counts from (the first)"},
    {"--by", "WHAT", "normalise by instructions or by time (as the event says)"},
    {"--stall", "EVENT=CYCLES", "paper: an event that stalls, and for how long (repeatable)"},
    {"--classify", NULL, "use several events to classify blocks, whatever the costs"},
    {"--no-branches", NULL, "do not use branch records, where the file has them"},
    {"--truth", "PROFILE", "paper: classify by exact counts, to see what is possible"},
    {"--module", "NAME", "only this program or library"},
    {"--binary", "FILE", "the program that was sampled, where it is not at its old place"},
    {NULL, NULL, NULL},
};
enum { OUTPUT, COSTS, EVENT, BY, STALL, CLASSIFY, NO_BRANCHES, TRUTH, MODULE, BINARY };

enum { FEWEST_SAMPLES = 20, ROUNDS = 4 };

struct stall {
    const char *event;
    double cycles;
};

struct infer_request {
    struct cli_command *command;
    FP_VEC(struct stall) stalls;
    struct cli_profiles truth;
    const char *input, *output, *event, *by, *module, *binary;
    enum fp_cost_model model;
    bool classify, no_branches;
};

struct infer_work {
    const struct infer_request *request;
    struct fp_arena arena;
    struct fp_perf_data data;
    struct fp_attribution found;
    uint32_t event, cycles, misses; /* of the last two, FP_NONE where they were not sampled */
    double *stall_cycles;           /* per event */
    double mean_cpi;
    bool have_truth;
    double truth_scale; /* samples per exact execution of an instruction */
    struct fp_exact_blocks truth;
    enum fp_normalisation by;
    FP_VEC(struct fp_run) runs;
    FP_VEC(struct fp_edge_profile *) profiles;
    uint64_t samples, nfunctions, unresolved; /* in functions that are known */
    uint64_t records;                         /* branch records that were used */
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

static bool choose_event(struct infer_work *w)
{
    const struct infer_request *r = w->request;
    for (w->event = 0; r->event && w->event < w->data.events.len; w->event++)
        if (!strcmp(w->data.events.at[w->event].name, r->event)) break;
    if (w->event >= w->data.events.len) {
        cli_say("%s: has no event %s; it has:", r->input, r->event ? r->event : "");
        for (size_t i = 0; i < w->data.events.len; i++) cli_say("  %s", w->data.events.at[i].name);
        return false;
    }
    w->by = counts_time(&w->data.events.at[w->event]) ? FP_BY_TIME : FP_BY_INSTRUCTIONS;
    if (r->by) w->by = !strcmp(r->by, "time") ? FP_BY_TIME : FP_BY_INSTRUCTIONS;
    return true;
}

/* ---- several events: classification ---- */

/* From processor manuals, for the events of our simulation; --stall has others. */
static const struct stall known_stalls[] = {{"DTLB_MISS", 30}, {"L2_MISS", 120}};

static void find_stalls(struct infer_work *w)
{
    w->stall_cycles = FP_NEW_ARRAY(&w->arena, double, w->data.events.len);
    for (uint32_t e = 0; e < w->data.events.len; e++) {
        const char *name = w->data.events.at[e].name;
        for (size_t i = 0; i < sizeof known_stalls / sizeof *known_stalls; i++)
            if (!strcmp(known_stalls[i].event, name)) w->stall_cycles[e] = known_stalls[i].cycles;
        for (size_t i = 0; i < w->request->stalls.len; i++)
            if (!strcmp(w->request->stalls.at[i].event, name))
                w->stall_cycles[e] = w->request->stalls.at[i].cycles;
    }
}

static double total_of(const struct infer_work *w, uint32_t event)
{
    double sum = 0;
    for (size_t i = 0; i < w->data.samples.len; i++)
        if (w->data.samples.at[i].event == event) sum += (double)w->data.samples.at[i].period;
    return sum;
}

static void find_cycles(struct infer_work *w)
{
    w->cycles = w->misses = FP_NONE;
    for (uint32_t e = 0; e < w->data.events.len; e++) {
        if (e == w->event) continue;
        if (counts_time(&w->data.events.at[e])) w->cycles = e;
        if (counts_misses(&w->data.events.at[e]) && w->request->classify) w->misses = e;
    }
    if (w->cycles == FP_NONE) return;
    double instructions = total_of(w, w->event);
    w->mean_cpi = instructions > 0 ? total_of(w, w->cycles) / instructions : 1;
}

static uint8_t *classify(struct infer_work *w, struct fp_arena *arena,
                         const struct fp_perf_object *s, struct fp_edge_profile *p,
                         const struct fp_machine_function *f, const double *weights)
{
    uint8_t *classes = FP_NEW_ARRAY(arena, uint8_t, f->cfg->nblocks);
    if (w->have_truth) {
        const double *exact = fp_exact_blocks_of(arena, &w->truth, p, f);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            classes[b] = (uint8_t)fp_classify_exactly(weights[b] / w->truth_scale, exact[b]);
        return classes;
    }
    const double *instructions = fp_perf_block_samples(arena, s, f, w->event);
    const double *cycles = fp_perf_block_samples(arena, s, f, w->cycles);
    double *stalled = FP_NEW_ARRAY(arena, double, f->cfg->nblocks);
    for (uint32_t e = 0; e < w->data.events.len; e++) {
        if (w->stall_cycles[e] <= 0) continue;
        const double *events = fp_perf_block_samples(arena, s, f, e);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++) stalled[b] += w->stall_cycles[e] * events[b];
    }
    double period = (double)w->data.events.at[w->event].period,
           cycle_period = (double)w->data.events.at[w->cycles].period;
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
    struct fp_inference in = {.cfg = f->cfg, .model = w->request->model, .entries = -1};
    double *sizes = FP_NEW_ARRAY(scratch, double, f->cfg->nblocks);
    double *weights = FP_NEW_ARRAY(scratch, double, f->cfg->nblocks);
    double *samples = fp_perf_block_samples(scratch, s, f, w->event);
    const double *misses =
        w->misses == FP_NONE ? NULL : fp_perf_block_samples(scratch, s, f, w->misses);
    /* samples pile up behind mispredicted branches, which a first inference tells of */
    bool again = in.model == FP_COSTS_FOOTPATH && (w->by == FP_BY_TIME || misses);
    unsigned rounds = again ? ROUNDS : 1;
    for (unsigned round = 0; round < rounds; round++) {
        fp_block_sizes(f, w->by,
                       round ? &(struct fp_branch_knowledge){counts->edges, misses} : NULL, sizes);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            weights[b] = sizes[b] > 0 ? samples[b] / sizes[b] : 0;
        in.sizes = sizes;
        in.weights = weights;
        if (w->request->classify && (w->have_truth || w->cycles != FP_NONE))
            in.classes = classify(w, scratch, s, p, f, weights);
        fp_infer(scratch, &in, counts);
    }
}

/* Records count blocks and edges themselves; what they contradict each other in, at
 * their ends, is corrected. False where no record is in the function. */
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
                              .model = w->request->model,
                              .entries = -1,
                              .sizes = sizes,
                              .weights = branches.blocks,
                              .edge_weights = branches.edges};
    fp_infer(scratch, &in, counts);
    return true;
}

static bool has_records(const struct infer_work *w, const struct fp_perf_object *s)
{
    return s->spans.len && !w->request->no_branches;
}

/* Counts by samples and by records are not in the same units: an object has one kind. */
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
        w->nfunctions++;
        w->unresolved += f->unresolved;
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
    struct fp_edge_profile *p = FP_NEW(&w->arena, struct fp_edge_profile);
    struct fp_embedded_map *map = FP_NEW(&w->arena, struct fp_embedded_map);
    fp_edge_profile_init(p, &w->arena, s->object);
    bool *done = FP_NEW_ARRAY(&w->arena, bool, p->machine.nfunctions);
    for (size_t i = 0; i < s->hits.len; i++)
        if (visit(w, s, p, done, s->hits.at[i].address))
            w->samples += s->hits.at[i].counts[w->event];
    for (size_t i = 0; has_records(w, s) && i < s->spans.len; i++)
        if (visit(w, s, p, done, s->spans.at[i].from)) w->records += s->spans.at[i].count;
    fp_vec_push(&w->arena, &w->profiles, p);
    static char *no_args[] = {(char *)"(sampled)"};
    struct fp_run run = fp_edge_profile_run(p, map, no_args, 1);
    if (p->nfunctions) fp_vec_push(&w->arena, &w->runs, run);
}

/* ---- the whole file ---- */

static bool wanted(const struct infer_work *w, const struct fp_perf_object *s)
{
    return !w->request->module || strstr(fp_base_name(s->path), w->request->module);
}

/* An empty profile is what users of such tools meet most, and least understand. */
static bool enough(const struct infer_work *w)
{
    const struct fp_attribution *a = &w->found;
    const char *input = w->request->input;
    if (w->request->binary && !a->binary_used)
        cli_say("%s: no object of that name was sampled; it is not used", w->request->binary);
    if (!w->data.samples.len)
        cli_say("%s: holds no samples; did the program run at all, and long enough for -c?", input);
    else if (!a->user)
        cli_say(
            "%s: of %zu samples none is in a program's own code (%s in the kernel, %s in memory "
            "without a file); record the program itself, in user mode",
            input, w->data.samples.len, cli_count(a->kernel), cli_count(a->unmapped));
    else if (w->samples < FEWEST_SAMPLES)
        cli_say(
            "%s: only %s samples of %s are in functions that have a name, too few to infer from; "
            "run longer, take a smaller period, or use a program that is not stripped",
            input, cli_count(w->samples), w->data.events.at[w->event].name);
    else
        return true;
    for (size_t i = 0; i < a->objects.len; i++)
        if (a->objects.at[i]->problem.set)
            cli_fail(&a->objects.at[i]->problem, "its samples are not used");
    return false;
}

static void warn(const struct infer_work *w)
{
    if (w->data.cut)
        cli_say("%s: ends in the middle of a record; what is before is used", w->request->input);
    if (w->data.lost)
        cli_say("%s: the kernel lost %s samples", w->request->input, cli_count(w->data.lost));
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_perf_object *s = w->found.objects.at[i];
        if (wanted(w, s) && s->samples && s->object && !s->object->dwarf)
            cli_say("%s: has no line information; its functions have no source lines", s->path);
    }
}

static bool infer_all(struct infer_work *w)
{
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_perf_object *s = w->found.objects.at[i];
        if (s->object && !s->problem.set && s->samples && wanted(w, s)) infer_object(w, s);
    }
    return enough(w);
}

/* Exact counts are scaled to the samples by their totals. */
static bool load_truth(struct infer_work *w, struct infer_request *request)
{
    if (!request->truth.names.len) return true;
    struct fp_profile *exact = cli_load(&request->truth);
    if (!exact) return false;
    fp_exact_blocks_init(&w->truth, &w->arena, exact);
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
    w->truth_scale = truth > 0 ? total_of(w, w->event) / truth : 1;
    return w->have_truth = true;
}

static int infer(struct infer_request *request)
{
    struct infer_work w = {.request = request};
    struct fp_error error = {0};
    int status = EXIT_FAILED;
    if (!fp_perf_read(&w.arena, request->input, &w.data, &error)) {
        fp_arena_free(&w.arena);
        return cli_fail(&error, NULL);
    }
    if (choose_event(&w) && load_truth(&w, request)) {
        find_stalls(&w);
        find_cycles(&w);
        fp_attribute(&w.arena, &w.data, request->binary, &w.found);
        if (infer_all(&w)) {
            warn(&w);
            status = fp_profile_write(request->output, w.runs.at, w.runs.len, 0, &error)
                         ? EXIT_OK
                         : cli_fail(&error, NULL);
        }
        for (size_t i = 0; i < w.profiles.len; i++) fp_edge_profile_free(w.profiles.at[i]);
        fp_attribution_close(&w.found);
    }
    if (status == EXIT_OK)
        printf("%s: %s of %s samples in %s functions\n", request->output, cli_count(w.samples),
               cli_count(w.data.samples.len), cli_count(w.nfunctions));
    if (status == EXIT_OK && w.records)
        printf("counted by %s branch records\n", cli_count(w.records));
    fp_arena_free(&w.arena);
    return status;
}

static void add_stall(struct cli_command *command, struct infer_request *r, char *text)
{
    char *equals = strchr(text, '='), *end;
    if (!equals) cli_usage(command, "--stall needs EVENT=CYCLES, got '%s'", text);
    *equals = 0;
    struct stall stall = {text, strtod(equals + 1, &end)};
    if (end == equals + 1 || *end)
        cli_usage(command, "--stall needs a number of cycles for %s", text);
    fp_vec_push(&r->truth.arena, &r->stalls, stall);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct infer_request r = {
        .command = command, .output = "footpath.prof", .model = FP_COSTS_FOOTPATH};
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case OUTPUT: r.output = value; break;
        case COSTS:
            if (!fp_cost_model_named(value, &r.model))
                cli_usage(command, "no cost model '%s'", value);
            break;
        case EVENT: r.event = value; break;
        case BY: r.by = value; break;
        case STALL: add_stall(command, &r, value); break;
        case CLASSIFY: r.classify = true; break;
        case NO_BRANCHES: r.no_branches = true; break;
        case TRUTH: fp_vec_push(&r.truth.arena, &r.truth.names, value); break;
        case MODULE: r.module = value; break;
        case BINARY: r.binary = value; break;
        case CLI_WORD:
            if (r.input) cli_usage(command, "one file of samples at a time");
            r.input = value;
            break;
        default: break;
        }
    }
    if (r.by && strcmp(r.by, "time") && strcmp(r.by, "instructions"))
        cli_usage(command, "--by is time or instructions");
    if (!r.input) r.input = "perf.data";
    r.classify |= r.model == FP_COSTS_PAPER;
    return cli_check_sampled(r.binary) ? infer(&r) : EXIT_FAILED;
}

struct cli_command command_infer = {
    .name = "infer",
    .arguments = "[SAMPLES]",
    .summary = "Turn samples of an ordinary program into an edge profile",
    .text = "SAMPLES is what footpath record or perf record wrote (perf.data). The profile is one\n"
            "like any other: show, report, annotate, compare and export work on it.",
    .options = options,
    .run = run,
};
