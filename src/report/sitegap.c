/* What production did and no test did, for the report's page: see siteparts.h and
 * docs/formats/report.md. */
#include "report/siteparts.h"

#include "model/sentence.h"
#include "report/gapreport.h"
#include "source/condition.h"

#include <inttypes.h>

enum { MOST_GAPS = 200, MOST_PATHS = 4, LONGEST_CONDITION = 80 };

/* ---- which paths of a function are gaps ---- */

void fp_site_gaps_make(struct fp_pages *site)
{
    const struct fp_gaps *gaps = site->options->gap ? &site->options->gap->gaps : NULL;
    size_t n = gaps ? gaps->ngaps : 0;
    site->next_gap = FP_NEW_ARRAY(&site->arena, uint32_t, n);
    for (size_t i = n; i-- > 0;) {
        uint32_t index = fp_site_find(site, gaps->gaps[i].function);
        if (index == FP_NONE) continue;
        site->next_gap[i] = site->functions[index].first_gap;
        site->functions[index].first_gap = (uint32_t)i + 1;
    }
}

/* The paths that the page of a function lists, by id: 1 + their place. */
static void index_paths(const struct fp_pages *site, uint32_t index, struct fp_arena *scratch,
                        struct fp_table *places)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    fp_table_init(places, scratch);
    for (size_t i = 0; i < rf->npaths && i < site->options->paths; i++) {
        uint64_t id = site->report->paths[rf->first_path + i].id;
        if (id != FP_NO_ID) *fp_table_add(places, id) = i + 1;
    }
}

static int64_t place_of(const struct fp_table *places, uint64_t id)
{
    const uint64_t *place = id == FP_NO_ID ? NULL : fp_table_find(places, id);
    return place ? (int64_t)*place - 1 : -1;
}

static void json_index(struct fp_json *j, uint32_t index)
{
    fp_json_int(j, index == FP_NONE ? -1 : (int64_t)index);
}

static void json_untested_path(struct fp_json *j, struct fp_pages *site, const struct fp_gap *gap,
                               int64_t place)
{
    struct footpath_place leaves = fp_gap_place(gap);
    fp_json_begin(j, '[');
    fp_json_int(j, place);
    json_index(j, gap->edge);
    json_index(j, gap->block);
    fp_json_string(j, fp_gap_reason(gap));
    fp_json_uint(j, fp_site_file(site, leaves.file));
    fp_site_line(j, leaves.line, leaves.address);
    fp_json_end(j, ']');
}

void fp_site_json_untested(struct fp_json *j, struct fp_pages *site, uint32_t index)
{
    struct fp_arena scratch = {0};
    struct fp_table places;
    if (!site->options->gap) return;
    index_paths(site, index, &scratch, &places);
    fp_json_key(j, "x"), fp_json_begin(j, '[');
    for (uint32_t at = site->functions[index].first_gap; at; at = site->next_gap[at - 1]) {
        const struct fp_gap *gap = &site->options->gap->gaps.gaps[at - 1];
        for (size_t i = 0; i < gap->npaths; i++) {
            int64_t place = place_of(&places, gap->paths[i].id);
            if (place >= 0) json_untested_path(j, site, gap, place);
        }
    }
    fp_json_end(j, ']');
    fp_arena_free(&scratch);
}

/* ---- all gaps ---- */

static void json_gap_path(struct fp_json *j, struct fp_pages *site, struct fp_arena *scratch,
                          const struct fp_gap *gap, const struct fp_gap_path *path, int64_t place)
{
    fp_json_begin(j, '[');
    fp_json_int(j, place);
    fp_site_count(j, path->count);
    fp_json_double(j, path->cost);
    fp_site_clipped(j, fp_path_sentence(scratch, site->sources, gap->function, &path->path));
    fp_json_end(j, ']');
}

