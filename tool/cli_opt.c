/* Running LLVM's opt: see cli_opt.h. */
#include "cli_opt.h"

#include "cli.h"
#include "flags/flags.h"
#include "flags/plugins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *find_opt(struct fp_arena *arena, const char *llvm)
{
    char *debian = fp_arena_printf(arena, "/usr/lib/llvm-%s/bin/opt", llvm);
    return access(debian, X_OK) == 0 ? debian : fp_arena_printf(arena, "opt-%s", llvm);
}

int cli_run_opt(struct fp_arena *arena, const char *llvm, const char *settings, const char *passes,
                const char *input, const char *output)
{
    char *opt = find_opt(arena, llvm);
    struct fp_error error = {0};
    char *plugin = fp_plugin_find(arena, llvm, "--llvm", &error);
    if (!plugin) return cli_fail(&error, NULL);
    setenv(FP_PLUGIN_VARIABLE, settings, 1);
    execlp(opt, opt, fp_arena_printf(arena, "-load-pass-plugin=%s", plugin), passes, input, "-o",
           output, (char *)NULL);
    cli_say("cannot run %s: %s; install llvm-%s", opt, strerror(errno), llvm);
    return EXIT_FAILED;
}
