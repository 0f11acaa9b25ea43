/* footpath instrument: bitcode in, bitcode out (paper 000, section 4). */
#include "commands.h"

#include "cli_opt.h"
#include "flags/flags.h"

#include <string.h>

static struct {
    const char *input, *output, *mode, *cuts, *threads, *metric, *llvm;
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
    {"--cuts", "WHERE", "where paths end: fit, few, paper or loops (fit)", .text = &given.cuts},
    {"--exits", NULL, "exact counts where a function never returns", .flag = &given.exits},
    {"--threads", "HOW", "local, shared or atomic (local)", .text = &given.threads},
    {"--metric", "WHAT", "count, cycles or inclusive-cycles (count)", .text = &given.metric},
    {"--llvm", "N", "which opt to run (" FOOTPATH_DEFAULT_LLVM ")", .text = &given.llvm},
    {0},
};

/* Options that are flags of footpath-cc too, with the same words. */
static const struct {
    const char *name;
    const char **value;
} shared[] = {
    {"mode", &given.mode},
    {"cuts", &given.cuts},
    {"threads", &given.threads},
    {"metric", &given.metric},
};

/* Lines for the plugin, which would leave the bitcode as it is if it did not know a word. */
static char *settings(const struct cli_command *command, struct fp_arena *arena)
{
    char *text = fp_arena_strdup(arena, given.exits ? "exits=1\n" : "");
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const char *name = shared[i].name, *value = *shared[i].value;
        const struct fp_flag *flag = fp_flag_find(name, strlen(name));
        struct fp_flags checked = FP_FLAGS_DEFAULT;
        if (!value) continue;
        if (!fp_flag_set(flag, &checked, value))
            cli_usage(command, "--%s has no '%s'; known: %s", name, value, flag->value);
        text = fp_arena_printf(arena, "%s%s=%s\n", text, name, value);
    }
    return text;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    cli_parse(command, argc, argv);
    if (!given.input || !given.output) cli_usage(command, "an input and -o OUTPUT are needed");
    char *lines = settings(command, &arena);
    int status = EXIT_FAILED;
    if (cli_check_bitcode(given.input))
        status =
            cli_run_opt(&arena, given.llvm, lines, "-passes=footpath", given.input, given.output);
    fp_arena_free(&arena);
    return status;
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
