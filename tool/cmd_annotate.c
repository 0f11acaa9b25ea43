/* footpath annotate: source with counts, in the terminal. */
#include "commands.h"

#include "cli_code.h"
#include "cli_suggest.h"
#include "report/annotate.h"

static struct {
    struct cli_profiles inputs;
    struct fp_sources sources;
    struct fp_annotate_options how;
    const char *function;
    bool json;
} given = {.how = {.top = 5, .paths = 3}};

static const struct cli_option options[] = {
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.function},
    {"--top", "N", "how many functions, most costly first (5; 0: all that ran)",
     .number = &given.how.top},
    {"--paths", "N", "hot paths marked in the margin, A first (3; at most 26)",
     .number = &given.how.paths},
    {"--json", NULL, "as JSON", .flag = &given.json},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static int print(void)
{
    struct fp_profile *profile = cli_load(&given.inputs);
    if (!profile) return EXIT_FAILED;
    if (!cli_check_function(profile, given.function)) {
        fp_profile_free(profile);
        return EXIT_FAILED;
    }
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct cli_code code;
    cli_code_init(&code, given.inputs.binary);
    given.how.code = &code.reader;
    struct fp_report_options what = {.function = given.function, .edges = true};
    struct fp_report *report = fp_report_make(&arena, profile, &what);
    (given.json ? fp_annotate_json : fp_annotate_text)(&out, report, &given.sources, &given.how);
    cli_code_free(&code);
    fp_arena_free(&arena);
    fp_profile_free(profile);
    return cli_output(NULL, &out);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    given.how.colours = cli_colours(stdout);
    if (given.how.paths > 26) cli_usage(command, "--paths is at most 26");
    cli_default_profile(&given.inputs);
    int status = print();
    fp_sources_free(&given.sources);
    fp_arena_free(&given.inputs.arena);
    return status;
}

struct cli_command command_annotate = {
    .name = "annotate",
    .arguments = "[PROFILE...]",
    .summary = "Show source with counts, and the hot paths in its margin",
    .text = "Per line: its count, the shares of the ways out of a branch there, and a letter for\n"
            "each of the function's most costly paths that passes it. An executable without line\n"
            "information is shown by its instructions.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
