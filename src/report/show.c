/* footpath show: see show.h. */
#include "report/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct show_view {
    struct fp_writer *out;
    const struct fp_report *report;
    const struct fp_show_options *options;
    struct fp_arena scratch;
};

static const char *colour(const struct show_view *v, const char *code)
{
    return v->options->colours ? code : "";
}

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void say_head(struct show_view *v)
{
    const struct fp_report *r = v->report;
    uint64_t runs = fp_profile_run_count(r->profile), executed = 0, instrumented = 0, ran = 0;
    for (size_t i = 0; i < r->nfunctions; i++) {
        if (r->functions[i].function->flags & FP_FUNCTION_SKIPPED) continue;
        instrumented++;
        executed += r->functions[i].executed_paths;
        ran += fp_report_ran(&r->functions[i]);
    }
    fp_say(v->out, "%" PRIu64 " run%s of %s: ", runs, runs == 1 ? "" : "s",
           r->profile->runs.len
               ? fp_plain(&v->scratch, fp_base_name(r->profile->runs.at[0].program))
               : "nothing");
    if (r->have_paths)
        fp_say(v->out, "%" PRIu64 " paths taken, %" PRIu64 " times in all, in ", executed,
               r->count);
    fp_say(v->out, "%" PRIu64 " of %" PRIu64 " functions\n\n", ran, instrumented);
}

static void say_place(struct show_view *v, const struct fp_report_function *rf)
{
    fp_say(v->out, "%s%s%s", colour(v, BOLD), rf->name, colour(v, PLAIN));
}

static bool has_lines(const struct fp_function *f)
{
    return f->source.npositions != 0;
}

static void say_path(struct show_view *v, const struct fp_report_path *path)
{
    const struct fp_report_function *rf = &v->report->functions[path->function];
    struct fp_path decoded;
    if (!fp_report_decode(&v->scratch, v->report, path, &decoded)) return;
    fp_say(v->out, "%5.1f%% %14" PRIu64 "  ", percent(path->cost, v->report->cost), path->count);
    if (path->cycles) fp_say(v->out, "%14" PRIu64 "  ", path->cycles);
    say_place(v, rf);
    if (has_lines(rf->function))
        fp_say(v->out, "  %s: %s\n", fp_plain(&v->scratch, fp_base_name(rf->function->file)),
               fp_path_text(&v->scratch, rf->function, &decoded));
    else
        fp_say(v->out, "  path %" PRIu64 ", %u blocks\n", path->id, decoded.nedges + 1);
}

static void show_paths(struct show_view *v)
{
    const struct fp_report *r = v->report;
    fp_say(v->out, "%s%s          count  %spath%s\n", colour(v, DIM), " cost",
           r->cycles ? "        cycles  " : "", colour(v, PLAIN));
    size_t shown = 0;
    for (size_t i = 0; i < r->nby_cost && (!v->options->top || shown < v->options->top);
         i++, shown++) {
        say_path(v, &r->paths[r->by_cost[i]]);
        if (v->scratch.total > 1 << 20) fp_arena_free(&v->scratch);
    }
    if (shown < r->npaths)
        fp_say(v->out, "%s... %zu more; --top 0 shows all%s\n", colour(v, DIM), r->npaths - shown,
               colour(v, PLAIN));
    bool lines = false;
    for (size_t i = 0; i < r->nfunctions; i++) lines |= has_lines(r->functions[i].function);
    if (r->nfunctions && !lines)
        fp_say(v->out, "\nThe program has no line information; compile it by footpath-cc, which "
                       "adds it, or with -g.\n");
}

static void show_functions(struct show_view *v)
{
    const struct fp_report *r = v->report;
    fp_say(v->out, "%s cost          calls  paths taken / possible  function%s\n", colour(v, DIM),
           colour(v, PLAIN));
    size_t shown = 0, left_out = 0;
    for (size_t i = 0; i < r->nfunctions; i++) {
        const struct fp_report_function *rf = &r->functions[i];
        const struct fp_function *f = rf->function;
        if (f->flags & FP_FUNCTION_SKIPPED) {
            left_out++;
            continue;
        }
        if (v->options->top && shown == v->options->top) continue;
        shown++;
        fp_say(v->out, "%5.1f%% %14" PRIu64 "  %11" PRIu64 " / %-8" PRIu64 "  ",
               percent(rf->cost, r->cost), rf->calls, rf->executed_paths,
               f->paths.numbering ? f->paths.numbering->num_ids : 0);
        say_place(v, rf);
        fp_say(v->out, "  %s:%u", fp_plain(&v->scratch, fp_base_name(f->file)), f->line);
        if (f->paths.truncation->ncuts)
            fp_say(v->out, " (paths cut at %u places)", f->paths.truncation->ncuts);
        if (rf->problem) fp_say(v->out, " (%s)", fp_plain(&v->scratch, rf->problem));
        fp_say(v->out, "\n");
    }
    for (size_t i = 0; i < r->nfunctions; i++)
        if (r->functions[i].function->flags & FP_FUNCTION_SKIPPED)
            fp_say(v->out, "not measured: %s: %s\n", r->functions[i].name,
                   fp_plain(&v->scratch, r->functions[i].function->skipped));
    if (shown + left_out < r->nfunctions)
        fp_say(v->out, "... %zu more; --top 0 shows all\n", r->nfunctions - shown - left_out);
}

