/* footpath fold: puts what killed processes have left beside a profile into it (docs/live.md). */
#include "commands.h"

#include "profile/aside.h"

static struct {
    struct cli_profiles inputs;
    bool quiet;
} given;

static const struct cli_option options[] = {
    {"--quiet", NULL, "do not say what was found", .flag = &given.quiet},
    {0},
};

static void tell(const char *path, const struct fp_beside *b)
{
    if (b->runs || b->killed)
        printf("%s: took in %s record%s; %s process%s had been killed\n", path, cli_count(b->runs),
               b->runs == 1 ? "" : "s", cli_count(b->killed), b->killed == 1 ? "" : "es");
    else
        printf("%s: nothing to take in\n", path);
    if (b->running)
        printf("%s: %s process%s still count%s in a live file\n", path, cli_count(b->running),
               b->running == 1 ? "" : "es", b->running == 1 ? "s" : "");
}

/* What may be missing is said, also with --quiet. */
static void warn(const char *path, const struct fp_beside *b)
{
    if (b->why.set) cli_fail(&b->why, "the file stays as it is");
    if (b->unknown > b->why.set)
        cli_say("%s: some live files are left alone: whether their processes run cannot be told "
                "from here; fold where they ran",
                path);
    if (b->outside)
        cli_say("%s: a live file had no room left; counts that were made then are missing", path);
}

static bool fold(const char *path)
{
    struct fp_error error = {0};
    struct fp_beside beside = {0};
    bool ok = fp_profile_fold(path, &beside, &error);
    if (!ok) cli_fail(&error, "the live files stay as they are");
    if (ok && beside.damaged)
        cli_say("%s: is damaged or no profile, so the live files stay as they are; "
                "footpath merge -o %s %s keeps the runs that can be read",
                path, path, path);
    ok &= !beside.damaged;
    if (ok && !given.quiet) tell(path, &beside);
    if (ok) warn(path, &beside);
    return ok && !beside.why.set;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    bool ok = true;
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    for (size_t i = 0; i < given.inputs.names.len; i++) ok &= fold(given.inputs.names.at[i]);
    fp_arena_free(&given.inputs.arena);
    return ok ? EXIT_OK : EXIT_FAILED;
}

struct cli_command command_fold = {
    .name = "fold",
    .arguments = "[PROFILE...]",
    .summary = "Put what killed processes have counted into their profile",
    .text = "A process with FOOTPATH_LIVE=1 counts in a file beside the profile. Where it was\n"
            "killed, commands that read the profile read that file, too, and this one puts it\n"
            "into the profile. Each run goes in once, however many do so at a time.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
