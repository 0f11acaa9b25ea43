/* What `footpath show` prints of a combined profile: events with their distribution
 * over runs, a small histogram each, as text or as JSON. */
#ifndef FP_REPORT_SHOWCOMBINED_H
#define FP_REPORT_SHOWCOMBINED_H

#include "combined/combine.h"
#include "combined/rank.h"
#include "report/json.h"

struct fp_show_combined {
    struct fp_rank_filter filter; /* wanted and context are filled in */
    const char *function;         /* only functions whose name contains this */
    uint64_t top;                 /* 0: all */
    double above;                 /* tell the share of runs above this; -1: not asked */
    bool colours, utf8;
};

/* functions: per function of the profile as the program's map has it, or NULL. */
void fp_show_combined_text(struct fp_writer *out, const struct fp_combined *combined,
                           const struct fp_function *const *functions,
                           const struct fp_show_combined *options);
void fp_show_combined_json(struct fp_writer *out, const struct fp_combined *combined,
                           const struct fp_function *const *functions,
                           const struct fp_show_combined *options);

/* Finds them, by way of the combiner's maps; those of modules without a map stay NULL
 * and *missing names the first such module's problem. */
const struct fp_function **fp_show_combined_functions(struct fp_arena *arena,
                                                      struct fp_combined *combined,
                                                      struct fp_combiner *combiner,
                                                      struct fp_error *missing);

/* The bins from the first to the last as at most 15 characters. */
char *fp_histogram_text(struct fp_arena *arena, const struct fp_histogram *histogram, bool utf8);

#endif
