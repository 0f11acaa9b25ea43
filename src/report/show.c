/* footpath show: see show.h. */
#include "report/show.h"

#include "base/table.h"
#include "base/vec.h"
#include "report/showparts.h"
#include "source/condition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 8 /* of sentences */,
    MOST_ROWS = 4096 /* that are held at once */,
    SHORTEST_NAME = 20 /* a longer one may be cut */
};

struct show_view {
    struct fp_show_out o;
    const struct fp_show_options *options;
    const struct footpath_function *functions;
    size_t nfunctions;
    struct footpath_summary summary;
};

enum { MOST_CALLERS = 3 };

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void say_head(struct show_view *v)
{
    const struct footpath_summary *s = &v->summary;
    uint64_t instrumented = 0, ran = 0;
    for (size_t i = 0; i < v->nfunctions; i++) {
        const struct footpath_function *f = &v->functions[i];
        if (f->not_measured) continue;
        instrumented++;
        ran += f->calls || f->executed_paths;
    }
    fp_say(v->o.out, "%" PRIu64 " run%s of %s", s->runs, s->runs == 1 ? "" : "s",
           s->program ? fp_show_file(&v->o, s->program) : "nothing");
    if (s->programs > 1)
        fp_say(v->o.out, " and %" PRIu64 " other program%s", s->programs - 1,
               s->programs == 2 ? "" : "s");
    fp_say(v->o.out, ": ");
    if (s->has_paths)
        fp_say(v->o.out, "%zu paths taken, %" PRIu64 " times in all, in ",
               footpath_path_count(v->o.fp), s->path_count);
    fp_say(v->o.out, "%" PRIu64 " of %" PRIu64 " functions\n\n", ran, instrumented);
}

static void say_name(struct show_view *v, const struct footpath_function *f)
{
    fp_say(v->o.out, "%s%s%s", fp_show_colour(&v->o, FP_BOLD), footpath_name(v->o.fp, f),
           fp_show_colour(&v->o, FP_PLAIN));
}

/* ---- paths ---- */

/* Paths that read the same are one row. */
struct shown_row {
    const struct footpath_path *path; /* the first of them */
    const char *place, *sentence;
    uint64_t count, cycles;
    double cost;
    size_t paths;
};

struct shown_rows {
    FP_VEC(struct shown_row) all;
    struct fp_strtable by_text; /* -> 1 + index */
};

/* Where a path begins. */
static const char *place_of(struct show_view *v, const struct footpath_function *f,
                            const struct footpath_route *route)
{
    return fp_show_place(&v->o, f, route->nsteps ? &route->steps[0].place : NULL);
}

/* A path where there are no lines. One that never ended has no number. */
static const char *number_of(struct show_view *v, const struct footpath_path *path,
                             uint32_t nblocks)
{
    if (path->id == FOOTPATH_NO_ID)
        return fp_arena_printf(&v->o.scratch, "left in block %u with sum %" PRIu64 ", %u blocks",
                               path->stop, path->prefix, nblocks);
    return fp_arena_printf(&v->o.scratch, "path %" PRIu64 ", %u blocks", path->id, nblocks);
}

static void add_row(struct show_view *v, struct shown_rows *rows, const struct footpath_path *path)
{
    const struct footpath_function *f = &v->functions[path->function];
    struct footpath_route route;
    struct shown_row row = {path, .count = path->count, path->cycles, path->cost, 1};
    if (!footpath_decode(v->o.fp, path, &route)) return;
    row.place = place_of(v, f, &route);
    row.sentence = f->has_lines || f->address
                       ? fp_arena_strdup(&v->o.scratch, footpath_sentence(v->o.fp, &route))
                       : number_of(v, path, route.nblocks);
    if (!rows->by_text.arena) fp_strtable_init(&rows->by_text, &v->o.scratch);
    uint64_t *index =
        fp_strtable_add(&rows->by_text, fp_arena_printf(&v->o.scratch, "%u %s %s", path->function,
                                                        row.place, row.sentence));
    if (*index) {
        struct shown_row *same = &rows->all.at[*index - 1];
        same->count += row.count, same->cycles += row.cycles, same->cost += row.cost;
        same->paths++;
        return;
    }
    fp_vec_push(&v->o.scratch, &rows->all, row);
    *index = rows->all.len;
}

