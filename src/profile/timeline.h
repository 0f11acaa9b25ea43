/* A profile by time: its runs in stretches of equal length, each as a profile of its own that
 * shares the whole's maps. Runs belong to the time when they ended.
 *
 *     struct fp_timeline line;
 *     fp_timeline_make(&arena, whole, 60, &line);
 *     for (size_t i = 0; i < line.n; i++) use(line.parts[i]);   from line.begin_ns + i * step_ns
 *     fp_timeline_free(&line);
 */
#ifndef FP_PROFILE_TIMELINE_H
#define FP_PROFILE_TIMELINE_H

#include "profile/profile.h"

struct fp_timeline {
    uint64_t begin_ns, step_ns; /* a step is a second, a minute, ..., a week, or some of them */
    size_t n;                   /* 0: all runs ended at one time, or some file cannot be read */
    struct fp_profile **parts;
};

/* needs: the maps of `whole` are loaded. At most `most` stretches. */
void fp_timeline_make(struct fp_arena *arena, const struct fp_profile *whole, size_t most,
                      struct fp_timeline *line);
void fp_timeline_free(struct fp_timeline *line);

#endif
