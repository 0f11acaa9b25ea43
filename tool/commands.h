/* The subcommands, one per file cmd_NAME.c. */
#ifndef FP_TOOL_COMMANDS_H
#define FP_TOOL_COMMANDS_H

#include "cli.h"

extern struct cli_command command_combine, command_exe;
extern struct cli_command command_infer, command_learn, command_record;
extern struct cli_command command_compare, command_dot, command_export, command_import,
    command_info, command_instrument, command_merge, command_run, command_show, command_verify,
    command_watch;
extern struct cli_command command_divide, command_p3;
extern struct cli_command command_optimize, command_pgo;
extern struct cli_command command_collect, command_store;

extern struct cli_command command_annotate, command_completion, command_coverage, command_diff,
    command_fold, command_gap, command_report, command_stats;

#endif
