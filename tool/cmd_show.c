/* footpath show: the paths that cost most, in the terminal or as JSON. */
#include "commands.h"

#include "api/handle.h"
#include "cli_combined.h"
#include "cli_live.h"
#include "cli_past.h"
#include "cli_suggest.h"
#include "report/show.h"

#include <math.h>

enum { TOP = 20 };

static struct {
    struct cli_profiles inputs;
    const char *function;
    enum fp_show_view view;
    struct cli_show_combined combined;
    uint64_t top, path; /* UINT64_MAX: not asked */
    bool json, plain, inclusive;
    unsigned past; /* of enum cli_past */
    struct fp_sources sources;
} given = {.top = UINT64_MAX, .path = UINT64_MAX, .combined.above = -1};

static void take_sort(const struct cli_command *command, char *value)
{
    if (!cli_rank_named(value, &given.combined.by))
        cli_usage(command, "--sort: unknown key '%s'", value);
}

static void take_above(const struct cli_command *command, char *value)
{
    if (!cli_real(value, 0, INFINITY, &given.combined.above))
        cli_usage(command, "--above needs a number, got '%s'", value);
}

static void take_pid(const struct cli_command *command, char *value)
{
    const char *name = cli_live_name(&given.inputs.arena, value);
    if (!name) cli_usage(command, "--pid needs the number of a process, got '%s'", value);
    cli_add_profile(&given.inputs, name);
}

static const struct cli_option options[] = {
    {"--pid", "N", "what process N, started with FOOTPATH_LIVE=1, has counted so far",
     .take = take_pid},
    {"--top", "N", "how many (20; 0: all)", .number = &given.top},
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.function},
    {"--path", "ID", "only the path with this id (footpath_query_hottest, --json)",
     .number = &given.path},
    {"--functions", NULL, "functions instead of paths", .chosen = &given.view,
     .choice = FP_SHOW_FUNCTIONS},
    {"--inclusive", NULL, "functions with what they called, in that order",
     .flag = &given.inclusive},
    {"--edges", NULL, "edges instead of paths", .chosen = &given.view, .choice = FP_SHOW_EDGES},
    {"--blocks", NULL, "blocks instead of paths", .chosen = &given.view, .choice = FP_SHOW_BLOCKS},
    {"--pairs", NULL, "sampled: pairs of paths that followed each other", .chosen = &given.past,
     .choice = CLI_PAST_PAIRS},
    {"--callers", NULL, "sampled: where functions were called", .chosen = &given.past,
     .choice = CLI_PAST_CALLERS},
    {"--plain", NULL, "lines with tabs between the fields, for scripts", .flag = &given.plain},
    {"--json", NULL, "everything, as JSON", .flag = &given.json},
    {"--sort", "KEY", "combined: by variation (default), deviation, mean, count, unseen",
     .take = take_sort, .words = "variation deviation mean count unseen"},
    {"--above", "X", "combined: the share of runs with a frequency above X", .take = take_above},
    {"--unseen", NULL, "combined: only what some runs are without", .flag = &given.combined.unseen},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static int show_runs(struct footpath *fp)
{
    struct fp_show_options how = {.view = given.view,
                                  .top = given.top == UINT64_MAX ? TOP : given.top,
                                  .colours = cli_colours(stdout),
                                  .width = cli_width(stdout),
                                  .inclusive = given.inclusive,
                                  .path = given.path == UINT64_MAX ? NULL : &given.path};
    struct fp_writer out = cli_stream(); /* there may be millions of paths */
    size_t count;
    footpath_functions(fp, &count);
    if (!count && !cli_check_function(fp->profile, given.function)) return EXIT_FAILED;
    struct cli_past_request past = {
        .profile = fp->profile,
        .filter = given.function,
        .binary = given.inputs.binary,
        .view = {how.top, how.colours, how.width, &fp->sources, {0}},
    };
    if (given.past && !given.json) return cli_show_past(&past, given.past);
    if (given.json)
        fp_show_json_with(&out, fp, cli_json_past, &past);
    else
        (given.plain ? fp_show_plain : fp_show_text)(&out, fp, &how);
    return cli_output(NULL, &out);
}

static int show_combined(struct footpath *fp)
{
    struct cli_show_combined *how = &given.combined;
    bool asked = given.top != UINT64_MAX;
    how->view = given.view, how->json = given.json;
    how->every_kind = given.view == FP_SHOW_PATHS;
    how->top = asked ? given.top : given.json ? 0 : TOP;
    return cli_show_combined(fp, how);
}

static void add_sources(struct footpath *fp)
{
    for (size_t i = 0; i < given.sources.roots.len; i++)
        footpath_add_source_root(fp, given.sources.roots.at[i]);
    for (size_t i = 0; i < given.sources.maps.len; i++)
        footpath_add_source_map(fp, given.sources.maps.at[i].before,
                                given.sources.maps.at[i].after);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    if (given.inclusive) given.view = FP_SHOW_FUNCTIONS;
    bool edges = given.json || given.view >= FP_SHOW_EDGES;
    struct footpath *fp = cli_open(&given.inputs, given.function, edges);
    fp_arena_free(&given.inputs.arena);
    if (!fp) return EXIT_FAILED;
    add_sources(fp);
    struct footpath_summary summary;
    footpath_summarize(fp, &summary);
    if (summary.combined && given.plain)
        cli_usage(command, "--plain is for profiles of runs; a combined profile has --json");
    if (given.past && (summary.combined || given.plain))
        cli_usage(command,
                  "--pairs and --callers are for profiles of runs, in text or with --json");
    if (given.path != UINT64_MAX &&
        (summary.combined || given.json || given.past || given.view != FP_SHOW_PATHS))
        cli_usage(command, "--path is for the paths of runs, in text or with --plain");
    int status = summary.combined ? show_combined(fp) : show_runs(fp);
    footpath_close(fp);
    fp_sources_free(&given.sources);
    return status;
}

struct cli_command command_show = {
    .name = "show",
    .arguments = "[PROFILE...]",
    .summary = "Show the paths that cost most, with their source lines",
    .text = "Without PROFILE, footpath.prof. A path is told in the words of the source:\n"
            "`n < 63 no` says that this condition, as it is written, did not hold. Where the\n"
            "source is not there, or not the one that was compiled, the place stands for the\n"
            "condition (`line 66:12 no`). `line 31 -> line 40` says where a branch went that\n"
            "does not tell what it means. Paths that read the same are one row.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