/* ---- edges and blocks: all of them in one list, most frequent first ---- */

struct shown_path {
    uint32_t function, index;
    uint64_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct shown_path *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static const struct fp_position *position_of(const struct fp_function *f, uint32_t block, bool last)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    if (!info->npositions) return NULL;
    return &f->source.positions[info->first_position + (last ? info->npositions - 1 : 0)];
}

static void say_position(struct show_view *v, const struct fp_function *f,
                         const struct fp_position *p)
{
    if (p)
        fp_say(v->out, "%s:%u",
               fp_plain(&v->scratch, fp_base_name(f->source.scopes[p->scope].file)), p->line);
    else
        fp_say(v->out, "%s", fp_plain(&v->scratch, fp_base_name(f->file)));
}

static void say_item(struct show_view *v, const struct shown_path *item)
{
    const struct fp_report_function *rf = &v->report->functions[item->function];
    const struct fp_function *f = rf->function;
    fp_say(v->out, "%14" PRIu64 "  ", item->count);
    say_place(v, rf);
    fp_say(v->out, "  ");
    if (v->options->view == FP_SHOW_BLOCKS) {
        say_position(v, f, position_of(f, item->index, false));
        fp_say(v->out, "  block %u, %u instructions\n", item->index,
               f->source.blocks[item->index].instructions);
        return;
    }
    const struct fp_edge *edge = &f->paths.cfg->edges[item->index];
    say_position(v, f, position_of(f, edge->src, true));
    const char *label = fp_edge_label_text(&v->scratch, f, item->index);
    if (*label) fp_say(v->out, "(%s)", label);
    fp_say(v->out, " -> ");
    say_position(v, f, position_of(f, edge->dst, false));
    fp_say(v->out, "  edge %u->%u\n", edge->src, edge->dst);
}

static void show_items(struct show_view *v)
{
    const struct fp_report *r = v->report;
    FP_VEC(struct shown_path) items = {0};
    bool blocks = v->options->view == FP_SHOW_BLOCKS;
    for (size_t i = 0; i < r->nfunctions; i++) {
        const struct fp_report_function *rf = &r->functions[i];
        const uint64_t *counts = blocks ? rf->edges.blocks : rf->edges.edges;
        if (rf->function->flags & FP_FUNCTION_SKIPPED || !counts) continue;
        uint32_t n = blocks ? rf->function->paths.cfg->nblocks : rf->function->paths.cfg->nedges;
        for (uint32_t k = 0; k < n; k++) {
            struct shown_path item = {(uint32_t)i, k, counts[k]};
            if (item.count) fp_vec_push(&v->scratch, &items, item);
        }
    }
    if (items.len) qsort(items.at, items.len, sizeof *items.at, by_count);
    fp_say(v->out, "%s         count  %s%s\n", colour(v, DIM), blocks ? "block" : "edge",
           colour(v, PLAIN));
    for (size_t i = 0; i < items.len && (!v->options->top || i < v->options->top); i++)
        say_item(v, &items.at[i]);
    if (v->options->top && items.len > v->options->top)
        fp_say(v->out, "... %zu more; --top 0 shows all\n", items.len - v->options->top);
}

void fp_show_text(struct fp_writer *out, const struct fp_report *report,
                  const struct fp_show_options *options)
{
    struct show_view v = {.out = out, .report = report, .options = options};
    say_head(&v);
    switch (options->view) {
    case FP_SHOW_PATHS:
        if (report->have_paths)
            show_paths(&v);
        else
            show_functions(&v);
        break;
    case FP_SHOW_FUNCTIONS: show_functions(&v); break;
    case FP_SHOW_EDGES:
    case FP_SHOW_BLOCKS: show_items(&v); break;
    }
    fp_arena_free(&v.scratch);
}

/* ---- JSON: docs/formats/show.schema.json ---- */

