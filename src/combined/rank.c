/* Ranking events: see rank.h. */
#include "combined/rank.h"

#include <stdlib.h>

struct ranked_event {
    double key;
    uint64_t count;
    size_t place; /* ties keep the order of files */
    struct fp_ranked ranked;
};

static double key_of(const struct fp_distribution *d, enum fp_rank_by by)
{
    switch (by) {
    case FP_BY_VARIATION: return fp_distribution_variation(d);
    case FP_BY_DEVIATION: return fp_distribution_deviation(d);
    case FP_BY_MEAN: return fp_distribution_mean(d);
    case FP_BY_COUNT: break;
    case FP_BY_UNSEEN: return 1 - (double)d->nonzero / (double)d->trials;
    }
    return (double)d->count;
}

static int largest_first(const void *a, const void *b)
{
    const struct ranked_event *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool passes(const struct fp_event *event, const struct fp_rank_filter *filter)
{
    const struct fp_distribution *d = &event->distribution;
    return filter->kinds >> event->kind & 1 && (!filter->unseen || d->nonzero < d->trials) &&
           d->max > filter->above;
}

struct fp_ranked *fp_combined_rank(struct fp_arena *arena, const struct fp_combined *c,
                                   const struct fp_rank_filter *filter, size_t *count)
{
    struct fp_arena scratch = {0};
    FP_VEC(struct ranked_event) found = {0};
    struct fp_combined_function **functions = fp_combined_sorted(&scratch, c);
    for (size_t i = 0; i < c->functions.len; i++) {
        if (filter->wanted && !filter->wanted(functions[i], filter->context)) continue;
        struct fp_event **events = fp_combined_sorted_events(&scratch, functions[i]);
        for (size_t k = 0; k < functions[i]->events.len; k++) {
            if (!passes(events[k], filter)) continue;
            struct ranked_event one = {key_of(&events[k]->distribution, filter->by),
                                       events[k]->distribution.count,
                                       found.len,
                                       {functions[i], events[k]}};
            fp_vec_push(&scratch, &found, one);
        }
    }
    if (found.len) qsort(found.at, found.len, sizeof *found.at, largest_first);
    struct fp_ranked *ranked = FP_NEW_ARRAY(arena, struct fp_ranked, found.len);
    for (size_t i = 0; i < found.len; i++) ranked[i] = found.at[i].ranked;
    *count = found.len;
    fp_arena_free(&scratch);
    return ranked;
}