static void json_paths(struct fp_json *j, struct fp_pages *site, struct fp_arena *scratch,
                       const struct fp_gap *gap)
{
    struct fp_table places;
    index_paths(site, fp_site_find(site, gap->function), scratch, &places);
    fp_json_begin(j, '[');
    for (size_t i = 0; i < gap->npaths && i < MOST_PATHS; i++)
        json_gap_path(j, site, scratch, gap, &gap->paths[i], place_of(&places, gap->paths[i].id));
    fp_json_end(j, ']');
}

static const char *branch_of(struct fp_arena *scratch, const struct fp_gap *gap)
{
    const struct fp_function *f = gap->function;
    if (gap->edge == FP_NONE) return "";
    const char *outcome = fp_edge_outcome(scratch, f, gap->edge);
    struct footpath_place to = fp_block_place(f, f->paths.cfg->edges[gap->edge].dst, false);
    if (!*outcome && !to.line && to.address)
        return fp_arena_printf(scratch, "-> 0x%" PRIx64, to.address);
    return *outcome || !to.line ? outcome : fp_arena_printf(scratch, "-> line %u", to.line);
}

static void json_gap(struct fp_json *j, struct fp_pages *site, struct fp_arena *scratch,
                     const struct fp_gap *gap)
{
    struct footpath_place place = fp_gap_place(gap);
    const char *condition =
        gap->edge == FP_NONE ? NULL : fp_edge_condition(site->sources, gap->function, gap->edge);
    fp_json_begin(j, '[');
    fp_json_uint(j, fp_site_find(site, gap->function));
    fp_json_uint(j, fp_site_file(site, place.file));
    fp_site_line(j, place.line, place.address);
    fp_json_string(j, condition ? fp_text_cut(scratch, condition, LONGEST_CONDITION) : "");
    fp_json_string(j, branch_of(scratch, gap));
    fp_json_string(j, fp_gap_reason(gap));
    fp_site_count(j, gap->count);
    fp_json_double(j, gap->cost);
    fp_json_uint(j, gap->npaths);
    json_paths(j, site, scratch, gap);
    fp_json_end(j, ']');
}

void fp_site_json_gaps(struct fp_json *j, struct fp_pages *site)
{
    const struct fp_gaps *gaps = &site->options->gap->gaps;
    struct fp_arena scratch = {0};
    size_t shown = 0, all = 0;
    fp_json_begin(j, '{');
    fp_json_key(j, "gaps"), fp_json_begin(j, '[');
    for (size_t i = 0; i < gaps->ngaps; i++) {
        if (fp_site_find(site, gaps->gaps[i].function) == FP_NONE) continue;
        all++;
        if (shown == MOST_GAPS) continue;
        json_gap(j, site, &scratch, &gaps->gaps[i]);
        shown++;
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(j, ']');
    fp_json_key(j, "more"), fp_json_uint(j, all - shown);
    fp_json_end(j, '}');
    fp_arena_free(&scratch);
}

static void json_sum(struct fp_json *j, const char *key, const struct fp_gap_sum *sum)
{
    fp_json_key(j, key), fp_json_begin(j, '[');
    fp_site_count(j, sum->paths), fp_site_count(j, sum->count), fp_json_double(j, sum->cost);
    fp_json_end(j, ']');
}

void fp_site_json_gap_sums(struct fp_json *j, const struct fp_pages *site)
{
    const struct fp_site_gap *gap = site->options->gap;
    fp_json_key(j, "gap");
    if (!gap) {
        fp_json_uint(j, 0);
        return;
    }
    fp_json_begin(j, '{');
    fp_json_key(j, "production"), fp_json_string(j, gap->production);
    fp_json_key(j, "tests"), fp_json_string(j, gap->tests);
    json_sum(j, "tested", &gap->gaps.tested);
    json_sum(j, "untested", &gap->gaps.untested);
    json_sum(j, "unknown", &gap->gaps.unknown);
    fp_json_key(j, "reshaped"), fp_site_count(j, gap->gaps.reshaped);
    fp_json_key(j, "redefined"), fp_site_count(j, gap->gaps.redefined);
    fp_json_key(j, "unmeasured"), fp_site_count(j, gap->gaps.unmeasured);
    fp_json_end(j, '}');
}
