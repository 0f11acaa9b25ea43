/* What footpath-cc compiles and links during a build.
 *
 * FOOTPATH_BUILD_LOG names a file, to which footpath-cc appends a line per input: "source PATH"
 * of a compilation, "linked PATH" of an object or archive in a link. `footpath pgo` and
 * `footpath p3` learn from it whether a build compiled anything, whether it took objects that
 * are older than the build, and which sources make it compile again.
 */
#ifndef FP_BASE_BUILDLOG_H
#define FP_BASE_BUILDLOG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <time.h>

#define FP_BUILD_LOG_VARIABLE "FOOTPATH_BUILD_LOG"

struct fp_build_log {
    FP_VEC(const char *) sources, linked; /* full names, sorted, each once */
    struct timespec begin;                /* of the build, by the clock of the file system */
};

/* An empty log at `path`, and the time of its file. */
bool fp_build_log_begin(const char *path, struct fp_build_log *log, struct fp_error *error);
/* What was noted since then. */
bool fp_build_log_read(struct fp_arena *arena, const char *path, struct fp_build_log *log,
                       struct fp_error *error);

/* Notes the inputs of one command; a file that does not exist is left out. */
void fp_build_log_add(const char *path, char *const *sources, size_t nsources, char *const *linked,
                      size_t nlinked);

/* Something below `folder` that was linked and is older than the build, or NULL. */
const char *fp_build_log_stale(const struct fp_build_log *log, const char *folder);

/* Was the file changed before the build began? Not where it does not exist. */
bool fp_older(const char *path, struct timespec begin);

#endif
