/* footpath instrument: bitcode in, bitcode out (paper 000, section 4). */
#include "commands.h"

#include "cli_opt.h"

static struct {
    const char *input, *output, *mode, *threads, *metric, *llvm;
    bool exits;
} given = {.mode = "path", .llvm = FOOTPATH_DEFAULT_LLVM};

static void take_input(const struct cli_command *command, char *value)
{
    if (given.input) cli_usage(command, "one input at a time");
    given.input = value;
}

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the instrumented bitcode", .text = &given.output},
    {"--mode", "MODE", "path, edge, edge-min or check (path)", .text = &given.mode},
    {"--exits", NULL, "exact counts where a function never returns", .flag = &given.exits},
    {"--threads", "HOW", "local, shared or atomic (local)", .text = &given.threads},
    {"--metric", "WHAT", "count or cycles (count)", .text = &given.metric},
    {"--llvm", "N", "which opt to run (" FOOTPATH_DEFAULT_LLVM ")", .text = &given.llvm},
    {0},
};

/* Lines for the plugin. */
static char *settings(struct fp_arena *arena)
{
    char *text = fp_arena_printf(arena, "mode=%s\n", given.mode);
    if (given.exits) text = fp_arena_printf(arena, "%sexits=1\n", text);
    if (given.threads) text = fp_arena_printf(arena, "%sthreads=%s\n", text, given.threads);
    if (given.metric) text = fp_arena_printf(arena, "%smetric=%s\n", text, given.metric);
    return text;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    cli_parse(command, argc, argv);
    if (!given.input || !given.output) cli_usage(command, "an input and -o OUTPUT are needed");
    if (!cli_check_bitcode(given.input)) return EXIT_FAILED;
    return cli_run_opt(&arena, given.llvm, settings(&arena), "-passes=footpath", given.input,
                       given.output);
}

struct cli_command command_instrument = {
    .name = "instrument",
    .arguments = "INPUT.bc -o OUTPUT.bc",
    .summary = "Instrument bitcode",
    .text = "Link the result with footpath-cc, which adds the runtime:\n"
            "  footpath instrument example.bc -o example.pp.bc\n"
            "  footpath-cc example.pp.bc -o example",
    .options = options,
    .take_word = take_input,
    .run = run,
};
