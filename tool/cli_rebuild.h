/* Making a build compile everything again, for footpath pgo.
 *
 * No tool can ask a build system for that without knowing it. But every build system that goes
 * by the times of files compiles a source again that is newer than its object. So the sources
 * that footpath-cc compiled are made new for the second build, and get their times back.
 */
#ifndef FP_TOOL_CLI_REBUILD_H
#define FP_TOOL_CLI_REBUILD_H

#include "base/buildlog.h"

#include <sys/stat.h>

struct cli_touched {
    FP_VEC(struct cli_source {
        const char *name;
        struct timespec times[2]; /* as they were */
    })
    sources;
};

void cli_touch(struct fp_arena *arena, const struct fp_build_log *log, struct cli_touched *touched);
void cli_untouch(const struct cli_touched *touched);

/* A program of the profile that was made since `begin` and has counters: the one that ran, or with
 * may_count false any. NULL: none has. */
const char *cli_still_counts(struct fp_arena *arena, const char *profile, struct timespec begin,
                             bool may_count, struct fp_error *error);

/* The command that cleans up what `build` makes, where that is one call of make, ninja, cmake
 * or meson; else NULL. */
char *cli_clean_of(struct fp_arena *arena, const char *build);

#endif
