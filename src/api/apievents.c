/* libfootpath, combined profiles: see footpath/footpath.h. */
#include "api/handle.h"

_Static_assert((int)FOOTPATH_EVENT_CALLS == (int)FP_EVENT_ENTRY &&
                   (int)FOOTPATH_EVENT_EDGE == (int)FP_EVENT_EDGE &&
                   (int)FOOTPATH_EVENT_PATH == (int)FP_EVENT_PATH &&
                   (int)FOOTPATH_EVENT_LEFT == (int)FP_EVENT_PARTIAL &&
                   (int)FOOTPATH_EVENT_KINDS == (int)FP_EVENT_KINDS &&
                   (int)FOOTPATH_BY_VARIATION == (int)FP_BY_VARIATION &&
                   (int)FOOTPATH_BY_DEVIATION == (int)FP_BY_DEVIATION &&
                   (int)FOOTPATH_BY_MEAN == (int)FP_BY_MEAN &&
                   (int)FOOTPATH_BY_COUNT == (int)FP_BY_COUNT &&
                   (int)FOOTPATH_BY_UNSEEN == (int)FP_BY_UNSEEN,
               "as footpath.h says");

static bool is_wanted(const struct fp_combined_function *sum, void *context)
{
    const struct footpath *fp = context;
    return fp->place[sum->index] != FP_NONE;
}

const struct footpath_event *footpath_events(struct footpath *fp,
                                             const struct footpath_event_filter *filter,
                                             size_t *count)
{
    static const struct footpath_event_filter all = {.above = -1};
    *count = 0;
    if (!fp->combined) return NULL;
    if (!filter) filter = &all;
    struct fp_arena scratch = {0};
    struct fp_rank_filter how = {.kinds =
                                     filter->kinds ? filter->kinds : (1u << FP_EVENT_KINDS) - 1,
                                 .by = (enum fp_rank_by)filter->order,
                                 .unseen = filter->unseen,
                                 .above = filter->above,
                                 .wanted = is_wanted,
                                 .context = fp};
    struct fp_ranked *ranked = fp_combined_rank(&scratch, fp->combined, &how, count);
    struct footpath_event *events = FP_NEW_ARRAY(&fp->arena, struct footpath_event, *count);
    for (size_t i = 0; i < *count; i++)
        events[i] = (struct footpath_event){(enum footpath_event_kind)ranked[i].event->kind,
                                            ranked[i].event->block, ranked[i].event->id,
                                            &fp->shown[fp->place[ranked[i].function->index]],
                                            &ranked[i].event->distribution};
    fp_arena_free(&scratch);
    return events;
}

void footpath_measure(const struct footpath_event *event, struct footpath_statistics *s)
{
    const struct fp_distribution *d = event->distribution;
    *s = (struct footpath_statistics){.runs = d->trials,
                                      .seen = d->nonzero,
                                      .count = d->count,
                                      .least = d->least,
                                      .most = d->most,
                                      .mean = fp_distribution_mean(d),
                                      .variance = fp_distribution_variance(d),
                                      .deviation = fp_distribution_deviation(d),
                                      .variation = fp_distribution_variation(d),
                                      .min = d->min,
                                      .max = d->max,
                                      .lower = fp_histogram_lower(&d->histogram),
                                      .width = fp_histogram_width(&d->histogram),
                                      .nbins = d->histogram.nbins,
                                      .weights = d->histogram.bins};
}

double footpath_quantile(const struct footpath_event *event, double q)
{
    return fp_distribution_quantile(event->distribution, q);
}

double footpath_above(const struct footpath_event *event, double x)
{
    return fp_distribution_above(event->distribution, x);
}

int footpath_decode_event(struct footpath *fp, const struct footpath_event *event,
                          struct footpath_route *route)
{
    struct footpath_path path = {
        .function = event->function->index, .id = event->id, .stop = FOOTPATH_NONE};
    if (event->kind == FOOTPATH_EVENT_LEFT)
        path.id = FOOTPATH_NO_ID, path.stop = event->block, path.prefix = event->id;
    *route = (struct footpath_route){.end_edge = FOOTPATH_NONE};
    return (event->kind == FOOTPATH_EVENT_PATH || event->kind == FOOTPATH_EVENT_LEFT) &&
           footpath_decode(fp, &path, route);
}
