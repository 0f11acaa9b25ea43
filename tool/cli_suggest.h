/* "did you mean": the name that is nearest to one that is not known. */
#ifndef FP_TOOL_CLI_SUGGEST_H
#define FP_TOOL_CLI_SUGGEST_H

#include "profile/profile.h"

struct cli_nearest {
    const char *wanted;
    const char *name; /* the nearest yet, or NULL where none is near */
    size_t distance;
};

void cli_consider(struct cli_nearest *nearest, const char *name);

/* "; did you mean NAME?" or "". */
const char *cli_suggestion(struct fp_arena *arena, const struct cli_nearest *nearest);

/* Has the profile a function whose name contains `name`? NULL is fine. Else says so, with the
 * nearest that it has. */
bool cli_check_function(const struct fp_profile *profile, const char *name);

#endif
