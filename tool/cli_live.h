/* Running programs where a profile is named: pid:N is what process N has counted so far in its
 * live file (docs/live.md). */
#ifndef FP_TOOL_CLI_LIVE_H
#define FP_TOOL_CLI_LIVE_H

#include "base/io.h"

bool cli_is_live_name(const char *name);
/* What the name stands for: the same for each time that the name is opened. `pid:N#LOOK` is another
 * name for each LOOK; only the last one is kept. */
bool cli_live_open(struct fp_file *file, const char *name, struct fp_error *error);
/* pid:N of a number as it was typed, or NULL: not a number. */
const char *cli_live_name(struct fp_arena *arena, const char *pid);

#endif
