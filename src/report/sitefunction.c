/* One function for the report's page: see site.h and docs/formats/report.md. */
#include "report/siteparts.h"

#include "base/checked.h"
#include "model/sentence.h"
#include "report/annotate.h"
#include "report/graphlayout.h"
#include "source/condition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_CONDITION = 120 };

uint32_t fp_site_file(struct fp_pages *site, const char *name)
{
    uint64_t *index = fp_strtable_add(&site->file_index, name);
    if (!*index) {
        fp_vec_push(&site->arena, &site->files, fp_arena_strdup(&site->arena, name));
        *index = site->files.len;
    }
    return (uint32_t)*index - 1;
}

const struct fp_source_text *fp_site_source(struct fp_pages *site, size_t file,
                                            const struct fp_source_file **lines)
{
    const uint64_t *known = fp_strtable_find(&site->lines.by_name, site->files.at[file]);
    static const struct fp_source_text program = {.missing = "is a program, not source"};
    *lines = known ? &site->lines.files.at[*known - 1] : NULL;
    if (fp_strtable_find(&site->programs, site->files.at[file])) return &program;
    return fp_source_get(site->sources, site->files.at[file],
                         fp_report_version(site->report, *lines ? (*lines)->sum : 0));
}

void fp_site_count(struct fp_json *j, uint64_t value)
{
    if (value < (uint64_t)1 << 53) {
        fp_json_uint(j, value);
        return;
    }
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    fp_json_string(j, text);
}

static void json_index(struct fp_json *j, uint32_t index)
{
    if (index == FP_NONE)
        fp_json_int(j, -1);
    else
        fp_json_uint(j, index);
}

/* ---- blocks, edges, scopes ---- */

