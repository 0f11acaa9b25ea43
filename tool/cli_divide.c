/* Options of footpath plan and footpath p3: see cli_divide.h. */
#include "cli_divide.h"

#include <string.h>

void cli_take_copies(const struct cli_command *command, const char *value,
                     struct fp_divide_options *how)
{
    uint64_t copies = cli_number(command, "-k", value);
    if (copies < 1 || copies > FP_MOST_COPIES)
        cli_usage(command, "-k needs a number from 1 to %d", FP_MOST_COPIES);
    how->ncopies = (uint32_t)copies;
}

void cli_take_strategy(const struct cli_command *command, const char *value,
                       struct fp_divide_options *how)
{
    for (int i = FP_STRATEGY_P3; i <= FP_STRATEGY_INVOCATIONS; i++)
        if (!strcmp(value, fp_strategy_name((enum fp_strategy)i))) {
            how->strategy = (enum fp_strategy)i;
            return;
        }
    cli_usage(command, "unknown strategy %s", value);
}

void cli_take_labels(const struct cli_command *command, const char *value,
                     struct fp_divide_options *how)
{
    how->plain_labels = !strcmp(value, "plain");
    if (!how->plain_labels && strcmp(value, "weighted"))
        cli_usage(command, "unknown labels %s", value);
}
