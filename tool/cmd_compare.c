/* footpath compare: how well one profile predicts another. */
#include "commands.h"

#include "paths/compare.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"--metric", "NAME", "wall, relative, absolute, overlap, function (all; repeatable)"},
    {"--hot", "PERCENT", "flow from which a path is hot, for wall (0.125)"},
    {"--least", "VALUE", "exit with status 3 if a value is below"},
    {"--json", NULL, "as JSON"},
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { METRIC, HOT, LEAST, JSON, BINARY, STRICT };

enum { MOST_METRICS = 16 };

struct compare_request {
    bool wanted[MOST_METRICS], any, json;
    double least;
    struct fp_metric_options how;
};

static double fraction(const struct cli_command *command, const char *option, const char *value,
                       double most)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0 && number <= most))
        cli_usage(command, "%s: expected a number from 0 to %g, got '%s'", option, most, value);
    return number;
}

static void want_metric(const struct cli_command *command, struct compare_request *request,
                        const char *name)
{
    for (size_t i = 0; fp_metrics[i].name; i++)
        if (!strcmp(fp_metrics[i].name, name)) {
            request->wanted[i] = request->any = true;
            return;
        }
    cli_usage(command, "no metric '%s'; known: wall, relative, absolute, overlap, function", name);
}

/* Without a choice, all that the profiles allow. */
static bool is_wanted(const struct compare_request *request, const struct fp_pair *pair, size_t i)
{
    if (request->any) return request->wanted[i];
    return pair->have_paths || !fp_metrics[i].needs_paths;
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

static int compare(const struct compare_request *request, struct fp_profile *actual,
                   struct fp_profile *estimate)
{
    struct fp_arena arena = {0};
    struct fp_pair pair;
    struct fp_error error = {0};
    int status;
    if (!fp_pair_make(&arena, actual, estimate, &pair, &error)) {
        status = cli_fail(&error, NULL);
    } else if (request->any && request->wanted[0] && !pair.have_paths) {
        cli_say("a profile has no paths; wall needs two with --fp-mode=path or pep");
        status = EXIT_FAILED;
    } else {
        if (pair.unmatched)
            cli_say("%zu functions that ran are in one profile only; were both built alike?",
                    pair.unmatched);
        status = print_values(request, &pair);
    }
    fp_arena_free(&arena);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs[2] = {0};
    struct compare_request request = {.how.hot = FP_HOT_FLOW};
    size_t count = 0;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case METRIC: want_metric(command, &request, value); break;
        case HOT: request.how.hot = fraction(command, "--hot", value, 100) / 100; break;
        case LEAST: request.least = fraction(command, "--least", value, 1); break;
        case JSON: request.json = true; break;
        case BINARY: inputs[0].binary = value; break;
        case STRICT: inputs[0].strict = inputs[1].strict = true; break;
        case CLI_WORD:
            if (count == 2) cli_usage(command, "exactly two profiles");
            fp_vec_push(&inputs[count].arena, &inputs[count].names, value);
            count++;
            break;
        default: break;
        }
    }
    if (count != 2) cli_usage(command, "two profiles are needed");
    struct fp_profile *actual = cli_load(&inputs[0]),
                      *estimate = actual ? cli_load(&inputs[1]) : NULL;
    int status = actual && estimate ? compare(&request, actual, estimate) : EXIT_FAILED;
    if (actual) fp_profile_free(actual);
    if (estimate) fp_profile_free(estimate);
    fp_arena_free(&inputs[0].arena);
    fp_arena_free(&inputs[1].arena);
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
    .run = run,
};
