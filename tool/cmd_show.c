/* footpath show: the paths that cost most, in the terminal or as JSON. */
#include "commands.h"

#include "cli_combined.h"
#include "report/show.h"

#include <stdlib.h>

static const struct cli_option options[] = {
    {"--top", "N", "how many (20; 0: all)"},
    {"--function", "NAME", "only functions whose name contains NAME"},
    {"--functions", NULL, "functions instead of paths"},
    {"--edges", NULL, "edges instead of paths"},
    {"--blocks", NULL, "blocks instead of paths"},
    {"--json", NULL, "everything, as JSON"},
    {"--sort", "KEY", "combined: by variation (default), deviation, mean, count, unseen"},
    {"--above", "X", "combined: the share of runs with a frequency above X"},
    {"--unseen", NULL, "combined: only what some runs are without"},
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { TOP, FUNCTION, FUNCTIONS, EDGES, BLOCKS, JSON, SORT, ABOVE, UNSEEN, BINARY, STRICT };

static double read_frequency(const struct cli_command *command, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (*end || end == value || !(number >= 0))
        cli_usage(command, "--above needs a number, got '%s'", value);
    return number;
}

static int no_such_function(const char *name)
{
    struct fp_error error = {0};
    fp_fail(&error, NULL, "no function '%s' in the profile; footpath show --functions lists them",
            name);
    return cli_fail(&error, NULL);
}

/* As text, or with `how` NULL as JSON. */
static int show_runs(struct footpath *fp, const struct fp_show_options *how, const char *function)
{
    struct fp_writer out = {0};
    size_t count;
    footpath_functions(fp, &count);
    if (function && !count) return no_such_function(function);
    if (how)
        fp_show_text(&out, fp, how);
    else
        fp_show_json(&out, fp);
    return cli_output(NULL, &out);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    const char *what = NULL; /* functions */
    struct fp_show_options how = {.view = FP_SHOW_PATHS, .top = 20, .colours = cli_colours(stdout)};
    struct cli_show_combined combined = {.every_kind = true, .above = -1};
    bool json = false;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case TOP: how.top = combined.top = cli_number(command, "--top", value); break;
        case FUNCTION: what = value; break;
        case FUNCTIONS: how.view = FP_SHOW_FUNCTIONS, combined.every_kind = false; break;
        case EDGES: how.view = FP_SHOW_EDGES, combined.every_kind = false; break;
        case BLOCKS: how.view = FP_SHOW_BLOCKS, combined.every_kind = false; break;
        case JSON: json = true; break;
        case SORT:
            if (!cli_rank_named(value, &combined.by))
                cli_usage(command, "--sort: unknown key '%s'", value);
            break;
        case ABOVE: combined.above = read_frequency(command, value); break;
        case UNSEEN: combined.unseen = true; break;
        case BINARY: inputs.binary = value; break;
        case STRICT: inputs.strict = true; break;
        case CLI_WORD: fp_vec_push(&inputs.arena, &inputs.names, value); break;
        default: break;
        }
    }
    if (!inputs.names.len) fp_vec_push(&inputs.arena, &inputs.names, "footpath.prof");
    struct footpath *fp = cli_open(&inputs, what, json || how.view >= FP_SHOW_EDGES);
    fp_arena_free(&inputs.arena);
    if (!fp) return EXIT_FAILED;
    struct footpath_summary summary;
    footpath_summarize(fp, &summary);
    if (summary.combined && !json) combined.top = how.top;
    combined.view = how.view, combined.json = json;
    int status = summary.combined ? cli_show_combined(fp, &combined)
                                  : show_runs(fp, json ? NULL : &how, what);
    footpath_close(fp);
    return status;
}

struct cli_command command_show = {
    .name = "show",
    .arguments = "[PROFILE...]",
    .summary = "Show the paths that cost most, with their source lines",
    .text = "Without PROFILE, footpath.prof. A path is a row of lines; (true) and (false) say\n"
            "which way a branch went, ... where a path begins or goes on at a loop.",
    .options = options,
    .run = run,
};
