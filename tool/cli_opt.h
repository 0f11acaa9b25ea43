/* Running LLVM's opt with the plugin. */
#ifndef FP_TOOL_CLI_OPT_H
#define FP_TOOL_CLI_OPT_H

#include "base/arena.h"

/* Becomes opt of LLVM `llvm`. settings: lines for the plugin (flags/flags.h). Returns only
 * where opt cannot be run, having said why: the exit status. */
int cli_run_opt(struct fp_arena *arena, const char *llvm, const char *settings, const char *passes,
                const char *input, const char *output);

#endif