static int by_cost(const void *a, const void *b)
{
    const struct shown_row *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    if (x->path->function != y->path->function)
        return x->path->function < y->path->function ? -1 : 1;
    return (x->path->id > y->path->id) - (x->path->id < y->path->id);
}

static void say_row(struct show_view *v, const struct shown_row *row)
{
    fp_say(v->o.out, "%5.1f%% %14" PRIu64 "  ", percent(row->cost, v->summary.cost), row->count);
    if (v->summary.cycles) fp_say(v->o.out, "%14" PRIu64 "  ", row->cycles);
    const char *several =
        row->paths > 1 ? fp_arena_printf(&v->o.scratch, "  (%zu paths)", row->paths) : "";
    size_t taken = 26 + (v->summary.cycles ? 16u : 0u) + strlen(row->place) + strlen(several);
    size_t room =
        v->options->width > taken + SHORTEST_NAME ? v->options->width - taken : SHORTEST_NAME;
    const char *name = footpath_name(v->o.fp, &v->functions[row->path->function]);
    fp_say(v->o.out, "%s%s%s  %s%s\n", fp_show_colour(&v->o, FP_BOLD),
           fp_text_cut(&v->o.scratch, name, room), fp_show_colour(&v->o, FP_PLAIN), row->place,
           several);
    fp_show_wrapped(&v->o, row->sentence, INDENT, v->options->width);
}

/* What was gathered, and none is left. */
static void say_rows(struct show_view *v, struct shown_rows *rows)
{
    if (rows->all.len) qsort(rows->all.at, rows->all.len, sizeof *rows->all.at, by_cost);
    for (size_t i = 0; i < rows->all.len; i++) say_row(v, &rows->all.at[i]);
    *rows = (struct shown_rows){0};
    fp_arena_free(&v->o.scratch);
}

/* What to do where there are no lines: compile the program otherwise or, of an executable, look at
 * its instructions. */
static void note_lines(struct show_view *v)
{
    const struct footpath_function *code = NULL;
    for (size_t i = 0; i < v->nfunctions; i++) {
        if (v->functions[i].has_lines) return;
        if (!code && v->functions[i].address) code = &v->functions[i];
    }
    if (!v->nfunctions) return;
    fp_say(v->o.out, "\n");
    const char *text =
        code ? fp_arena_printf(
                   &v->o.scratch,
                   "%s has no line information: places are its addresses. footpath annotate and "
                   "footpath report show the instructions there, as does objdump -d "
                   "--start-address=0x%" PRIx64 " %s. With its debug symbols installed, "
                   "footpath exe and footpath infer find lines.",
                   fp_show_file(&v->o, code->file), code->address,
                   fp_plain(&v->o.scratch, code->file))
             : "The program has no line information; compile it by footpath-cc, which adds it, or "
               "with -g.";
    fp_show_wrapped(&v->o, text, 0, v->options->width);
}

static void say_notes(struct show_view *v)
{
    const char *name;
    size_t changed = footpath_changed_sources(v->o.fp, &name);
    note_lines(v);
    if (!changed) return;
    const char *who = changed > 1
                          ? fp_arena_printf(&v->o.scratch, " and %zu more files have", changed - 1)
                          : " has";
    fp_say(v->o.out, "\n");
    fp_show_wrapped(&v->o,
                    fp_arena_printf(&v->o.scratch,
                                    "%s%s changed since compiled, so that places stand for "
                                    "conditions; --source-root DIR finds the old %s.",
                                    fp_show_file(&v->o, name), who, changed > 1 ? "ones" : "one"),
                    0, v->options->width);
}