static void json_path(struct fp_json *j, const struct fp_report *r,
                      const struct fp_report_path *path, struct fp_arena *scratch)
{
    const struct fp_function *f = r->functions[path->function].function;
    struct fp_path decoded;
    if (!fp_report_decode(scratch, r, path, &decoded)) return;
    fp_json_begin(j, '{');
    j->compact = true; /* a path a line: there may be many, and long ones */
    if (path->id == FP_NO_ID)
        fp_json_key(j, "id"), fp_json_null(j);
    else
        fp_json_key(j, "id"), fp_json_uint(j, path->id);
    fp_json_key(j, "count"), fp_json_uint(j, path->count);
    if (path->cycles) fp_json_key(j, "cycles"), fp_json_uint(j, path->cycles);
    fp_json_key(j, "branches"), fp_json_uint(j, path->branches);
    fp_json_key(j, "instructions"), fp_json_uint(j, path->instructions);
    static const char *ends[] = {"exit", "edge", "lap", "left"};
    fp_json_key(j, "starts_at"),
        fp_json_string(j, decoded.start == FP_STARTS_AT_ENTRY ? "entry" : "edge");
    fp_json_key(j, "ends_at"), fp_json_string(j, ends[decoded.end]);
    fp_json_key(j, "lines"), fp_json_string(j, fp_path_text(scratch, f, &decoded));
    fp_json_key(j, "block_ids"), fp_json_begin(j, '[');
    fp_json_uint(j, decoded.first_block);
    for (uint32_t i = 0; i < decoded.nedges; i++)
        fp_json_uint(j, f->paths.cfg->edges[decoded.edges[i]].dst);
    fp_json_end(j, ']');
    size_t nsteps;
    struct fp_path_step *steps = fp_path_steps(scratch, f, &decoded, &nsteps);
    fp_json_key(j, "blocks"), fp_json_begin(j, '[');
    for (size_t i = 0; i < nsteps; i++) {
        fp_json_begin(j, '{');
        fp_json_key(j, "file"), fp_json_string(j, f->source.scopes[steps[i].position->scope].file);
        fp_json_key(j, "line"), fp_json_uint(j, steps[i].position->line);
        if (steps[i].edge != FP_NONE)
            fp_json_key(j, "branch"),
                fp_json_string(j, fp_edge_label_text(scratch, f, steps[i].edge));
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
    fp_json_end(j, '}');
    j->compact = false;
}

static void json_edges(struct fp_json *j, const struct fp_report_function *rf,
                       struct fp_arena *scratch)
{
    const struct fp_function *f = rf->function;
    fp_json_key(j, "edges"), fp_json_begin(j, '[');
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        fp_json_begin(j, '{');
        fp_json_key(j, "from"), fp_json_uint(j, f->paths.cfg->edges[e].src);
        fp_json_key(j, "to"), fp_json_uint(j, f->paths.cfg->edges[e].dst);
        fp_json_key(j, "count"), fp_json_uint(j, rf->edges.edges[e]);
        const char *label = fp_edge_label_text(scratch, f, e);
        if (*label) fp_json_key(j, "branch"), fp_json_string(j, label);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

static void json_function(struct fp_json *j, const struct fp_report *r,
                          const struct fp_report_function *rf, struct fp_arena *scratch)
{
    const struct fp_function *f = rf->function;
    fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, rf->name);
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->name);
    fp_json_key(j, "file"), fp_json_string(j, f->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->line);
    if (f->flags & FP_FUNCTION_SKIPPED) {
        fp_json_key(j, "not_measured"), fp_json_string(j, f->skipped);
        fp_json_end(j, '}');
        return;
    }
    fp_json_key(j, "num_paths"),
        fp_json_uint(j, f->paths.numbering ? f->paths.numbering->num_ids : 0);
    fp_json_key(j, "executed_paths"), fp_json_uint(j, rf->executed_paths);
    fp_json_key(j, "calls"), fp_json_uint(j, rf->calls);
    fp_json_key(j, "cuts"), fp_json_uint(j, f->paths.truncation->ncuts);
    if (rf->problem) fp_json_key(j, "problem"), fp_json_string(j, rf->problem);
    fp_json_key(j, "paths"), fp_json_begin(j, '[');
    for (size_t i = 0; i < rf->npaths; i++) json_path(j, r, &r->paths[rf->first_path + i], scratch);
    fp_json_end(j, ']');
    if (rf->edges.edges) json_edges(j, rf, scratch);
    fp_json_end(j, '}');
}

void fp_show_json(struct fp_writer *out, const struct fp_report *report)
{
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out};
    uint64_t runs = fp_profile_run_count(report->profile);
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "runs"), fp_json_uint(&j, runs);
    fp_json_key(&j, "cost_unit"), fp_json_string(&j, report->cycles ? "cycles" : "instructions");
    fp_json_key(&j, "functions"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < report->nfunctions; i++) {
        json_function(&j, report, &report->functions[i], &scratch);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
