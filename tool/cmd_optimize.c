/* footpath optimize: bitcode in, faster bitcode out, by a profile of it. */
#include "commands.h"

#include "cli_opt.h"
#include "guide/makeguide.h"

#include <string.h>

static struct {
    const char *input, *output, *profile, *level, *llvm;
    bool edges, remarks;
} given = {.level = "2", .llvm = FOOTPATH_DEFAULT_LLVM};

static void take_input(const struct cli_command *command, char *value)
{
    if (given.input) cli_usage(command, "one input at a time");
    given.input = value;
}

static const struct cli_option options[] = {
    {"--profile", "FILE", "a profile of the instrumented bitcode, or a guide",
     .text = &given.profile},
    {"-o", "FILE", "where to write the optimised bitcode", .text = &given.output},
    {"--level", "N", "of optimisation: 0 (only what the profile tells), 1, 2 or 3 (2)",
     .text = &given.level},
    {"--edges", NULL, "by edges alone: no path-guided duplication", .flag = &given.edges},
    {"--remarks", NULL, "say what is done, and why", .flag = &given.remarks},
    {"--llvm", "N", "which opt to run (" FOOTPATH_DEFAULT_LLVM ")", .text = &given.llvm},
    {0},
};

static int run_opt(struct fp_arena *arena, const char *guide)
{
    char *passes = fp_arena_strdup(arena, "-passes=footpath-use");
    if (strcmp(given.level, "0"))
        passes = fp_arena_printf(arena, "%s,default<O%s>", passes, given.level);
    char *settings = fp_arena_printf(arena, "mode=none\nuse=%s\npaths=%s\nremarks=%d\n", guide,
                                     given.edges ? "no" : "yes", given.remarks);
    return cli_run_opt(arena, given.llvm, settings, passes, given.input, given.output);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    cli_parse(command, argc, argv);
    if (!given.input || !given.output || !given.profile)
        cli_usage(command, "an input, --profile FILE and -o OUTPUT are needed");
    if (strlen(given.level) != 1 || !strchr("0123", given.level[0]))
        cli_usage(command, "--level is 0, 1, 2 or 3, got %s", given.level);
    if (!cli_check_bitcode(given.input)) return EXIT_FAILED;
    const char *guide = fp_guide_cached(&arena, given.profile, FP_GUIDE_BY_SUM, &error);
    if (!guide) return cli_fail(&error, NULL);
    return run_opt(&arena, guide);
}

struct cli_command command_optimize = {
    .name = "optimize",
    .arguments = "INPUT.bc --profile FILE -o OUTPUT.bc",
    .summary = "Optimise bitcode by a profile of it",
    .text = "The input is the bitcode that was instrumented:\n"
            "  footpath instrument example.bc -o example.pp.bc\n"
            "  footpath-cc example.pp.bc -o example && ./example\n"
            "  footpath optimize example.bc --profile footpath.prof -o example.opt.bc",
    .options = options,
    .take_word = take_input,
    .run = run,
};
