/* footpath compare: how well one profile predicts another. */
#include "commands.h"

#include "cli_gate.h"
#include "paths/compare.h"

#include <string.h>

enum { MOST_METRICS = 16 };

struct compare_request {
    bool wanted[MOST_METRICS], any, any_ends, json;
    bool bar;
    double least; /* with bar */
    struct fp_metric_options how;
    struct cli_profiles inputs;
};

static struct compare_request given = {.how.hot = FP_HOT_FLOW};

static double fraction(const struct cli_command *command, const char *option, const char *value,
                       double most)
{
    double number;
    if (!cli_real(value, 0, most, &number))
        cli_usage(command, "%s: expected a number from 0 to %g, got '%s'", option, most, value);
    return number;
}

static void take_hot(const struct cli_command *command, char *value)
{
    given.how.hot = fraction(command, "--hot", value, 100) / 100;
}

static void take_least(const struct cli_command *command, char *value)
{
    given.bar = true;
    given.least = fraction(command, "--least", value, 1);
}

static void take_metric(const struct cli_command *command, char *name)
{
    for (size_t i = 0; fp_metrics[i].name; i++)
        if (!strcmp(fp_metrics[i].name, name)) {
            given.wanted[i] = given.any = true;
            return;
        }
    cli_usage(command, "no metric '%s'; known: wall, relative, absolute, overlap, function", name);
}

static const struct cli_option options[] = {
    {"--metric", "NAME", "wall, relative, absolute, overlap, function (all; repeatable)",
     .take = take_metric, .words = "wall relative absolute overlap function"},
    {"--hot", "PERCENT", "flow from which a path is hot, for wall (0.125)", .take = take_hot},
    {"--least", "VALUE",
     "exit with status 3 if a value is below; with 1 if functions are in one only",
     .take = take_least},
    {"--any-ends", NULL, "wall also where paths end at other edges in the two builds",
     .flag = &given.any_ends},
    {"--json", NULL, "as JSON", .flag = &given.json},
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static bool are_alike(const struct compare_request *request, const struct fp_pair *pair)
{
    return !pair->redefined || request->any_ends;
}

/* Without a choice, all that the profiles allow. */
static bool is_wanted(const struct compare_request *request, const struct fp_pair *pair, size_t i)
{
    if (request->any) return request->wanted[i];
    return !fp_metrics[i].needs_paths || (pair->have_paths && are_alike(request, pair));
}

/* Has what was asked for, or what the bar is for, an answer? */
static bool can_measure(const struct compare_request *request, const struct fp_pair *pair)
{
    bool wall = request->any && request->wanted[0], alike = are_alike(request, pair);
    if (wall && !pair->have_paths)
        cli_say("a profile has no paths; wall needs two with --fp-mode=path or pep");
    if (!alike)
        cli_say("paths of %zu functions end at other places in the second build (--fp-cuts, "
                "--fp-guide): wall would compare unlike paths; build both alike, or give "
                "--any-ends, which takes a path that one build cannot have as not found there",
                pair->redefined);
    return (!wall || pair->have_paths) && (alike || (request->any ? !wall : !request->bar));
}

static int print_values(const struct compare_request *request, const struct fp_pair *pair)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    int status = EXIT_OK;
    if (request->json) {
        fp_json_begin(&j, '{');
        fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
        fp_json_key(&j, "functions"), fp_json_uint(&j, pair->functions);
        fp_json_key(&j, "unmatched"), fp_json_uint(&j, pair->unmatched);
        fp_json_key(&j, "redefined"), fp_json_uint(&j, pair->redefined);
    }
    for (size_t i = 0; fp_metrics[i].name; i++) {
        if (!is_wanted(request, pair, i)) continue;
        double value = fp_metrics[i].measure(pair, &request->how);
        if (value < request->least) status = EXIT_THRESHOLD;
        char line[128];
        int len = snprintf(line, sizeof line, "%s %.6f\n", fp_metrics[i].name, value);
        if (request->json)
            fp_json_key(&j, fp_metrics[i].name), fp_json_double(&j, value);
        else
            fp_write_bytes(&out, line, (size_t)len);
    }
    if (request->json) {
        fp_json_end(&j, '}');
        fp_write_u8(&out, '\n');
    }
    return cli_output(NULL, &out) == EXIT_OK ? status : EXIT_FAILED;
}

/* With --least: were the two that were asked for compared, whole? Names them. */
static bool check_gate(const struct compare_request *request, const struct fp_profile *actual,
                       const struct fp_profile *estimate, const struct fp_pair *pair)
{
    struct fp_arena arena = {0};
    if (!request->bar) return true;
    bool open = cli_gate_open(&request->inputs, actual) &&
                cli_gate_open(&request->inputs, estimate) && !pair->unmatched;
    cli_say("compared %zu functions of %s with %s", pair->functions, cli_measured(&arena, actual),
            cli_measured(&arena, estimate));
    fp_arena_free(&arena);
    return open;
}

static int compare(const struct compare_request *request, struct fp_profile *actual,
                   struct fp_profile *estimate)
{
    struct fp_arena arena = {0};
    struct fp_pair pair;
    struct fp_error error = {0};
    int status;
    if (!fp_pair_make(&arena, actual, estimate, &pair, &error)) {
        status = cli_fail(&error, NULL);
    } else if (!can_measure(request, &pair)) {
        status = EXIT_FAILED;
    } else {
        if (pair.unmatched)
            cli_say("%zu functions that ran are in one profile only; were both built alike?",
                    pair.unmatched);
        status = print_values(request, &pair);
        if (!check_gate(request, actual, estimate, &pair)) status = EXIT_FAILED;
    }
    fp_arena_free(&arena);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli_profiles *inputs = &given.inputs, other = {0};
    cli_parse(command, argc, argv);
    if (inputs->names.len > 2) cli_usage(command, "exactly two profiles");
    other.skip_bad = inputs->skip_bad, other.program = inputs->program;
    if (inputs->names.len == 2) cli_add_profile(&other, inputs->names.at[--inputs->names.len]);
    if (!other.names.len) cli_usage(command, "two profiles are needed");
    struct fp_profile *actual = cli_load(inputs), *estimate = actual ? cli_load(&other) : NULL;
    int status = actual && estimate ? compare(&given, actual, estimate) : EXIT_FAILED;
    if (actual) fp_profile_free(actual);
    if (estimate) fp_profile_free(estimate);
    fp_arena_free(&inputs->arena);
    fp_arena_free(&other.arena);
    return status;
}

struct cli_command command_compare = {
    .name = "compare",
    .arguments = "ACTUAL ESTIMATE",
    .summary = "Measure how well one profile predicts another",
    .text =
        "ACTUAL is an exact profile, ESTIMATE a sampled one or one of another input. Prints a\n"
        "number from 0 to 1 per line: wall, the part of the flow of hot paths that the\n"
        "estimate finds; relative, how well it knows the bias of branches; absolute, how well\n"
        "their frequencies; overlap, how well the frequencies of all edges; function, the same\n"
        "with the edges of a function taken together.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