static void show_paths(struct show_view *v)
{
    size_t count;
    struct fp_arena arena = {0};
    const struct footpath_path *const *paths = fp_show_chosen(&arena, v->o.fp, v->options, &count);
    struct shown_rows rows = {0};
    fp_say(v->o.out, "%s%s          count  %spath%s\n", fp_show_colour(&v->o, FP_DIM), " cost",
           v->summary.cycles ? "        cycles  " : "", fp_show_colour(&v->o, FP_PLAIN));
    for (size_t i = 0; i < count; i++) {
        add_row(v, &rows, paths[i]);
        if (i + 1 == count || rows.all.len == MOST_ROWS) say_rows(v, &rows);
    }
    if (!v->options->path) fp_show_more(&v->o, footpath_path_count(v->o.fp) - count);
    say_notes(v);
    fp_arena_free(&arena);
}

/* ---- functions ---- */

static void say_function(struct show_view *v, const struct footpath_function *f)
{
    const char *problem = footpath_problem(v->o.fp, f);
    fp_say(v->o.out, "%5.1f%% %14" PRIu64 "  %11" PRIu64 " / %-8" PRIu64 "  ",
           percent(f->cost, v->summary.cost), f->calls, f->executed_paths, f->possible_paths);
    say_name(v, f);
    fp_say(v->o.out, "  %s", fp_show_function(&v->o, f));
    if (f->cuts) fp_say(v->o.out, " (paths cut at %u places)", f->cuts);
    if (f->doors)
        fp_say(v->o.out, " (paths end at %u way%s into loops)", f->doors, f->doors == 1 ? "" : "s");
    if (problem) fp_say(v->o.out, " (%s)", fp_plain(&v->o.scratch, problem));
    fp_say(v->o.out, "\n");
}

struct inclusive_rank {
    double cost;
    size_t index;
};

