/* Events of a combined profile in the order of a question: which vary most over the
 * inputs, which are missing in some runs.
 *
 *     struct fp_rank_filter filter = {.kinds = 1u << FP_EVENT_PATH, .by = FP_BY_VARIATION};
 *     struct fp_ranked *all = fp_combined_rank(arena, combined, &filter, &n);
 */
#ifndef FP_COMBINED_RANK_H
#define FP_COMBINED_RANK_H

#include "combined/combined.h"

enum fp_rank_by {
    FP_BY_VARIATION, /* deviation over mean */
    FP_BY_DEVIATION,
    FP_BY_MEAN,
    FP_BY_COUNT,  /* raw, over all runs */
    FP_BY_UNSEEN, /* in the fewest of its runs first */
};

struct fp_rank_filter {
    unsigned kinds; /* 1 << an enum fp_event_kind, or'ed */
    enum fp_rank_by by;
    bool unseen;  /* only events that some runs are without */
    double above; /* only events whose frequency is above this in some run; -1: all */
    bool (*wanted)(const struct fp_combined_function *function, void *context); /* may be NULL */
    void *context;
};

struct fp_ranked {
    const struct fp_combined_function *function;
    const struct fp_event *event;
};

/* Needs a settled profile. */
struct fp_ranked *fp_combined_rank(struct fp_arena *arena, const struct fp_combined *combined,
                                   const struct fp_rank_filter *filter, size_t *count);

#endif
