/* Which builds of which programs a profile file has runs of. Any number of programs can write
 * to one file; tools look at one build at a time: the one that ran last, unless asked for
 * another.
 *
 *     struct fp_builds builds = {0};
 *     fp_builds_init(&builds, &arena);
 *     for each record, in the order of the file:  fp_builds_note(&builds, run);
 *     const struct fp_build *chosen = fp_builds_choose(&builds, "name", &error);
 *     for each record again:  if (fp_builds_of(&builds, run) == chosen) ...
 *
 * A run has a record for the executable and one for each instrumented library. A library's
 * record does not say which build the program was, so it is counted with the executable's
 * record of the same run. Where that run has none (merged profiles, programs that were not
 * instrumented) it is counted with the last build of a program of that path.
 */
#ifndef FP_PROFILE_BUILDS_H
#define FP_PROFILE_BUILDS_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/runs.h"

struct fp_build {
    const char *program; /* path of the executable */
    const unsigned char *build_id;
    size_t build_id_len; /* 0: not known */
    bool identified;     /* by a record of the executable */
    bool left_out;       /* the profile does not take its runs */
    uint64_t runs;
    uint64_t end_ns; /* when its last run ended */
    uint64_t last;   /* place of its last record among all, for runs without a time */
};

struct fp_builds {
    struct fp_arena *arena;
    FP_VEC(struct fp_build *) all;
    struct fp_table of_run;  /* run id -> 1 + index of its build, by the executable's record */
    struct fp_table of_path; /* hash of the program's path -> 1 + index of its last build */
    struct fp_table noted;   /* run id -> runs that were counted for it */
    uint64_t records;
};

void fp_builds_init(struct fp_builds *builds, struct fp_arena *arena);
void fp_builds_note(struct fp_builds *builds, const struct fp_run *run);

/* After all were noted. */
const struct fp_build *fp_builds_of(const struct fp_builds *builds, const struct fp_run *run);

/* The build that ran last: of all with NULL, else of those whose program has that name or path
 * or whose build-id begins with these hexadecimal digits. NULL: none, and the error lists what
 * there is. */
const struct fp_build *fp_builds_choose(const struct fp_builds *builds, const char *wanted,
                                        const char *file, struct fp_error *error);

/* No other build of the same program ran later. */
bool fp_builds_is_last(const struct fp_builds *builds, const struct fp_build *build);

#endif