static int by_inclusive(const void *x, const void *y)
{
    const struct inclusive_rank *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static void say_callers(struct show_view *v, const struct footpath_call *callers, size_t n)
{
    for (size_t k = 0; k < n && k < MOST_CALLERS; k++)
        fp_say(v->o.out, "%s %s %" PRIu64 "x", k ? "," : "  <-",
               callers[k].caller_name ? callers[k].caller_name : "elsewhere", callers[k].count);
    fp_say(v->o.out, "%s\n", n > MOST_CALLERS ? ", ..." : "");
}

/* With the cost of what each function called, and those that call it most. */
static void show_inclusive(struct show_view *v)
{
    struct inclusive_rank *ranks =
        FP_NEW_ARRAY(&v->o.scratch, struct inclusive_rank, v->nfunctions);
    size_t n = 0, top = v->options->top;
    for (size_t i = 0; i < v->nfunctions; i++)
        if (!v->functions[i].not_measured && v->functions[i].calls)
            ranks[n++] = (struct inclusive_rank){footpath_inclusive(v->o.fp, &v->functions[i]), i};
    if (n) qsort(ranks, n, sizeof *ranks, by_inclusive);
    if (!v->summary.inclusive && !v->summary.call_costs)
        fp_say(v->o.out, "Inclusive costs are estimates: what a function cost is divided among its "
                         "callers by their calls.\n\n");
    fp_say(v->o.out, "%sinclusive   self          calls  function, called by%s\n",
           fp_show_colour(&v->o, FP_DIM), fp_show_colour(&v->o, FP_PLAIN));
    for (size_t i = 0; i < n && (!top || i < top); i++) {
        const struct footpath_function *f = &v->functions[ranks[i].index];
        size_t ncallers;
        const struct footpath_call *callers = footpath_callers(v->o.fp, f, &ncallers);
        fp_say(v->o.out, "%8.1f%% %5.1f%% %14" PRIu64 "  ", percent(ranks[i].cost, v->summary.cost),
               percent(f->cost, v->summary.cost), f->calls);
        say_name(v, f);
        say_callers(v, callers, ncallers);
    }
    v->o.colours = false;
    fp_show_more(&v->o, top && n > top ? n - top : 0);
}

static void show_functions(struct show_view *v)
{
    if (v->options->inclusive) {
        show_inclusive(v);
        return;
    }

    fp_say(v->o.out, "%s cost          calls  paths taken / possible  function%s\n",
           fp_show_colour(&v->o, FP_DIM), fp_show_colour(&v->o, FP_PLAIN));
    size_t shown = 0, measured = 0;
    for (size_t i = 0; i < v->nfunctions; i++) {
        if (v->functions[i].not_measured) continue;
        measured++;
        if (v->options->top && shown == v->options->top) continue;
        shown++;
        say_function(v, &v->functions[i]);
    }
    for (size_t i = 0; i < v->nfunctions; i++)
        if (v->functions[i].not_measured)
            fp_say(v->o.out, "not measured: %s: %s\n", footpath_name(v->o.fp, &v->functions[i]),
                   fp_plain(&v->o.scratch, v->functions[i].not_measured));
    v->o.colours = false;
    fp_show_more(&v->o, measured - shown);
}

/* ---- edges and blocks: all of them in one list, most frequent first ---- */

struct shown_item {
    uint32_t function, index;
    uint64_t count;
};

struct shown_items {
    FP_VEC(struct shown_item) all;
};

static int by_count(const void *a, const void *b)
{
    const struct shown_item *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void add_item(struct show_view *v, struct shown_items *items, uint32_t function,
                     uint32_t index, uint64_t count)
{
    struct shown_item item = {function, index, count};
    if (count) fp_vec_push(&v->o.scratch, &items->all, item);
}

static void add_items(struct show_view *v, struct shown_items *items,
                      const struct footpath_function *f)
{
    const struct footpath_block *blocks =
        v->options->view == FP_SHOW_BLOCKS ? footpath_blocks(v->o.fp, f) : NULL;
    const struct footpath_edge *edges =
        v->options->view == FP_SHOW_EDGES ? footpath_edges(v->o.fp, f) : NULL;
    for (uint32_t i = 0; blocks && i < f->nblocks; i++)
        add_item(v, items, f->index, i, blocks[i].count);
    for (uint32_t i = 0; edges && i < f->nedges; i++)
        add_item(v, items, f->index, i, edges[i].count);
}

static void say_item(struct show_view *v, const struct shown_item *item)
{
    const struct footpath_function *f = &v->functions[item->function];
    fp_say(v->o.out, "%14" PRIu64 "  ", item->count);
    say_name(v, f);
    fp_say(v->o.out, "  ");
    if (v->options->view == FP_SHOW_BLOCKS) {
        const struct footpath_block *block = &footpath_blocks(v->o.fp, f)[item->index];
        fp_say(v->o.out, "%s  block %u, %u instructions", fp_show_place(&v->o, f, &block->first),
               item->index, block->instructions);
    } else {
        fp_show_edge(&v->o, f, item->index);
    }
    fp_say(v->o.out, "\n");
}

static void show_items(struct show_view *v)
{
    struct shown_items items = {{0}};
    for (size_t i = 0; i < v->nfunctions; i++) add_items(v, &items, &v->functions[i]);
    size_t count = items.all.len,
           shown = v->options->top && v->options->top < count ? v->options->top : count;
    if (count) qsort(items.all.at, count, sizeof *items.all.at, by_count);
    fp_say(v->o.out, "%s         count  %s%s\n", fp_show_colour(&v->o, FP_DIM),
           v->options->view == FP_SHOW_BLOCKS ? "block" : "edge", fp_show_colour(&v->o, FP_PLAIN));
    for (size_t i = 0; i < shown; i++) say_item(v, &items.all.at[i]);
    v->o.colours = false;
    fp_show_more(&v->o, count - shown);
}

void fp_show_text(struct fp_writer *out, struct footpath *fp, const struct fp_show_options *options)
{
    struct show_view v = {.o = {.out = out, .fp = fp, .colours = options->colours},
                          .options = options};
    v.functions = footpath_functions(fp, &v.nfunctions);
    footpath_summarize(fp, &v.summary);
    say_head(&v);
    switch (options->view) {
    case FP_SHOW_PATHS:
        if (v.summary.has_paths)
            show_paths(&v);
        else
            show_functions(&v);
        break;
    case FP_SHOW_FUNCTIONS: show_functions(&v); break;
    case FP_SHOW_EDGES:
    case FP_SHOW_BLOCKS: show_items(&v); break;
    }
    fp_arena_free(&v.o.scratch);
}
