/* footpath infer: from samples of an ordinary program to an edge profile. */
#include "commands.h"

#include "analysis/infer.h"
#include "sample/attribute.h"
#include "sample/edgeprofile.h"
#include "sample/weights.h"

#include <string.h>

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the profile (footpath.prof)"},
    {"--costs", "MODEL", "footpath, profi, levin, paper, raw (footpath)"},
    {"--event", "NAME", "the event to estimate counts from (the first)"},
    {"--by", "WHAT", "normalise by instructions or by time (as the event says)"},
    {"--module", "NAME", "only this program or library"},
    {"--binary", "FILE", "the program that was sampled, where it is not at its old place"},
    {NULL, NULL, NULL},
};
enum { OUTPUT, COSTS, EVENT, BY, MODULE, BINARY };

enum { FEWEST_SAMPLES = 20 };

struct request {
    struct cli_command *command;
    const char *input, *output, *event, *by, *module, *binary;
    enum fp_cost_model model;
};

struct work {
    const struct request *request;
    struct fp_arena arena;
    struct fp_perf_data data;
    struct fp_attribution found;
    uint32_t event;
    enum fp_normalisation by;
    FP_VEC(struct fp_run) runs;
    FP_VEC(struct fp_edge_profile *) profiles;
    uint64_t samples, nfunctions, unresolved; /* in functions that are known */
};

/* ---- events ---- */

static bool counts_time(const struct fp_perf_event *event)
{
    return strstr(event->name, "clock") || strstr(event->name, "cycles") || strstr(event->name, "CLK") ||
           strstr(event->name, "CYCLES");
}

static bool choose_event(struct work *w)
{
    const struct request *r = w->request;
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

/* ---- functions ---- */

static void infer_function(struct work *w, const struct fp_sampled_object *s, struct fp_edge_profile *p,
                           struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_edge_counts counts;
    struct fp_inference in = {.cfg = f->cfg, .model = w->request->model, .entries = -1};
    uint32_t *sizes = FP_NEW_ARRAY(&scratch, uint32_t, f->cfg->nblocks);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) sizes[b] = f->blocks[b].ninsns;
    in.instructions = sizes;
    in.weights = fp_block_weights(&scratch, s, f, w->event, w->by);
    fp_infer(&scratch, &in, &counts);
    fp_edge_profile_add(p, f, counts.entries, counts.edges);
    w->nfunctions++;
    w->unresolved += f->unresolved;
    fp_arena_free(&scratch);
}

static void infer_object(struct work *w, const struct fp_sampled_object *s)
{
    struct fp_edge_profile *p = FP_NEW(&w->arena, struct fp_edge_profile);
    struct fp_embedded_map *map = FP_NEW(&w->arena, struct fp_embedded_map);
    fp_edge_profile_init(p, &w->arena, s->object);
    const struct fp_machine_function *last = NULL;
    bool *done = FP_NEW_ARRAY(&w->arena, bool, p->machine.nfunctions);
    for (size_t i = 0; i < s->hits.len; i++) {
        struct fp_machine_function *f = fp_machine_find(&p->machine, s->hits.at[i].address);
        if (!f) continue;
        w->samples += s->hits.at[i].counts[w->event];
        if (f == last || done[f - p->machine.functions]) continue;
        last = f;
        done[f - p->machine.functions] = true;
        fp_machine_build(&p->machine, f);
        if (f->cfg) infer_function(w, s, p, f);
    }
    fp_vec_push(&w->arena, &w->profiles, p);
    static char *no_args[] = {(char *)"(sampled)"};
    struct fp_run run = fp_edge_profile_run(p, map, no_args, 1);
    if (p->nfunctions) fp_vec_push(&w->arena, &w->runs, run);
}

/* ---- the whole file ---- */

static bool wanted(const struct work *w, const struct fp_sampled_object *s)
{
    const char *name = strrchr(s->path, '/');
    if (!w->request->module) return true;
    return strstr(name ? name + 1 : s->path, w->request->module) != NULL;
}

/* An empty profile is what users of such tools meet most, and least understand. */
static bool enough(const struct work *w)
{
    const struct fp_attribution *a = &w->found;
    const char *input = w->request->input;
    if (!w->data.samples.len)
        cli_say("%s: holds no samples; did the program run at all, and long enough for -c?", input);
    else if (!a->user)
        cli_say("%s: of %zu samples none is in a program's own code (%s in the kernel, %s in memory "
                "without a file); record the program itself, in user mode",
                input, w->data.samples.len, cli_count(a->kernel), cli_count(a->unmapped));
    else if (w->samples < FEWEST_SAMPLES)
        cli_say("%s: only %s samples of %s are in functions that have a name, too few to infer from; "
                "run longer, take a smaller period, or use a program that is not stripped",
                input, cli_count(w->samples), w->data.events.at[w->event].name);
    else
        return true;
    for (size_t i = 0; i < a->objects.len; i++)
        if (a->objects.at[i]->problem.set) cli_fail(&a->objects.at[i]->problem, "its samples are not used");
    return false;
}

static void warn(const struct work *w)
{
    if (w->data.cut) cli_say("%s: ends in the middle of a record; what is before is used", w->request->input);
    if (w->data.lost) cli_say("%s: the kernel lost %s samples", w->request->input, cli_count(w->data.lost));
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_sampled_object *s = w->found.objects.at[i];
        if (wanted(w, s) && s->samples && s->object && !s->object->dwarf)
            cli_say("%s: has no line information; its functions have no source lines", s->path);
    }
}

static bool infer_all(struct work *w)
{
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_sampled_object *s = w->found.objects.at[i];
        if (s->object && !s->problem.set && s->samples && wanted(w, s)) infer_object(w, s);
    }
    return enough(w);
}

static int infer(struct request *request)
{
    struct work w = {.request = request};
    struct fp_error error = {0};
    int status = EXIT_FAILED;
    if (!fp_perf_read(&w.arena, request->input, &w.data, &error)) {
        fp_arena_free(&w.arena);
        return cli_fail(&error, NULL);
    }
    if (choose_event(&w)) {
        fp_attribute(&w.arena, &w.data, request->binary, &w.found);
        if (infer_all(&w)) {
            warn(&w);
            status = fp_profile_write(request->output, w.runs.at, w.runs.len, &error) ? EXIT_OK
                                                                                   : cli_fail(&error, NULL);
        }
        for (size_t i = 0; i < w.profiles.len; i++) fp_edge_profile_free(w.profiles.at[i]);
        fp_attribution_close(&w.found);
    }
    if (status == EXIT_OK)
        printf("%s: %s of %s samples in %s functions\n", request->output, cli_count(w.samples),
               cli_count(w.data.samples.len), cli_count(w.nfunctions));
    fp_arena_free(&w.arena);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct request r = {.command = command, .output = "footpath.prof", .model = FP_COSTS_FOOTPATH};
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case OUTPUT: r.output = value; break;
        case COSTS:
            if (!fp_cost_model_named(value, &r.model)) cli_usage(command, "no cost model '%s'", value);
            break;
        case EVENT: r.event = value; break;
        case BY: r.by = value; break;
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
    return infer(&r);
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
