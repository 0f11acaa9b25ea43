/* Live files (docs/formats/live.md, footpath/live_abi.h): what a process that was killed has
 * counted, or one that runs has counted so far, as the records that it would have written.
 *
 *     int fd = fp_open_regular(path, &error);
 *     if (fp_live_owner(fd) == FP_LIVE_OWNER_GONE)
 *         fp_live_read(&arena, fd, path, take_run, context, &outside, &error);
 */
#ifndef FP_PROFILE_LIVE_H
#define FP_PROFILE_LIVE_H

#include "profile/runs.h"

enum fp_live_owner {
    FP_LIVE_OWNER_RUNS,    /* some process counts in the file */
    FP_LIVE_OWNER_GONE,    /* none does */
    FP_LIVE_OWNER_UNKNOWN, /* the process is of another container, or the file cannot be read */
};

/* Who counts in an open file. Only this tells whether the file may be taken in. */
enum fp_live_owner fp_live_owner(int fd);

/* earlier: how many other records of the run and module the profile had when this one began. */
typedef bool fp_live_callback(struct fp_arena *arena, const struct fp_run *run, uint64_t earlier,
                              void *context);

/* Calls with the run of each module whose record is not in the profile yet. The file is hostile
 * input. *outside: how often the process found no room in the file; what it counted then may be
 * missing. A process may count meanwhile: each count is one that it had during this call. */
bool fp_live_read(struct fp_arena *arena, int fd, const char *name, fp_live_callback *call,
                  void *context, uint64_t *outside, struct fp_error *error);

/* Is `name` a live file beside the profile `of`? */
bool fp_is_live_name(const char *name, const char *of);
/* Is it such a file that never became one, because its process was killed while it began? */
bool fp_is_unborn_live(int fd, const char *name, const char *of);

/* What a running process has counted so far, as the bytes of a profile. The process is not stopped
 * and does not notice. */
bool fp_live_profile(uint64_t pid, struct fp_writer *bytes, struct fp_error *error);

#endif
