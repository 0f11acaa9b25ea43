/* Options that footpath plan and footpath p3 both have: how a program is divided. */
#ifndef FP_TOOL_CLI_DIVIDE_H
#define FP_TOOL_CLI_DIVIDE_H

#include "cli.h"
#include "p3/divide.h"

void cli_take_copies(const struct cli_command *command, const char *value,
                     struct fp_divide_options *how);
void cli_take_strategy(const struct cli_command *command, const char *value,
                       struct fp_divide_options *how);
void cli_take_labels(const struct cli_command *command, const char *value,
                     struct fp_divide_options *how);

#endif
