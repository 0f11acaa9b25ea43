/* The first data of the report's page: totals, a row per function, the hottest
 * paths. See site.h and docs/formats/report.md. */
#include "model/sentence.h"
#include "report/siteparts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOTTEST = 60, MOST_SURPRISES = 60, LONGEST_TEXT = 400 };

void fp_site_clipped(struct fp_json *j, const char *text)
{
    size_t len = strlen(text);
    fp_json_text(j, text, len < LONGEST_TEXT ? len : LONGEST_TEXT);
}

static void json_runs(struct fp_json *j, const struct fp_profile *profile)
{
    fp_json_key(j, "runs"), fp_json_uint(j, fp_profile_run_count(profile));
    fp_json_key(j, "run_list"), fp_json_begin(j, '[');
    for (size_t i = 0; i < profile->runs.len && i < 50; i++) {
        const struct fp_run *run = &profile->runs.at[i];
        fp_json_begin(j, '{');
        fp_json_key(j, "start"), fp_json_double(j, (double)run->start_ns * 1e-9);
        fp_json_key(j, "seconds"), fp_json_double(j, (double)(run->end_ns - run->start_ns) * 1e-9);
        fp_json_key(j, "args"), fp_json_begin(j, '[');
        for (size_t k = 0; k < run->nargs && k < 100; k++) fp_site_clipped(j, run->args[k]);
        fp_json_end(j, ']');
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

static void json_covered(struct fp_json *j, const char *key, struct fp_covered c)
{
    fp_json_key(j, key), fp_json_begin(j, '[');
    fp_site_count(j, c.done);
    fp_site_count(j, c.all);
    fp_json_end(j, ']');
}

static void json_totals(struct fp_json *j, const struct fp_pages *site)
{
    struct fp_coverage total = {0};
    for (size_t i = 0; i < site->report->nfunctions; i++)
        fp_coverage_add(&total, &site->functions[i].coverage);
    for (size_t i = 0; i < site->lines.files.len; i++) {
        const struct fp_source_file *file = &site->lines.files.at[i];
        total.lines.all += file->lines.len;
        for (size_t k = 0; k < file->lines.len; k++)
            total.lines.done += file->lines.at[k].count != 0;
    }
    fp_json_key(j, "totals"), fp_json_begin(j, '{');
    json_covered(j, "functions", total.functions);
    json_covered(j, "lines", total.lines);
    json_covered(j, "blocks", total.blocks);
    json_covered(j, "edges", total.edges);
    json_covered(j, "paths", total.paths);
    json_covered(j, "basis", total.basis);
    fp_json_key(j, "within"), fp_site_count(j, total.within);
    fp_json_key(j, "flow"), fp_site_count(j, site->report->count);
    fp_json_key(j, "cost"), fp_json_double(j, site->report->cost);
    fp_json_end(j, '}');
}

/* ---- functions ---- */

static void json_row(struct fp_json *j, struct fp_pages *site, size_t index)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    const struct fp_site_function *sf = &site->functions[index];
    const struct fp_coverage *c = &sf->coverage;
    fp_json_begin(j, '[');
    fp_json_string(j, rf->name);
    fp_json_uint(j, fp_site_file(site, rf->function->file));
    fp_site_line(j, rf->function->line, rf->function->source.address);
    fp_site_count(j, rf->calls);
    fp_json_double(j, rf->cost);
    fp_site_count(j, c->paths.done), fp_site_count(j, c->paths.all);
    fp_json_uint(j, c->blocks.done), fp_json_uint(j, c->blocks.all);
    fp_json_uint(j, c->edges.done), fp_json_uint(j, c->edges.all);
    fp_json_uint(j, c->basis.done), fp_json_uint(j, c->basis.all);
    fp_json_uint(j, sf->chunk);
    fp_json_uint(j, rf->function->paths.truncation->ncuts + rf->function->paths.truncation->ndoors);
    if (rf->problem)
        fp_json_string(j, rf->problem);
    else
        fp_json_uint(j, 0);
    fp_json_double(j, site->calls.graph.inclusive[site->calls.whole[index]]);
    for (size_t k = 0; k < site->options->ncolumns; k++)
        fp_json_double(j, sf->costs ? sf->costs[k] : 0);
    fp_json_end(j, ']');
}

/* Those that were not instrumented come last in the report: their cost is 0. They
 * are told apart by an index of their own. */
static void json_functions(struct fp_json *j, struct fp_pages *site)
{
    const struct fp_report *r = site->report;
    fp_json_key(j, "functions"), fp_json_begin(j, '[');
    for (size_t i = 0; i < r->nfunctions; i++) {
        if (r->functions[i].function->flags & FP_FUNCTION_SKIPPED)
            fp_json_uint(j, 0);
        else
            json_row(j, site, i);
    }
    fp_json_end(j, ']');
    fp_json_key(j, "skipped"), fp_json_begin(j, '[');
    for (size_t i = 0; i < r->nfunctions; i++) {
        const struct fp_function *f = r->functions[i].function;
        if (!(f->flags & FP_FUNCTION_SKIPPED)) continue;
        fp_json_begin(j, '[');
        fp_json_string(j, r->functions[i].name);
        fp_json_uint(j, fp_site_file(site, f->file));
        fp_site_line(j, f->line, f->source.address);
        fp_json_string(j, f->skipped ? f->skipped : "");
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

static void json_modules(struct fp_json *j, const struct fp_profile *profile)
{
    fp_json_key(j, "modules"), fp_json_begin(j, '[');
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_module *m = profile->modules.at[i];
        fp_json_begin(j, '[');
        fp_json_string(j, m->id.path);
        fp_json_string(j, m->have_program ? "" : m->problem.what);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

/* ---- paths ---- */

static void json_hottest(struct fp_json *j, const struct fp_pages *site)
{
    const struct fp_report *r = site->report;
    struct fp_arena scratch = {0};
    fp_json_key(j, "hot"), fp_json_begin(j, '[');
    for (size_t i = 0; i < r->nby_cost && i < HOTTEST; i++) {
        const struct footpath_path *path = &r->paths[r->by_cost[i]];
        const struct fp_report_function *rf = &r->functions[path->function];
        struct fp_path decoded;
        if (!fp_report_decode(&scratch, r, path, &decoded)) continue;
        fp_json_begin(j, '[');
        fp_json_uint(j, path->function);
        fp_json_uint(j, r->by_cost[i] - rf->first_path);
        fp_site_count(j, path->count);
        fp_json_double(j, path->cost);
        fp_site_clipped(j, fp_function_has_places(rf->function)
                               ? fp_path_sentence(&scratch, site->sources, rf->function, &decoded)
                               : "");
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
    fp_arena_free(&scratch);
}

static int by_expected(const void *a, const void *b)
{
    const struct fp_site_surprise *x = a, *y = b;
    if (x->expected != y->expected) return x->expected < y->expected ? 1 : -1;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void json_surprises(struct fp_json *j, struct fp_pages *site)
{
    if (site->surprises.len)
        qsort(site->surprises.at, site->surprises.len, sizeof *site->surprises.at, by_expected);
    fp_json_key(j, "untaken"), fp_json_begin(j, '[');
    for (size_t i = 0; i < site->surprises.len && i < MOST_SURPRISES; i++) {
        const struct fp_site_surprise *one = &site->surprises.at[i];
        char id[24];
        snprintf(id, sizeof id, "%llu", (unsigned long long)one->id);
        fp_json_begin(j, '[');
        fp_json_uint(j, one->function);
        fp_json_string(j, id);
        fp_json_double(j, one->expected);
        fp_site_clipped(j, one->text);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

/* ---- files ---- */

static void json_files(struct fp_json *j, struct fp_pages *site)
{
    fp_json_key(j, "files"), fp_json_begin(j, '[');
    for (size_t i = 0; i < site->files.len; i++) {
        const struct fp_source_file *lines;
        const struct fp_source_text *source = fp_site_source(site, i, &lines);
        size_t hit = 0;
        for (size_t k = 0; lines && k < lines->lines.len; k++) hit += lines->lines.at[k].count != 0;
        fp_json_begin(j, '[');
        fp_json_string(j, site->files.at[i]);
        fp_json_uint(j, source->found ? source->nlines : 0);
        fp_json_uint(j, hit);
        fp_json_uint(j, lines ? lines->lines.len : 0);
        if (source->missing) fp_json_string(j, source->missing);
        if (fp_strtable_find(&site->programs, site->files.at[i])) fp_json_uint(j, 1);
        fp_json_end(j, ']');
    }
    fp_json_end(j, ']');
}

static void json_columns(struct fp_json *j, const struct fp_pages *site)
{
    fp_json_key(j, "columns"), fp_json_begin(j, '[');
    for (size_t c = 0; c < site->options->ncolumns; c++) {
        const struct fp_site_column *column = &site->options->columns[c];
        double cost = 0;
        for (size_t i = 0; i < site->report->nfunctions; i++)
            if (site->functions[i].costs) cost += site->functions[i].costs[c];
        fp_json_begin(j, '{');
        fp_json_key(j, "label"), fp_json_string(j, column->label);
        fp_json_key(j, "cost"), fp_json_double(j, cost);
        json_runs(j, column->profile);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

void fp_site_json_index(struct fp_json *j, struct fp_pages *site)
{
    const struct fp_report *r = site->report;
    const char *program = r->profile->runs.len ? r->profile->runs.at[0].program : "";
    fp_json_begin(j, '{');
    fp_json_key(j, "format_version"), fp_json_uint(j, 1);
    fp_json_key(j, "footpath"), fp_json_string(j, FOOTPATH_VERSION);
    fp_json_key(j, "program"), fp_json_string(j, fp_base_name(program));
    fp_json_key(j, "unit"), fp_json_string(j, r->inclusive ? "inclusive-cycles"
                                              : r->cycles  ? "cycles"
                                                           : "instructions");
    if (r->machine) fp_json_key(j, "machine"), fp_json_bool(j, true);
    if (r->call_costs) fp_json_key(j, "call_costs"), fp_json_bool(j, true);
    fp_json_key(j, "have_paths"), fp_json_bool(j, r->have_paths);
    fp_json_key(j, "source_lines"), fp_json_uint(j, FP_SITE_SOURCE_LINES);
    json_runs(j, r->profile);
    json_modules(j, r->profile);
    json_totals(j, site);
    json_columns(j, site);
    json_functions(j, site);
    json_hottest(j, site);
    json_surprises(j, site);
    fp_site_json_changes(j, site);
    fp_site_json_gap_sums(j, site);
    fp_site_json_timeline(j, site);
    json_files(j, site); /* last: names are added on the way */
    fp_json_end(j, '}');
}
