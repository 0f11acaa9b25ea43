/* footpath annotate: source with counts, in the terminal. */
#include "commands.h"

#include "report/annotate.h"

static const struct cli_option options[] = {
    {"--function", "NAME", "only functions whose name contains NAME"},
    {"--top", "N", "how many functions, most costly first (5; 0: all that ran)"},
    {"--paths", "N", "hot paths marked in the margin, A first (3; at most 26)"},
    {"--json", NULL, "as JSON"},
    CLI_SOURCE_OPTIONS,
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { FUNCTION, TOP, PATHS, JSON, SOURCE_ROOT, MAP, BINARY, STRICT };

static int print(struct cli_profiles *inputs, struct fp_sources *sources, const char *function,
                 const struct fp_annotate_options *how, bool json)
{
    struct fp_profile *profile = cli_load(inputs);
    if (!profile) return EXIT_FAILED;
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_report_options what = {.function = function, .edges = true};
    struct fp_report *report = fp_report_make(&arena, profile, &what);
    (json ? fp_annotate_json : fp_annotate_text)(&out, report, sources, how);
    fp_arena_free(&arena);
    fp_profile_free(profile);
    return cli_output(NULL, &out);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    struct fp_sources sources = {0};
    struct fp_annotate_options how = {.top = 5, .paths = 3, .colours = cli_colours(stdout)};
    const char *function = NULL;
    bool json = false;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case FUNCTION: function = value; break;
        case TOP: how.top = cli_number(command, "--top", value); break;
        case PATHS: how.paths = cli_number(command, "--paths", value); break;
        case JSON: json = true; break;
        case SOURCE_ROOT: fp_vec_push(&sources.arena, &sources.roots, value); break;
        case MAP: cli_source_map(command, &sources, value); break;
        case BINARY: inputs.binary = value; break;
        case STRICT: inputs.strict = true; break;
        case CLI_WORD: fp_vec_push(&inputs.arena, &inputs.names, value); break;
        default: break;
        }
    }
    if (how.paths > 26) cli_usage(command, "--paths is at most 26");
    if (!inputs.names.len) fp_vec_push(&inputs.arena, &inputs.names, "footpath.prof");
    int status = print(&inputs, &sources, function, &how, json);
    fp_sources_free(&sources);
    fp_arena_free(&inputs.arena);
    return status;
}

struct cli_command command_annotate = {
    .name = "annotate",
    .arguments = "[PROFILE...]",
    .summary = "Show source with counts, and the hot paths in its margin",
    .text = "Per line: its count, the shares of the ways out of a branch there, and a letter for\n"
            "each of the function's most costly paths that passes it.",
    .options = options,
    .run = run,
};
