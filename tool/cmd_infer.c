/* footpath infer: from samples of an ordinary program to an edge profile. */
#include "commands.h"

#include "perf/inferprofile.h"

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

enum { FEWEST_SAMPLES = 20 };

struct infer_request {
    struct fp_infer_job job;
    FP_VEC(struct fp_stall) stalls;
    struct cli_profiles truth;
    struct fp_profile *exact; /* of truth */
    const char *output;
};

/* An empty profile is what users of such tools meet most, and least understand. */
static bool enough(const struct infer_request *r, const struct fp_inferred *w)
{
    const struct fp_attribution *a = &w->found;
    const char *input = r->job.input;
    if (r->job.binary && !a->binary_used)
        cli_say("%s: no object of that name was sampled; it is not used", r->job.binary);
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

static void warn(const struct infer_request *r, const struct fp_inferred *w)
{
    if (w->data.cut)
        cli_say("%s: ends in the middle of a record; what is before is used", r->job.input);
    if (w->data.lost)
        cli_say("%s: the kernel lost %s samples", r->job.input, cli_count(w->data.lost));
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_perf_object *s = w->found.objects.at[i];
        if (fp_infer_wants(&r->job, s) && s->samples && s->object && !s->object->dwarf)
            cli_say("%s: has no line information; its functions have no source lines", s->path);
    }
}

static bool has_event(const struct infer_request *r, const struct fp_inferred *w)
{
    if (w->event < w->data.events.len) return true;
    cli_say("%s: has no event %s; it has:", r->job.input, r->job.event ? r->job.event : "");
    for (size_t i = 0; i < w->data.events.len; i++) cli_say("  %s", w->data.events.at[i].name);
    return false;
}

static bool load_truth(struct infer_request *r)
{
    if (!r->truth.names.len) return true;
    r->job.truth = r->exact = cli_load(&r->truth);
    return r->exact;
}

static bool infer(struct infer_request *r, struct fp_inferred *w, struct fp_error *error)
{
    r->job.stalls = r->stalls.at, r->job.nstalls = r->stalls.len;
    if (!fp_infer_read(&r->job, w, error) || !has_event(r, w) || !load_truth(r)) return false;
    fp_infer_profile(&r->job, w);
    if (!enough(r, w)) return false;
    warn(r, w);
    if (!fp_profile_write(r->output, w->runs.at, w->runs.len, 0, error)) return false;
    printf("%s: %s of %s samples in %s functions\n", r->output, cli_count(w->samples),
           cli_count(w->data.samples.len), cli_count(w->functions));
    if (w->records) printf("counted by %s branch records\n", cli_count(w->records));
    return true;
}

static void add_stall(struct cli_command *command, struct infer_request *r, char *text)
{
    char *equals = strchr(text, '='), *end;
    if (!equals) cli_usage(command, "--stall needs EVENT=CYCLES, got '%s'", text);
    *equals = 0;
    struct fp_stall stall = {text, strtod(equals + 1, &end)};
    if (end == equals + 1 || *end)
        cli_usage(command, "--stall needs a number of cycles for %s", text);
    fp_vec_push(&r->truth.arena, &r->stalls, stall);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct infer_request r = {.output = "footpath.prof", .job = {.model = FP_COSTS_FOOTPATH}};
    char *value, *by = NULL;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case OUTPUT: r.output = value; break;
        case COSTS:
            if (!fp_cost_model_named(value, &r.job.model))
                cli_usage(command, "no cost model '%s'", value);
            break;
        case EVENT: r.job.event = value; break;
        case BY: by = value; break;
        case STALL: add_stall(command, &r, value); break;
        case CLASSIFY: r.job.classify = true; break;
        case NO_BRANCHES: r.job.no_branches = true; break;
        case TRUTH: fp_vec_push(&r.truth.arena, &r.truth.names, value); break;
        case MODULE: r.job.module = value; break;
        case BINARY: r.job.binary = value; break;
        case CLI_WORD:
            if (r.job.input) cli_usage(command, "one file of samples at a time");
            r.job.input = value;
            break;
        default: break;
        }
    }
    if (by && strcmp(by, "time") && strcmp(by, "instructions"))
        cli_usage(command, "--by is time or instructions");
    if (by) r.job.by = strcmp(by, "time") ? FP_INFER_BY_INSTRUCTIONS : FP_INFER_BY_TIME;
    if (!r.job.input) r.job.input = "perf.data";
    r.job.classify |= r.job.model == FP_COSTS_PAPER;
    if (!cli_check_sampled(r.job.binary)) return EXIT_FAILED;
    struct fp_inferred inferred;
    struct fp_error error = {0};
    bool ok = infer(&r, &inferred, &error);
    if (error.set) cli_fail(&error, NULL);
    fp_inferred_free(&inferred);
    fp_profile_free(r.exact);
    fp_arena_free(&r.truth.arena);
    return ok ? EXIT_OK : EXIT_FAILED;
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
