/* footpath instrument: bitcode in, bitcode out (paper 000, section 4). */
#include "commands.h"

#include "base/io.h"
#include "flags/flags.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the instrumented bitcode"},
    {"--mode", "MODE", "path, edge, edge-min or check (path)"},
    {"--exits", NULL, "exact counts where a function never returns"},
    {"--threads", "HOW", "local, shared or atomic (local)"},
    {"--metric", "WHAT", "count or cycles (count)"},
    {"--llvm", "N", "which opt to run (" FOOTPATH_DEFAULT_LLVM ")"},
    {NULL, NULL, NULL},
};
enum { OUTPUT, MODE, EXITS, THREADS, METRIC, LLVM };

static char *beside(struct fp_arena *arena, const char *name)
{
    return fp_arena_printf(arena, "%s/../lib/footpath/%s", fp_own_folder(arena), name);
}

static char *find_opt(struct fp_arena *arena, const char *llvm)
{
    char *debian = fp_arena_printf(arena, "/usr/lib/llvm-%s/bin/opt", llvm);
    return access(debian, X_OK) == 0 ? debian : fp_arena_printf(arena, "opt-%s", llvm);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct fp_arena arena = {0};
    const char *input = NULL, *output = NULL, *llvm = FOOTPATH_DEFAULT_LLVM;
    char *value, *settings = fp_arena_strdup(&arena, "");
    static const char *const names[] = {NULL, "mode", "exits", "threads", "metric"};
    bool have_mode = false;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == OUTPUT) output = value;
        if (option == LLVM) llvm = value;
        if (option == MODE) have_mode = true;
        if (option >= MODE && option <= METRIC)
            settings = fp_arena_printf(&arena, "%s%s=%s\n", settings, names[option],
                                       option == EXITS ? "1" : value);
        if (option != CLI_WORD) continue;
        if (input) cli_usage(command, "one input at a time");
        input = value;
    }
    if (!input || !output) cli_usage(command, "an input and -o OUTPUT are needed");
    if (!cli_check_bitcode(input)) return EXIT_FAILED;
    if (!have_mode) settings = fp_arena_printf(&arena, "%smode=path\n", settings);
    setenv(FP_PLUGIN_VARIABLE, settings, 1);
    char *opt = find_opt(&arena, llvm);
    char *plugin = beside(&arena, fp_arena_printf(&arena, "footpath-llvm-%s.so", llvm));
    if (access(plugin, R_OK) < 0) {
        cli_say("no plugin for LLVM %s: expected %s", llvm, plugin);
        return EXIT_FAILED;
    }
    execlp(opt, opt, fp_arena_printf(&arena, "-load-pass-plugin=%s", plugin), "-passes=footpath",
           input, "-o", output, (char *)NULL);
    cli_say("cannot run %s: %s; install llvm-%s", opt, strerror(errno), llvm);
    return EXIT_FAILED;
}

struct cli_command command_instrument = {
    .name = "instrument",
    .arguments = "INPUT.bc -o OUTPUT.bc",
    .summary = "Instrument bitcode",
    .text = "Link the result with footpath-cc, which adds the runtime:\n"
            "  footpath instrument example.bc -o example.pp.bc\n"
            "  footpath-cc example.pp.bc -o example",
    .options = options,
    .run = run,
};
