/* libfootpath, paths and where they lead: see footpath/footpath.h. */
#include "api/handle.h"
#include "model/sentence.h"

#include "combined/combinedview.h"

#include <stdlib.h>

/* ---- lists ---- */

static int by_cost(const void *a, const void *b)
{
    return fp_path_order(*(const struct footpath_path *const *)a,
                         *(const struct footpath_path *const *)b);
}

static struct footpath_path *paths_in_no_order(struct footpath *fp, uint32_t index, size_t *count)
{
    const struct fp_handle_function *f = &fp->functions[index];
    *count = 0;
    if (!f->sum) {
        const struct fp_report_function *rf = &fp->report->functions[index];
        *count = rf->npaths;
        return rf->npaths ? fp->report->paths + rf->first_path : NULL;
    }
    if (!f->function || !(f->function->flags & FP_FUNCTION_PATHS)) return NULL;
    struct fp_arena scratch = {0};
    struct fp_counts counts;
    fp_combined_counts(&scratch, f->sum, f->function, &counts);
    struct footpath_path *paths = fp_report_paths_of(&fp->arena, &counts, index, count);
    fp_arena_free(&scratch);
    return paths;
}

const struct footpath_path *const *footpath_paths(struct footpath *fp,
                                                  const struct footpath_function *function,
                                                  size_t *count)
{
    struct fp_handle_function *f = &fp->functions[function->index];
    if (!f->paths) {
        struct footpath_path *paths = paths_in_no_order(fp, function->index, &f->npaths);
        f->paths = FP_NEW_ARRAY(&fp->arena, const struct footpath_path *, f->npaths + 1);
        for (size_t i = 0; i < f->npaths; i++) f->paths[i] = &paths[i];
        if (f->npaths) qsort(f->paths, f->npaths, sizeof *f->paths, by_cost);
    }
    *count = f->npaths;
    return f->paths;
}

const struct footpath_path *const *footpath_hottest(struct footpath *fp, size_t most, size_t *count)
{
    *count = 0;
    if (!fp->report) return NULL;
    fp_report_rank(fp->report, most);
    *count = fp->report->nby_cost;
    const struct footpath_path **paths =
        FP_NEW_ARRAY(&fp->arena, const struct footpath_path *, *count);
    for (size_t i = 0; i < *count; i++) paths[i] = &fp->report->paths[fp->report->by_cost[i]];
    return paths;
}

size_t footpath_path_count(const struct footpath *fp)
{
    return fp->report ? fp->report->npaths : 0;
}

/* ---- routes ---- */

int footpath_decode(struct footpath *fp, const struct footpath_path *path,
                    struct footpath_route *route)
{
    *route = (struct footpath_route){.end_edge = FOOTPATH_NONE, .function = path->function};
    if (path->function >= fp->nfunctions) return 0;
    const struct fp_function *f = fp->functions[path->function].function;
    struct fp_path decoded;
    if (fp->scratch.total > 1 << 20) fp_arena_free(&fp->scratch);
    if (!f || !(f->flags & FP_FUNCTION_PATHS) ||
        !fp_path_decode_any(&fp->scratch, f->paths.numbering, path, &decoded))
        return 0;
    fp_path_route(&fp->scratch, f, &decoded, route);
    route->function = path->function;
    return 1;
}

int footpath_decode_id(struct footpath *fp, const struct footpath_function *function, uint64_t id,
                       struct footpath_route *route)
{
    struct footpath_path path = {.function = function->index, .id = id, .stop = FOOTPATH_NONE};
    return footpath_decode(fp, &path, route);
}

const char *footpath_route_text(struct footpath *fp, const struct footpath_route *route)
{
    return fp_route_text(&fp->scratch, fp->shown[route->function].file, route);
}

const char *footpath_sentence(struct footpath *fp, const struct footpath_route *route)
{
    return fp_route_sentence(&fp->scratch, &fp->sources, fp->functions[route->function].function,
                             route);
}
