/* footpath merge: the sum of profiles, as one profile. */
#include "commands.h"

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write (footpath-merged.prof)"},
    {"--strict", NULL, "a bad input among several is an error, not skipped"},
    {NULL, NULL, NULL},
};
enum { OUTPUT, STRICT };

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    const char *output = "footpath-merged.prof";
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == OUTPUT) output = value;
        if (option == STRICT) inputs.strict = true;
        if (option == CLI_WORD) fp_vec_push(&inputs.arena, &inputs.names, value);
    }
    if (!inputs.names.len) cli_usage(command, "no profile given");
    struct fp_profile *profile = cli_read(&inputs);
    if (!profile) return EXIT_FAILED;
    struct fp_error error = {0};
    size_t nruns;
    struct fp_run *runs = fp_profile_merged(profile, &nruns);
    int status = fp_profile_write(output, runs, nruns, &error) ? EXIT_OK : cli_fail(&error, NULL);
    fp_profile_free(profile);
    fp_arena_free(&inputs.arena);
    return status;
}

struct cli_command command_merge = {
    .name = "merge",
    .arguments = "PROFILE...",
    .summary = "Add profiles up into one",
    .options = options,
    .run = run,
};
