/* footpath coverage: how much of the program ran, in blocks, edges and paths. */
#include "commands.h"

#include "cli_gate.h"
#include "cli_suggest.h"
#include "report/coverreport.h"

#include <string.h>

struct coverage_request {
    const char *only, *format, *output, *metric;
    bool functions;
    double least; /* below 0: no bar */
    struct cli_profiles inputs;
};

static struct coverage_request given = {.format = "text", .metric = "edges", .least = -1};

static const struct cli_option options[] = {
    {"--functions", NULL, "a line per function, too", .flag = &given.functions},
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.only},
    {"--fail-under", "PERCENT", "exit 3 when coverage is lower; names what was measured",
     .percent = &given.least},
    {"--metric", "NAME",
     "for --fail-under: functions, lines, blocks, edges (default), paths, basis",
     .text = &given.metric, .words = "functions lines blocks edges paths basis"},
    {"--format", "FORMAT", "text, json, lcov, cobertura", .text = &given.format,
     .words = "text json lcov cobertura"},
    {"--json", NULL, "as --format json", .text = &given.format, .as_text = "json"},
    {"-o", "FILE", "where to write (standard output)", .text = &given.output},
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

/* The figure against the bar, with the name of what was measured. */
static int check_bar(const struct coverage_request *request, const struct fp_profile *profile,
                     const struct fp_cover_report *report)
{
    struct fp_arena arena = {0};
    struct fp_covered covered = {0};
    double percent;
    if (request->least < 0) return EXIT_OK;
    if (!cli_gate_open(&request->inputs, profile)) return EXIT_FAILED;
    fp_cover_figure(report, request->metric, &covered);
    percent = fp_covered_percent(covered);
    const char *what = cli_measured(&arena, profile);
    bool low = percent < request->least;
    if (!covered.all)
        cli_say("there are no %s to measure in %s%s%s", request->metric, what,
                request->only ? ", in functions with " : "", request->only ? request->only : "");
    else
        cli_say("coverage of %s is %.1f%%, %s %.1f%%, in %s", request->metric, percent,
                low ? "below" : "not below", request->least, what);
    fp_arena_free(&arena);
    return !covered.all ? EXIT_FAILED : low ? EXIT_THRESHOLD : EXIT_OK;
}

static int print(const struct coverage_request *request, const struct fp_profile *profile,
                 const struct fp_cover_report *report)
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
    return status ? status : check_bar(request, profile, report);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    struct fp_profile *profile = cli_load(&given.inputs);
    if (!profile) return EXIT_FAILED;
    struct fp_arena arena = {0};
    int status = EXIT_FAILED;
    if (cli_check_function(profile, given.only))
        status = print(&given, profile, fp_cover_make(&arena, profile, given.only));
    fp_arena_free(&arena);
    fp_profile_free(profile);
    fp_arena_free(&given.inputs.arena);
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
    .words = &given.inputs,
    .run = run,
};
