/* footpath coverage: how much of the program ran, in blocks, edges and paths. */
#include "commands.h"

#include "report/coverreport.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"--functions", NULL, "a line per function, too"},
    {"--function", "NAME", "only functions whose name contains NAME"},
    {"--fail-under", "PERCENT", "exit 3 when coverage is lower"},
    {"--metric", "NAME",
     "for --fail-under: functions, lines, blocks, edges (default), paths, basis"},
    {"--format", "FORMAT", "text, json, lcov, cobertura"},
    {"--json", NULL, "as --format json"},
    {"-o", "FILE", "where to write (standard output)"},
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { FUNCTIONS, FUNCTION, FAIL_UNDER, METRIC, FORMAT, JSON, OUTPUT, BINARY, STRICT };

struct coverage_request {
    const char *only, *format, *output, *metric;
    bool functions, bar;
    double least;
};

static double percentage(const struct cli_command *command, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0 && number <= 100))
        cli_usage(command, "--fail-under needs a percentage from 0 to 100, got '%s'", value);
    return number;
}

static int check_bar(const struct coverage_request *request, const struct fp_cover_report *report)
{
    struct fp_covered covered = {0};
    if (!request->bar) return EXIT_OK;
    fp_cover_figure(report, request->metric, &covered);
    if (fp_covered_percent(covered) >= request->least) return EXIT_OK;
    cli_say("coverage of %s is %.1f%%, below %.1f%%", request->metric, fp_covered_percent(covered),
            request->least);
    return EXIT_THRESHOLD;
}

static int print(const struct coverage_request *request, const struct fp_cover_report *report)
{
    struct fp_writer out = {0};
    if (!strcmp(request->format, "json"))
        fp_cover_json(&out, report);
    else if (!strcmp(request->format, "lcov"))
        fp_write_lcov(&out, &report->lines);
    else if (!strcmp(request->format, "cobertura"))
        fp_write_cobertura(&out, &report->lines);
    else
        fp_cover_text(&out, report, request->functions, !request->output && cli_colours(stdout));
    int status = cli_output(request->output, &out);
    return status ? status : check_bar(request, report);
}

static void check_request(const struct cli_command *command, const struct coverage_request *request)
{
    static const char *const formats[] = {"text", "json", "lcov", "cobertura"};
    struct fp_covered covered;
    bool known = false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        known |= !strcmp(request->format, formats[i]);
    if (!known) cli_usage(command, "unknown format %s", request->format);
    if (!fp_cover_figure(&(struct fp_cover_report){0}, request->metric, &covered))
        cli_usage(command, "unknown metric %s", request->metric);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    struct coverage_request request = {.format = "text", .metric = "edges"};
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case FUNCTIONS: request.functions = true; break;
        case FUNCTION: request.only = value; break;
        case FAIL_UNDER: request.bar = true, request.least = percentage(command, value); break;
        case METRIC: request.metric = value; break;
        case FORMAT: request.format = value; break;
        case JSON: request.format = "json"; break;
        case OUTPUT: request.output = value; break;
        case BINARY: inputs.binary = value; break;
        case STRICT: inputs.strict = true; break;
        case CLI_WORD: fp_vec_push(&inputs.arena, &inputs.names, value); break;
        default: break;
        }
    }
    check_request(command, &request);
    if (!inputs.names.len) fp_vec_push(&inputs.arena, &inputs.names, "footpath.prof");
    struct fp_profile *profile = cli_load(&inputs);
    if (!profile) return EXIT_FAILED;
    struct fp_arena arena = {0};
    int status = print(&request, fp_cover_make(&arena, profile, request.only));
    fp_arena_free(&arena);
    fp_profile_free(profile);
    fp_arena_free(&inputs.arena);
    return status;
}

struct cli_command command_coverage = {
    .name = "coverage",
    .arguments = "[PROFILE...]",
    .summary = "Say how much ran: blocks, edges and paths",
    .text = "Paths are given as taken, as taken of those that consist of edges that ran, and as\n"
            "linearly independent ones of the most there can be (basis), which stays meaningful\n"
            "for functions with huge numbers of paths.",
    .options = options,
    .run = run,
};
