/* footpath diff: what changed between two runs or two builds. */
#include "commands.h"

#include "cli_combined.h"
#include "combined/combinedview.h"
#include "profile/splitruns.h"
#include "report/statsreport.h"

static struct {
    struct cli_profiles inputs;
    struct fp_diff_options how;
    struct fp_diff_view view;
    struct fp_sources sources;
    bool json;
    double confidence; /* in percent */
} given = {.view.top = 20};

static const struct cli_option options[] = {
    {"--edges", NULL, "edges instead of paths", .flag = &given.how.edges},
    {"--relative", NULL, "rank by share of each side's instructions, for runs of other lengths",
     .flag = &given.how.relative},
    {"--confidence", "PERCENT", "leave out what several runs do not bear out (0: show all)",
     .percent = &given.confidence},
    {"--top", "N", "how many (20; 0: all)", .number = &given.view.top},
    {"--json", NULL, "everything, as JSON", .flag = &given.json},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

enum { MOST_RUNS = 64 };

/* Runs of one side each as a profile of its own, for the spread between them. */
static void split_runs(struct fp_arena *arena, struct fp_diff_side *side)
{
    struct fp_split split;
    fp_profile_split(arena, side->profile, MOST_RUNS, &split);
    side->runs = split.runs.at;
    side->nruns = split.runs.len;
}

static bool load_side(struct fp_arena *arena, const struct cli_profiles *all, size_t index,
                      struct fp_diff_side *side)
{
    struct cli_profiles one = {
        .binary = all->binary, .program = all->program, .skip_bad = all->skip_bad};
    fp_vec_push(&one.arena, &one.names, all->names.at[index]);
    if (fp_is_combined(all->names.at[index])) {
        const struct fp_combined_view *view = cli_load_view(&one);
        side->view = view;
        side->spread_of = fp_combined_view_spread;
        side->profile = view ? view->profile : NULL;
    } else {
        side->profile = cli_load(&one);
        if (side->profile) split_runs(arena, side);
    }
    fp_arena_free(&one.arena);
    return side->profile;
}

static void free_side(struct fp_diff_side *side)
{
    for (size_t i = 0; i < side->nruns; i++) fp_profile_free(side->runs[i]);
    fp_profile_free(side->profile);
}

static int print(const struct cli_profiles *inputs, const struct fp_diff_options *how,
                 const struct fp_diff_view *view, bool json)
{
    struct fp_arena arena = {0};
    struct fp_diff_side a = {0}, b = {0};
    int status = EXIT_FAILED;
    if (load_side(&arena, inputs, 0, &a) && load_side(&arena, inputs, 1, &b)) {
        struct fp_diff diff;
        struct fp_writer out = {0};
        fp_diff_make(&arena, &a, &b, how, &diff);
        if (json)
            fp_diff_json(&out, &diff, &a, &b, view);
        else
            fp_diff_text(&out, &diff, &a, &b, view);
        status = cli_output(NULL, &out);
    }
    free_side(&a);
    free_side(&b);
    fp_arena_free(&arena);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    given.view.colours = cli_colours(stdout);
    given.view.width = cli_width(stdout);
    given.view.relative = given.how.relative;
    given.view.sources = &given.sources;
    given.view.confidence = given.confidence / 100;
    if (given.inputs.names.len != 2) cli_usage(command, "needs two profiles");
    int status = print(&given.inputs, &given.how, &given.view, given.json);
    fp_arena_free(&given.inputs.arena);
    fp_sources_free(&given.sources);
    return status;
}

struct cli_command command_diff = {
    .name = "diff",
    .arguments = "BEFORE AFTER",
    .summary = "Show which paths changed between two runs or two builds",
    .text =
        "Counts are those of all runs in a profile. Where both profiles hold several runs,\n"
        "or are combined ones, `sure` is the confidence that the means differ (Welch's t-test).\n"
        "Below a path stands the first branch at which it parts from what the other side did.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
