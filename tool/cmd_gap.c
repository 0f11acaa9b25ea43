/* footpath gap: what production does that no test does. */
#include "commands.h"

#include "cli_gate.h"
#include "report/gapreport.h"

#include <string.h>
#include <unistd.h>

static struct {
    struct cli_profiles inputs;
    struct fp_gap_view view;
    struct fp_sources sources;
    const char *format, *output;
    double least; /* below 0: no bar */
} given = {.view.top = 20, .format = "text", .least = -1};

static const struct cli_option options[] = {
    {"--fail-under", "PERCENT", "exit 3 when tests took less of production than this",
     .percent = &given.least},
    {"--count", NULL, "shares by executions of paths, not by instructions",
     .flag = &given.view.by_count},
    {"--paths", NULL, "every path, not the most costly one of each gap", .flag = &given.view.paths},
    {"--top", "N", "how many gaps, in text and SARIF (20; 0: all)", .number = &given.view.top},
    {"--format", "FORMAT", "text, json, sarif", .text = &given.format},
    {"--json", NULL, "as --format json", .text = &given.format, .as_text = "json"},
    {"-o", "FILE", "where to write (standard output)", .text = &given.output},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

/* The first word is production, the others are tests, of whichever programs. */
static struct fp_profile *load(const struct cli_profiles *all, bool tests)
{
    struct cli_profiles some = {
        .binary = all->binary, .program = tests ? NULL : all->program, .skip_bad = all->skip_bad};
    some.all_builds = tests;
    for (size_t i = tests; i < (tests ? all->names.len : 1); i++)
        fp_vec_push(&some.arena, &some.names, all->names.at[i]);
    struct fp_profile *profile = cli_load(&some);
    fp_arena_free(&some.arena);
    return profile;
}

static int check_bar(const struct fp_gaps *gaps, const struct fp_profile *production)
{
    double percent = 100 * fp_gaps_tested(gaps, given.view.by_count);
    bool low = percent < given.least;
    if (given.least < 0) return EXIT_OK;
    if (!cli_gate_open(&given.inputs, production)) return EXIT_FAILED;
    cli_say("tests took %.1f%% of %s, %s %.1f%%", percent, given.view.production,
            low ? "below" : "not below", given.least);
    return low ? EXIT_THRESHOLD : EXIT_OK;
}

static int print(const struct fp_gaps *gaps, const struct fp_profile *production)
{
    struct fp_writer out = {0};
    if (!strcmp(given.format, "json"))
        fp_gap_json(&out, gaps, &given.view);
    else if (!strcmp(given.format, "sarif"))
        fp_gap_sarif(&out, gaps, &given.view);
    else
        fp_gap_text(&out, gaps, &given.view);
    int status = cli_output(given.output, &out);
    return status ? status : check_bar(gaps, production);
}

static int compare(struct fp_arena *arena, const struct fp_profile *production,
                   const struct fp_profile *tests)
{
    struct fp_gaps gaps;
    fp_gaps_make(arena, production, tests, &gaps);
    if (!gaps.tested.paths && !gaps.untested.paths && !gaps.unknown.paths) {
        cli_say("%s has no counted paths: build the program with --fp-mode=path or pep",
                given.inputs.names.at[0]);
        return EXIT_FAILED;
    }
    given.view.production = cli_measured(arena, production);
    given.view.tests = cli_measured(arena, tests);
    return print(&gaps, production);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    cli_parse(command, argc, argv);
    if (given.inputs.names.len < 2)
        cli_usage(command, "needs the profile of production and those of tests");
    if (strcmp(given.format, "text") && strcmp(given.format, "json") &&
        strcmp(given.format, "sarif"))
        cli_usage(command, "unknown format %s", given.format);
    given.view.sources = &given.sources;
    given.view.width = cli_width(stdout);
    given.view.colours = !given.output && cli_colours(stdout);
    char folder[4096];
    given.view.folder = getcwd(folder, sizeof folder);
    struct fp_profile *production = load(&given.inputs, false);
    struct fp_profile *tests = production ? load(&given.inputs, true) : NULL;
    int status = tests ? compare(&arena, production, tests) : EXIT_FAILED;
    fp_profile_free(production);
    fp_profile_free(tests);
    fp_arena_free(&arena);
    fp_arena_free(&given.inputs.arena);
    fp_sources_free(&given.sources);
    return status;
}

struct cli_command command_gap = {
    .name = "gap",
    .arguments = "PRODUCTION TESTS...",
    .summary = "Show what production does that no test does",
    .text = "Each gap is a branch at which paths of the production run leave what tests took: a\n"
            "branch that no test went, or one that tests went only after another beginning. The\n"
            "gaps that most of production goes through come first.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
