/* A function's hottest paths over time, for the report's page: see siteparts.h and
 * docs/formats/report.md. */
#include "report/siteparts.h"

#include <inttypes.h>

enum { MOST_PATHS = 5 };

/* How often each of the paths was taken in one stretch of time. */
static void count_part(struct fp_arena *scratch, const struct fp_profile *part,
                       const struct fp_report_function *rf, const struct footpath_path *paths,
                       size_t n, uint64_t *counts, uint64_t *all)
{
    struct fp_counts found = {0};
    for (size_t i = 0; i < part->modules.len; i++)
        if (fp_same_module(&part->modules.at[i]->id, &rf->module->id))
            fp_profile_counts(scratch, part->modules.at[i], rf->function, &found);
    for (size_t i = 0; i < found.npaths; i++) {
        *all += found.paths[i].count;
        for (size_t k = 0; k < n; k++)
            if (paths[k].id == found.paths[i].id) counts[k] = found.paths[i].count;
    }
}

static void json_row(struct fp_json *j, const uint64_t *counts, size_t parts, size_t step)
{
    fp_json_begin(j, '[');
    for (size_t t = 0; t < parts; t++) fp_site_count(j, counts[t * step]);
    fp_json_end(j, ']');
}

void fp_site_json_history(struct fp_json *j, const struct fp_pages *site, uint32_t index)
{
    const struct fp_timeline *line = site->options->history;
    const struct fp_report_function *rf = &site->report->functions[index];
    if (!line || !line->n || !rf->npaths || !rf->function->paths.numbering) return;
    size_t n = rf->npaths < MOST_PATHS ? rf->npaths : MOST_PATHS;
    if (n > site->options->paths) n = site->options->paths;
    const struct footpath_path *paths = &site->report->paths[rf->first_path];
    struct fp_arena kept = {0};
    /* per stretch: the listed paths, then all paths of the function */
    uint64_t *counts = FP_NEW_ARRAY(&kept, uint64_t, line->n *(n + 1));
    for (size_t t = 0; t < line->n; t++) {
        struct fp_arena scratch = {0};
        uint64_t *of_part = counts + t * (n + 1);
        count_part(&scratch, line->parts[t], rf, paths, n, of_part, &of_part[n]);
        fp_arena_free(&scratch);
    }
    fp_json_key(j, "h"), fp_json_begin(j, '[');
    for (size_t k = 0; k <= n; k++) json_row(j, counts + k, line->n, n + 1);
    fp_json_end(j, ']');
    fp_arena_free(&kept);
}

void fp_site_json_timeline(struct fp_json *j, const struct fp_pages *site)
{
    const struct fp_timeline *line = site->options->history;
    fp_json_key(j, "history");
    if (!line || !line->n) {
        fp_json_uint(j, 0);
        return;
    }
    fp_json_begin(j, '{');
    fp_json_key(j, "begin"), fp_json_uint(j, line->begin_ns / 1000000000u);
    fp_json_key(j, "step"), fp_json_uint(j, line->step_ns / 1000000000u);
    fp_json_key(j, "n"), fp_json_uint(j, line->n);
    fp_json_end(j, '}');
}
