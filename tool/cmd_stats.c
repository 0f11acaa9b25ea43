/* footpath stats: characteristics of paths, and what two profiles have in common. */
#include "commands.h"

#include "report/statsreport.h"

static struct {
    struct cli_profiles inputs;
    bool json;
} given;

static const struct cli_option options[] = {
    {"--json", NULL, "as JSON", .flag = &given.json},
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static struct fp_profile *load_one(const struct cli_profiles *all, size_t index)
{
    struct cli_profiles one = {
        .binary = all->binary, .program = all->program, .skip_bad = all->skip_bad};
    fp_vec_push(&one.arena, &one.names, all->names.at[index]);
    struct fp_profile *profile = cli_load(&one);
    fp_arena_free(&one.arena);
    return profile;
}

static int print(const struct cli_profiles *inputs, bool json)
{
    struct fp_stats stats;
    struct fp_common common;
    struct fp_writer out = {0};
    bool two = inputs->names.len == 2;
    struct fp_profile *profile = load_one(inputs, 0),
                      *other = two && profile ? load_one(inputs, 1) : NULL;
    int status = EXIT_FAILED;
    if (profile && (other || !two)) {
        fp_stats_of(profile, &stats);
        if (other) fp_stats_common(profile, other, &common);
        if (!stats.functions)
            cli_say("%s: has no path counters; build with --fp-mode=path", inputs->names.at[0]);
        else
            (json ? fp_stats_json : fp_stats_text)(&out, &stats, other ? &common : NULL);
        status = stats.functions ? cli_output(NULL, &out) : EXIT_FAILED;
    }
    fp_profile_free(profile);
    fp_profile_free(other);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    if (given.inputs.names.len > 2)
        cli_usage(command, "at most two profiles; footpath merge adds runs up");
    int status = print(&given.inputs, given.json);
    fp_arena_free(&given.inputs.arena);
    return status;
}

struct cli_command command_stats = {
    .name = "stats",
    .arguments = "[PROFILE [OTHER]]",
    .summary = "Describe the paths of a run, and what it has in common with another",
    .text = "Lengths, paths per routine, and how much of it an edge profile alone predicts by\n"
            "following the most frequent edge. With OTHER, the paths and instructions of PROFILE\n"
            "that OTHER has as well.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
