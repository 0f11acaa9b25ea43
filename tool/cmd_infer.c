/* footpath infer: from samples of an ordinary program to an edge profile. */
#include "commands.h"

#include "perf/inferprofile.h"

#include <stdlib.h>
#include <string.h>

struct infer_request {
    struct fp_infer_job job;
    FP_VEC(struct fp_stall) stalls;
    FP_VEC(const char *) without;
    struct cli_profiles truth;
    struct fp_profile *exact; /* of truth */
    const char *output;
};

static struct infer_request given = {.output = "footpath.prof",
                                     .job = {.model = FP_COSTS_FOOTPATH}};

static void take_costs(const struct cli_command *command, char *value)
{
    if (!fp_cost_model_named(value, &given.job.model))
        cli_usage(command, "no cost model '%s'", value);
}

static void take_by(const struct cli_command *command, char *value)
{
    bool time = !strcmp(value, "time");
    if (!time && strcmp(value, "instructions")) cli_usage(command, "--by is time or instructions");
    given.job.by = time ? FP_INFER_BY_TIME : FP_INFER_BY_INSTRUCTIONS;
}

static void take_stall(const struct cli_command *command, char *text)
{
    char *equals = strchr(text, '='), *end;
    if (!equals) cli_usage(command, "--stall needs EVENT=CYCLES, got '%s'", text);
    *equals = 0;
    struct fp_stall stall = {text, strtod(equals + 1, &end)};
    if (end == equals + 1 || *end)
        cli_usage(command, "--stall needs a number of cycles for %s", text);
    fp_vec_push(&given.truth.arena, &given.stalls, stall);
}

static void take_without(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.truth.arena, &given.without, value);
}

static void take_input(const struct cli_command *command, char *value)
{
    if (given.job.input) cli_usage(command, "one file of samples at a time");
    given.job.input = value;
}

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the profile (footpath.prof)", .text = &given.output},
    {"--costs", "MODEL", "footpath, profi, levin, paper, raw (footpath)", .take = take_costs},
    {"--event", "NAME", "the event to estimate counts from (the first)", .text = &given.job.event},
    {"--by", "WHAT", "normalise by instructions or by time (as the event says)", .take = take_by,
     .words = "instructions time"},
    {"--stall", "EVENT=CYCLES", "paper: an event that stalls, and for how long (repeatable)",
     .take = take_stall},
    {"--classify", NULL, "use several events to classify blocks, whatever the costs",
     .flag = &given.job.classify},
    {"--without", "EVENT", "classify without this event, to see what it brings (repeatable)",
     .take = take_without},
    {"--no-branches", NULL, "do not use branch records, where the file has them",
     .flag = &given.job.no_branches},
    {"--no-registers", NULL, "do not follow samples by their registers, where the file has them",
     .flag = &given.job.no_registers},
    {"--truth", "PROFILE", "paper: classify by exact counts, to see what is possible",
     .profiles = &given.truth},
    {"--confirm", NULL, "with --truth: classify by events, without the classes that are wrong",
     .flag = &given.job.confirm},
    {"--module", "NAME", "only this program or library", .text = &given.job.module},
    {"--binary", "FILE", "the program that was sampled, where it is not at its old place",
     .text = &given.job.binary},
    {0},
};

enum { FEWEST_SAMPLES = 20 };

/* An empty profile is what users of such tools meet most, and least understand. */
static bool enough(const struct infer_request *r, const struct fp_inferred *w)
{
    const struct fp_attribution *a = &w->found;
    const char *input = r->job.input;
    if (r->job.binary && !a->binary_used)
        cli_say("%s: no object of that name was sampled; it is not used", r->job.binary);
    if (!w->data.samples.len && w->data.trace)
        cli_say("%s: holds a trace of %s, which is not read; record samples (perf record without "
                "-e of a trace) or branch records (-b)",
                input, w->data.trace);
    else if (!w->data.samples.len)
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
    if (w->data.damaged)
        cli_say("%s: %s bytes of its traces are no packets; they are passed over", r->job.input,
                cli_count(w->data.damaged));
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
    r->job.without = r->without.at, r->job.nwithout = r->without.len;
    if (!fp_infer_read(&r->job, w, error) || !has_event(r, w) || !load_truth(r)) return false;
    fp_infer_profile(&r->job, w);
    if (!enough(r, w)) return false;
    warn(r, w);
    if (!fp_profile_write(r->output, w->runs.at, w->runs.len, 0, error)) return false;
    printf("%s: %s of %s samples in %s functions\n", r->output, cli_count(w->samples),
           cli_count(w->data.samples.len), cli_count(w->functions));
    if (w->walks) printf("followed %s samples by their registers\n", cli_count(w->walks));
    if (w->records) printf("counted by %s branch records\n", cli_count(w->records));
    return true;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    if (!given.job.input) given.job.input = "perf.data";
    given.job.classify |= given.job.model == FP_COSTS_PAPER;
    if (given.job.confirm && !given.truth.names.len) cli_usage(command, "--confirm needs --truth");
    if (!cli_check_sampled(given.job.binary)) return EXIT_FAILED;
    struct fp_inferred inferred;
    struct fp_error error = {0};
    bool ok = infer(&given, &inferred, &error);
    if (error.set) cli_fail(&error, NULL);
    fp_inferred_free(&inferred);
    fp_profile_free(given.exact);
    fp_arena_free(&given.truth.arena);
    return ok ? EXIT_OK : EXIT_FAILED;
}

struct cli_command command_infer = {
    .name = "infer",
    .arguments = "[SAMPLES]",
    .summary = "Turn perf samples of an ordinary program into an edge profile",
    .text = "SAMPLES is what footpath record or perf record wrote (perf.data). The profile is one\n"
            "like any other: show, report, annotate, compare and export work on it.",
    .options = options,
    .take_word = take_input,
    .run = run,
};
