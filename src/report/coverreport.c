/* Coverage in text and JSON: see coverreport.h. */
#include "report/coverreport.h"

#include "model/model.h"
#include "paths/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making it ---- */

struct cover_maker {
    struct fp_arena *arena;
    const char *only;
    struct fp_cover_report *report;
    FP_VEC(struct fp_cover_function) functions;
};

static void add_function(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    (void)scratch;
    struct cover_maker *maker = context;
    const char *name = fp_plain(maker->arena, fp_demangle(maker->arena, m->function->name));
    if (maker->only && !strstr(name, maker->only)) return;
    struct fp_cover_function one = {.function = m->function, .name = name};
    fp_coverage_of(m, &one.coverage);
    if (m->problem) one.problem = fp_arena_strdup(maker->arena, m->problem);
    if (m->edges) fp_line_counts_add(&maker->report->lines, m->function, m->edges);
    fp_coverage_add(&maker->report->total, &one.coverage);
    fp_vec_push(maker->arena, &maker->functions, one);
}

static int by_place(const void *a, const void *b)
{
    const struct fp_cover_function *x = a, *y = b;
    int order = strcmp(x->function->file, y->function->file);
    if (order) return order;
    if (x->function->line != y->function->line)
        return x->function->line < y->function->line ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void find_skipped(struct fp_arena *arena, const struct fp_profile *profile,
                         struct fp_cover_report *report)
{
    FP_VEC(const struct fp_function *) skipped = {0};
    for (size_t m = 0; m < profile->modules.len; m++)
        for (size_t i = 0; i < profile->modules.at[m]->program.nfunctions; i++) {
            const struct fp_function *f = &profile->modules.at[m]->program.functions[i];
            if (f->flags & FP_FUNCTION_SKIPPED) fp_vec_push(arena, &skipped, f);
        }
    report->skipped = skipped.at;
    report->nskipped = skipped.len;
}

/* Paths of one definition cannot be added to paths of another. */
static void leave_paths_out(struct fp_coverage *total)
{
    total->paths_known = total->at_least = false;
    total->paths = total->basis = (struct fp_covered){0};
    total->within = total->cuts = total->doors = 0;
}

struct fp_cover_report *fp_cover_make(struct fp_arena *arena, const struct fp_profile *profile,
                                      const char *only)
{
    struct fp_cover_report *report = FP_NEW(arena, struct fp_cover_report);
    struct cover_maker maker = {.arena = arena, .only = only, .report = report};
    fp_line_counts_init(&report->lines, arena);
    fp_each_measured(profile, add_function, &maker);
    fp_line_counts_finish(&report->lines);
    for (size_t i = 0; i < report->lines.files.len; i++) {
        const struct fp_source_file *file = &report->lines.files.at[i];
        report->total.lines.all += file->lines.len + file->unknown.len; /* these may not have run */
        for (size_t k = 0; k < file->lines.len; k++)
            report->total.lines.done += file->lines.at[k].count != 0;
    }
    report->functions = maker.functions.at;
    report->nfunctions = maker.functions.len;
    if (report->nfunctions)
        qsort(report->functions, report->nfunctions, sizeof *report->functions, by_place);
    find_skipped(arena, profile, report);
    report->redefined = fp_count_redefined(profile);
    if (report->redefined) leave_paths_out(&report->total);
    return report;
}

bool fp_cover_figure(const struct fp_cover_report *report, const char *name, struct fp_covered *out)
{
    const struct fp_coverage *t = &report->total;
    const struct {
        const char *name;
        struct fp_covered covered;
    } all[] = {{"functions", t->functions}, {"lines", t->lines}, {"blocks", t->blocks},
               {"edges", t->edges},         {"paths", t->paths}, {"basis", t->basis}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) {
            *out = all[i].covered;
            return true;
        }
    return false;
}

/* ---- text ---- */

/* Exact where it fits a column; a power of ten where it does not. */
static const char *short_count(char room[24], uint64_t value)
{
    if (value == UINT64_MAX)
        snprintf(room, 24, ">1.8e19");
    else if (value >= 100000000)
        snprintf(room, 24, "%.1e", (double)value);
    else
        snprintf(room, 24, "%" PRIu64, value);
    return room;
}

static void say_total(struct fp_writer *out, const char *what, struct fp_covered c,
                      const char *more)
{
    char done[24], all[24];
    fp_say(out, "  %-18s %6.1f%%  %12s of %-12s %s\n", what, fp_covered_percent(c),
           short_count(done, c.done), short_count(all, c.all), more);
}

static void say_totals(struct fp_writer *out, const struct fp_cover_report *r)
{
    const struct fp_coverage *t = &r->total;
    char room[24];
    fp_say(out, "coverage of %zu functions", r->nfunctions);
    if (r->nskipped) fp_say(out, " (%zu not measured)", r->nskipped);
    fp_say(out, "\n");
    say_total(out, "functions", t->functions, "");
    if (t->lines.all)
        say_total(out, "lines", t->lines, "");
    else
        fp_say(out, "  %-18s not known: the program has no line information\n", "lines");
    say_total(out, "blocks", t->blocks, "");
    say_total(out, "edges", t->edges, "");
    if (r->redefined) {
        fp_say(out,
               "  %-18s not added up: those of %zu functions end at other places in these builds\n"
               "  %-18s (--fp-cuts, --fp-guide); choose a build by --program\n",
               "paths", r->redefined, "");
        return;
    }
    if (!t->paths_known) {
        fp_say(out, "  %-18s not counted: the program was built with edge counters alone\n",
               "paths");
        return;
    }
    say_total(out, "independent paths", t->basis, t->at_least ? "(at least)" : "");
    say_total(out, "paths within edges", (struct fp_covered){t->paths.done, t->within},
              "(paths of edges that ran)");
    fp_say(out, "  %-18s          %12" PRIu64 " of %-12s possible\n", "paths", t->paths.done,
           short_count(room, t->paths.all));
    if (t->cuts || t->doors)
        fp_say(out,
               "  %-18s paths end at %" PRIu64 " cuts and %" PRIu64
               " doors of loops: other builds have other paths\n",
               "", t->cuts, t->doors);
}

static const char *level_colour(double percent)
{
    return percent >= 90 ? "\033[32m" : percent >= 50 ? "\033[33m" : "\033[31m";
}

static void say_share(struct fp_writer *out, struct fp_covered c, bool colours)
{
    double percent = fp_covered_percent(c);
    fp_say(out, "%s%6.1f%%%s", colours ? level_colour(percent) : "", percent,
           colours ? "\033[0m" : "");
}

static void say_function(struct fp_writer *out, struct fp_arena *scratch,
                         const struct fp_cover_function *f, bool colours)
{
    const struct fp_coverage *c = &f->coverage;
    char room[2][24];
    if (!c->measured) {
        fp_say(out, "%45s  %s  (%s)\n", "", f->name,
               f->problem ? fp_plain(scratch, f->problem) : "no counts");
        return;
    }
    say_share(out, c->blocks, colours);
    fp_say(out, " ");
    say_share(out, c->edges, colours);
    if (c->paths_known)
        fp_say(out, " %6" PRIu64 "/%-5" PRIu64 "%s %8s / %-8s", c->basis.done, c->basis.all,
               c->at_least ? "+" : " ", short_count(room[0], c->paths.done),
               short_count(room[1], c->paths.all));
    else
        fp_say(out, " %31s", "");
    fp_say(out, "  %s%s%s  %s\n", colours ? "\033[1m" : "", f->name, colours ? "\033[0m" : "",
           fp_function_place(scratch, f->function));
}

void fp_cover_text(struct fp_writer *out, const struct fp_cover_report *r, bool functions,
                   bool colours)
{
    struct fp_arena scratch = {0};
    if (functions) {
        fp_say(out, "%s blocks   edges  independent  paths taken / possible  function%s\n",
               colours ? "\033[2m" : "", colours ? "\033[0m" : "");
        for (size_t i = 0; i < r->nfunctions; i++)
            say_function(out, &scratch, &r->functions[i], colours);
        for (size_t i = 0; i < r->nskipped; i++)
            fp_say(out, "not measured: %s: %s\n", fp_plain(&scratch, r->skipped[i]->name),
                   fp_plain(&scratch, r->skipped[i]->skipped));
        fp_say(out, "\n");
    }
    say_totals(out, r);
    fp_arena_free(&scratch);
}

/* ---- JSON: docs/formats/coverage.schema.json ---- */

static void json_covered(struct fp_json *j, const char *key, struct fp_covered c)
{
    fp_json_key(j, key), fp_json_begin(j, '{');
    fp_json_key(j, "covered"), fp_json_uint(j, c.done);
    fp_json_key(j, "total"), fp_json_uint(j, c.all);
    fp_json_key(j, "percent"), fp_json_double(j, fp_covered_percent(c));
    fp_json_end(j, '}');
}

static void json_coverage(struct fp_json *j, const struct fp_coverage *c)
{
    json_covered(j, "blocks", c->blocks);
    json_covered(j, "edges", c->edges);
    if (!c->paths_known) return;
    json_covered(j, "paths", c->paths);
    json_covered(j, "independent_paths", c->basis);
    fp_json_key(j, "independent_is_lower_bound"), fp_json_bool(j, c->at_least);
    fp_json_key(j, "paths_within_edges"), fp_json_uint(j, c->within);
    fp_json_key(j, "cuts"), fp_json_uint(j, c->cuts);
    fp_json_key(j, "doors"), fp_json_uint(j, c->doors);
}

static void json_function(struct fp_json *j, const struct fp_cover_function *f)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, f->name);
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->function->name);
    fp_json_key(j, "file"), fp_json_string(j, f->function->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->function->line);
    fp_json_address(j, f->function->source.address);
    if (f->problem) fp_json_key(j, "problem"), fp_json_string(j, f->problem);
    if (f->coverage.measured) {
        fp_json_key(j, "calls"), fp_json_uint(j, f->coverage.calls);
        json_coverage(j, &f->coverage);
    }
    fp_json_end(j, '}');
}

void fp_cover_json(struct fp_writer *out, const struct fp_cover_report *r)
{
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "total"), fp_json_begin(&j, '{');
    json_covered(&j, "functions", r->total.functions);
    json_covered(&j, "lines", r->total.lines);
    json_coverage(&j, &r->total);
    fp_json_key(&j, "functions_redefined"), fp_json_uint(&j, r->redefined);
    fp_json_end(&j, '}');
    fp_json_key(&j, "functions"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < r->nfunctions; i++) json_function(&j, &r->functions[i]);
    fp_json_end(&j, ']');
    fp_json_key(&j, "not_measured"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < r->nskipped; i++) {
        fp_json_begin(&j, '{');
        fp_json_key(&j, "name"), fp_json_string(&j, r->skipped[i]->name);
        fp_json_key(&j, "reason"), fp_json_string(&j, r->skipped[i]->skipped);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}
