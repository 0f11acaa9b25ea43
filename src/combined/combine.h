/* Combining: runs, and combined profiles, into one combined profile.
 *
 *     struct fp_combiner *combiner = fp_combiner_new(binaries, nbinaries);
 *     struct fp_combined *sum = fp_combined_new(15);
 *     for each file: fp_combine_file(combiner, sum, file, NULL, &error);
 *
 * One run at a time is in memory. Maps of programs stay loaded in the combiner, which
 * is for one thread.
 */
#ifndef FP_COMBINED_COMBINE_H
#define FP_COMBINED_COMBINE_H

#include "combined/combined.h"
#include "profile/profile.h"
#include "profile/unfinished.h"

struct fp_combiner;

/* Maps come from the binaries, or from where the programs were when they ran. */
struct fp_combiner *fp_combiner_new(const char *const *binaries, size_t nbinaries);
void fp_combiner_free(struct fp_combiner *combiner);

/* Only runs of programs with this name, the last part of the path; NULL: of all. */
void fp_combiner_choose(struct fp_combiner *combiner, const char *program);

struct fp_combine_notes {
    bool opened;     /* the file could be opened */
    bool cut;        /* the file ends in the middle of a record */
    uint64_t merged; /* records that are sums of several runs: one trial each */
    uint64_t records;
    uint64_t program; /* that the file is of, by its header */
};

/* For a caller that puts the result in the place of the file. A run may be written once
 * more, or another of its modules may be: a run with a record that goes_on() is true of
 * is kept, with all its records, and not added. */
struct fp_combine_going {
    bool (*goes_on)(const struct fp_run *run);
    struct fp_unfinished kept;
};

/* Adds what a file holds: any number of runs, any number of combined profiles. On
 * failure nothing of it is added. Without `going` all runs count as they are. */
bool fp_combine_file(struct fp_combiner *combiner, struct fp_combined *into, const char *path,
                     struct fp_combine_going *going, struct fp_combine_notes *notes,
                     struct fp_error *error);

/* The same for one run: its records, one per module. */
bool fp_combine_run(struct fp_combiner *combiner, struct fp_combined *into,
                    const struct fp_run *records, size_t nrecords, struct fp_error *error);

/* The map of a module, NULL where none was found. */
const struct fp_program *fp_combiner_program(struct fp_combiner *combiner,
                                             const struct fp_combined_module *module,
                                             struct fp_error *error);

/* Which function of the program stands for which in the combined profile: the key of
 * each, in the order of the program's functions; skipped ones have a NULL name. */
struct fp_combined_function *fp_combine_keys(struct fp_arena *arena,
                                             const struct fp_program *program);

#endif
