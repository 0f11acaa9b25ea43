/* footpath optimize: bitcode in, faster bitcode out, by a profile of it. */
#include "commands.h"

#include "base/io.h"
#include "guide/makeguide.h"
#include "flags/flags.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {"--profile", "FILE", "a profile of the instrumented bitcode, or a guide"},
    {"-o", "FILE", "where to write the optimised bitcode"},
    {"--level", "N", "of optimisation: 0 (only what the profile tells), 1, 2 or 3 (2)"},
    {"--edges", NULL, "by edges alone: no path-guided duplication"},
    {"--remarks", NULL, "say what is done, and why"},
    {"--llvm", "N", "which opt to run (" FOOTPATH_DEFAULT_LLVM ")"},
    {NULL, NULL, NULL},
};
enum { PROFILE, OUTPUT, LEVEL, EDGES, REMARKS, LLVM };

struct settings {
    const char *input, *output, *profile, *level, *llvm;
    bool edges, remarks;
};

static char *beside(struct fp_arena *arena, const char *name)
{
    return fp_arena_printf(arena, "%s/../lib/footpath/%s", fp_own_folder(arena), name);
}

static int run_opt(struct fp_arena *arena, const struct settings *s, const char *guide)
{
    char *plugin = beside(arena, fp_arena_printf(arena, "footpath-llvm-%s.so", s->llvm));
    char *opt = fp_arena_printf(arena, "/usr/lib/llvm-%s/bin/opt", s->llvm);
    if (access(opt, X_OK) < 0) opt = fp_arena_printf(arena, "opt-%s", s->llvm);
    if (access(plugin, R_OK) < 0) {
        cli_say("no plugin for LLVM %s: expected %s", s->llvm, plugin);
        return EXIT_FAILED;
    }
    char *passes = fp_arena_strdup(arena, "-passes=footpath-use");
    if (strcmp(s->level, "0")) passes = fp_arena_printf(arena, "%s,default<O%s>", passes, s->level);
    setenv(FP_PLUGIN_VARIABLE,
           fp_arena_printf(arena, "mode=none\nuse=%s\npaths=%s\nremarks=%d\n", guide,
                           s->edges ? "no" : "yes", s->remarks),
           1);
    execlp(opt, opt, fp_arena_printf(arena, "-load-pass-plugin=%s", plugin), passes, s->input, "-o",
           s->output, (char *)NULL);
    cli_say("cannot run %s: %s; install llvm-%s", opt, strerror(errno), s->llvm);
    return EXIT_FAILED;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct settings s = {.level = "2", .llvm = FOOTPATH_DEFAULT_LLVM};
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case PROFILE: s.profile = value; break;
        case OUTPUT: s.output = value; break;
        case LEVEL: s.level = value; break;
        case EDGES: s.edges = true; break;
        case REMARKS: s.remarks = true; break;
        case LLVM: s.llvm = value; break;
        case CLI_WORD:
            if (s.input) cli_usage(command, "one input at a time");
            s.input = value;
            break;
        default: break;
        }
    }
    if (!s.input || !s.output || !s.profile)
        cli_usage(command, "an input, --profile FILE and -o OUTPUT are needed");
    if (strlen(s.level) != 1 || !strchr("0123", s.level[0]))
        cli_usage(command, "--level is 0, 1, 2 or 3, got %s", s.level);
    if (!cli_check_bitcode(s.input)) return EXIT_FAILED;
    const char *guide = fp_guide_cached(&arena, s.profile, FP_GUIDE_BY_SUM, &error);
    if (!guide) return cli_fail(&error, NULL);
    return run_opt(&arena, &s, guide);
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
    .run = run,
};