static void json_blocks(struct fp_json *j, const struct fp_report_function *rf)
{
    const struct fp_function *f = rf->function;
    fp_json_key(j, "b"), fp_json_begin(j, '[');
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        bool dead = f->paths.truncation->order.position[b] == FP_NONE;
        fp_json_begin(j, '[');
        fp_json_uint(j, info->instructions);
        fp_json_uint(j,
                     (f->paths.cfg->flags[b] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) | (dead ? 64u : 0u));
        fp_site_count(j, rf->edges.blocks ? rf->edges.blocks[b] : 0);
        fp_json_begin(j, '[');
        for (uint32_t i = 0; i < info->npositions; i++) {
            fp_json_uint(j, f->source.positions[info->first_position + i].scope);
            fp_json_uint(j, f->source.positions[info->first_position + i].line);
        }
        fp_json_end(j, ']');
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

static void json_edges(struct fp_json *j, struct fp_pages *site,
                       const struct fp_report_function *rf, struct fp_arena *scratch)
{
    const struct fp_function *f = rf->function;
    fp_json_key(j, "e"), fp_json_begin(j, '[');
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        const struct fp_edge *edge = &f->paths.cfg->edges[e];
        fp_json_begin(j, '[');
        fp_json_uint(j, edge->src);
        fp_json_uint(j, edge->dst);
        fp_json_uint(j, edge->kind);
        fp_json_uint(j, f->paths.truncation->order.fate[e]);
        fp_json_string(j, fp_edge_label_text(scratch, f, e));
        fp_site_count(j, rf->edges.edges ? rf->edges.edges[e] : 0);
        const char *text = fp_edge_condition(site->sources, f, e);
        if (text) fp_json_string(j, fp_text_cut(scratch, text, LONGEST_CONDITION));
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

static void json_scopes(struct fp_json *j, struct fp_pages *site, const struct fp_function *f)
{
    fp_json_key(j, "s"), fp_json_begin(j, '[');
    for (uint32_t s = 0; s < f->source.nscopes; s++) {
        fp_json_begin(j, '[');
        fp_json_string(j, f->source.scopes[s].function);
        fp_json_uint(j, fp_site_file(site, f->source.scopes[s].file));
        json_index(j, f->source.scopes[s].parent);
        fp_json_uint(j, f->source.scopes[s].call_line);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

/* Lines whose count the blocks do not tell: file and line in turn. */
static void json_unknown(struct fp_json *j, struct fp_pages *site,
                         const struct fp_report_function *rf, struct fp_arena *scratch)
{
    struct fp_line_counts lines;
    if (!rf->edges.edges || !rf->function->source.nscopes) return;
    fp_line_counts_init(&lines, scratch);
    fp_line_counts_add(&lines, rf->function, &rf->edges);
    fp_line_counts_finish(&lines);
    fp_json_key(j, "z"), fp_json_begin(j, '[');
    for (size_t i = 0; i < lines.files.len; i++)
        for (size_t k = 0; k < lines.files.at[i].unknown.len; k++) {
            fp_json_uint(j, fp_site_file(site, lines.files.at[i].name));
            fp_json_uint(j, lines.files.at[i].unknown.at[k].line);
        }
    fp_json_end(j, ']');
}

/* ---- paths ---- */

static void json_way(struct fp_json *j, const struct fp_path *path)
{
    fp_json_uint(j, path->start);
    fp_json_uint(j, path->end);
    fp_json_uint(j, path->first_block);
    json_index(j, path->end_edge);
    fp_json_begin(j, '[');
    for (uint32_t i = 0; i < path->nedges; i++) fp_json_uint(j, path->edges[i]);
    fp_json_end(j, ']');
}

static void json_id(struct fp_json *j, const struct footpath_path *path)
{
    char text[64];
    if (path->id == FP_NO_ID)
        snprintf(text, sizeof text, "left-%u-%" PRIu64, path->stop, path->prefix);
    else
        snprintf(text, sizeof text, "%" PRIu64, path->id);
    fp_json_string(j, text);
}

/* Counts of one function in each column, as maps from path to count. */
struct sides {
    struct fp_table *counts;
    size_t n;
};

static const struct fp_module *module_in(const struct fp_profile *profile,
                                         const struct fp_module *like)
{
    for (size_t i = 0; i < profile->modules.len; i++)
        if (fp_same_module(&profile->modules.at[i]->id, &like->id)) return profile->modules.at[i];
    return NULL;
}

static struct sides split(struct fp_arena *scratch, const struct fp_pages *site,
                          const struct fp_report_function *rf)
{
    struct sides sides = {.n = site->options->ncolumns};
    sides.counts = FP_NEW_ARRAY(scratch, struct fp_table, sides.n);
    for (size_t c = 0; c < sides.n; c++) {
        const struct fp_module *module = module_in(site->options->columns[c].profile, rf->module);
        struct fp_counts counts = {0};
        fp_table_init(&sides.counts[c], scratch);
        if (module) fp_profile_counts(scratch, module, rf->function, &counts);
        for (size_t i = 0; i < counts.npaths; i++)
            *fp_table_add(&sides.counts[c], counts.paths[i].id) = counts.paths[i].count;
    }
    return sides;
}

static void json_sides(struct fp_json *j, const struct sides *sides, uint64_t id)
{
    if (!sides->n) {
        fp_json_uint(j, 0);
        return;
    }
    fp_json_begin(j, '[');
    for (size_t c = 0; c < sides->n; c++) {
        const uint64_t *count = fp_table_find(&sides->counts[c], id);
        fp_site_count(j, count ? *count : 0);
    }
    fp_json_end(j, ']');
}

static void sum_columns(struct fp_pages *site, uint32_t index, const struct sides *sides)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    double *costs = FP_NEW_ARRAY(&site->arena, double, sides->n);
    for (size_t c = 0; c < sides->n; c++)
        for (size_t i = 0; i < rf->npaths; i++) {
            const struct footpath_path *path = &site->report->paths[rf->first_path + i];
            const uint64_t *count = fp_table_find(&sides->counts[c], path->id);
            if (count) costs[c] += (double)*count * path->instructions;
        }
    site->functions[index].costs = costs;
}

/* How often per call, run by run: runs, runs with it, mean, deviation, least, most,
 * and a histogram: where it begins, width of a bin, runs in each. */
static void json_distribution(struct fp_json *j, const struct fp_pages *site,
                              const struct fp_function *f, uint64_t id)
{
    const struct fp_distribution *d =
        site->options->view ? fp_combined_view_path(site->options->view, f, id) : NULL;
    if (!d) return;
    fp_json_begin(j, '[');
    fp_json_uint(j, d->trials), fp_json_uint(j, d->nonzero);
    fp_json_double(j, fp_distribution_mean(d)), fp_json_double(j, fp_distribution_deviation(d));
    fp_json_double(j, d->min), fp_json_double(j, d->max);
    fp_json_double(j, fp_histogram_lower(&d->histogram)),
        fp_json_double(j, fp_histogram_width(&d->histogram));
    fp_json_begin(j, '[');
    for (uint32_t i = 0; i < d->histogram.nbins; i++) fp_json_double(j, d->histogram.bins[i]);
    fp_json_end(j, ']');
    fp_json_end(j, ']');
}

static void json_paths(struct fp_json *j, struct fp_pages *site, uint32_t index,
                       struct fp_arena *scratch)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    struct sides sides = split(scratch, site, rf);
    size_t listed = rf->npaths < site->options->paths ? rf->npaths : site->options->paths;
    uint64_t rest = 0;
    double rest_cost = 0;
    sum_columns(site, index, &sides);
    fp_json_key(j, "p"), fp_json_begin(j, '[');
    for (size_t i = 0; i < rf->npaths; i++) {
        const struct footpath_path *path = &site->report->paths[rf->first_path + i];
        struct fp_path decoded;
        if (i >= listed || !fp_report_decode(scratch, site->report, path, &decoded)) {
            rest = fp_add_saturated(rest, path->count);
            rest_cost += path->cost;
            continue;
        }
        fp_json_begin(j, '[');
        json_id(j, path);
        fp_site_count(j, path->count);
        fp_json_double(j, path->cost);
        fp_json_uint(j, path->instructions);
        fp_json_uint(j, path->branches);
        json_way(j, &decoded);
        json_sides(j, &sides, path->id);
        json_distribution(j, site, rf->function, path->id);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
    fp_json_key(j, "r"), fp_json_begin(j, '[');
    fp_json_uint(j, rf->npaths - listed);
    fp_site_count(j, rest);
    fp_json_double(j, rest_cost);
    fp_json_end(j, ']');
}

/* ---- paths never taken ---- */

static void note_surprise(struct fp_pages *site, uint32_t index, const struct fp_untaken *one,
                          const struct fp_path *path, struct fp_arena *scratch)
{
    const struct fp_function *f = site->report->functions[index].function;
    if (one->idle || one->expected < 1 || !fp_function_has_places(f)) return;
    struct fp_site_surprise surprise = {index, one->id, one->expected, NULL};
    surprise.text =
        fp_arena_strdup(&site->arena, fp_path_sentence(scratch, site->sources, f, path));
    fp_vec_push(&site->arena, &site->surprises, surprise);
}

static void json_untaken(struct fp_json *j, struct fp_pages *site, uint32_t index,
                         const struct fp_measured *measured, struct fp_arena *scratch)
{
    size_t found;
    uint64_t total;
    bool gave_up;
    struct fp_untaken *list =
        fp_untaken_find(scratch, measured, site->options->untaken, 0, &found, &total, &gave_up);
    fp_json_key(j, "u"), fp_json_begin(j, '[');
    for (size_t i = 0; i < found; i++) {
        struct fp_path path;
        char text[24];
        if (!fp_path_decode(scratch, measured->function->paths.numbering, list[i].id, &path))
            continue;
        if (i < 3) note_surprise(site, index, &list[i], &path, scratch);
        snprintf(text, sizeof text, "%" PRIu64, list[i].id);
        fp_json_begin(j, '[');
        fp_json_string(j, text);
        fp_json_double(j, list[i].expected);
        fp_json_uint(j, list[i].idle);
        json_way(j, &path);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
    fp_json_key(j, "ut"), fp_site_count(j, total);
}

/* ---- layout ---- */

static void json_layout(struct fp_json *j, const struct fp_function *f, struct fp_arena *scratch)
{
    struct fp_drawing layout;
    struct fp_error error = {0};
    if (!fp_layout_function(scratch, f, &layout, &error)) return; /* the page does it then */
    fp_json_key(j, "g"), fp_json_begin(j, '{');
    fp_json_key(j, "w"), fp_json_int(j, layout.width);
    fp_json_key(j, "h"), fp_json_int(j, layout.height);
    fp_json_key(j, "b"), fp_json_begin(j, '[');
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        fp_json_int(j, layout.blocks[b].x), fp_json_int(j, layout.blocks[b].y);
    fp_json_end(j, ']');
    fp_json_key(j, "e"), fp_json_begin(j, '[');
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        fp_json_begin(j, '[');
        for (uint32_t i = 0; i < layout.npoints[e]; i++)
            fp_json_int(j, layout.edges[e][i].x), fp_json_int(j, layout.edges[e][i].y);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

void fp_site_json_function(struct fp_json *j, struct fp_pages *site, uint32_t index)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    const struct fp_function *f = rf->function;
    struct fp_arena scratch = {0};
    struct fp_counts counts;
    uint32_t first, last;
    fp_profile_counts(&scratch, rf->module, f, &counts);
    struct fp_measured measured = {rf->module, f, &counts, rf->edges.edges ? &rf->edges : NULL,
                                   rf->problem};
    fp_coverage_of(&measured, &site->functions[index].coverage);
    fp_function_lines(f, &first, &last);
    fp_json_begin(j, '{');
    fp_json_key(j, "l"), fp_json_begin(j, '['), fp_json_uint(j, first), fp_json_uint(j, last),
        fp_json_end(j, ']');
    json_blocks(j, rf);
    fp_site_json_code(j, site, index);
    json_edges(j, site, rf, &scratch);
    json_scopes(j, site, f);
    json_unknown(j, site, rf, &scratch);
    fp_site_json_calls(j, site, index);
    json_paths(j, site, index, &scratch);
    fp_site_json_untested(j, site, index);
    fp_site_json_history(j, site, index);
    if (f->paths.numbering && measured.edges && site->options->untaken)
        json_untaken(j, site, index, &measured, &scratch);
    if (site->functions[index].drawn) json_layout(j, f, &scratch);
    fp_json_end(j, '}');
    fp_arena_free(&scratch);
}
