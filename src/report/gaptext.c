/* Gaps in text and JSON: see gapreport.h. */
#include "model/model.h"
#include "model/sentence.h"
#include "report/gapreport.h"
#include "report/showparts.h"

#include <inttypes.h>

double fp_gaps_whole(const struct fp_gaps *g, bool by_count)
{
    if (by_count)
        return (double)g->tested.count + (double)g->untested.count + (double)g->unknown.count;
    return g->tested.cost + g->untested.cost + g->unknown.cost;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double part_of(const struct fp_gap *gap, bool by_count)
{
    return by_count ? (double)gap->count : gap->cost;
}

/* ---- one gap ---- */

const char *const fp_gap_reason_names[FP_GAP_REASONS] = {
    "function_not_in_tests", "function_not_called", "beginning_not_taken",
    "branch_not_taken",      "not_together",        "end_not_taken",
};

struct footpath_place fp_gap_place(const struct fp_gap *gap)
{
    const struct fp_function *f = gap->function;
    struct footpath_place place = {0};
    if (gap->edge != FP_NONE)
        place = fp_block_place(f, f->paths.cfg->edges[gap->edge].src, true);
    else if (gap->block != FP_NONE)
        place = fp_block_place(f, gap->block, gap->reason == FP_GAP_END);
    fp_place_or_function(&place, f);
    return place;
}

static const char *branch_of(struct fp_arena *arena, const struct fp_gap *gap)
{
    return gap->edge == FP_NONE ? "" : fp_edge_label_text(arena, gap->function, gap->edge);
}

/* "walk.c:33: n < 3 yes", or where the branch leads if its sense is not known. */
static const char *where(struct fp_arena *arena, const struct fp_gap *gap,
                         struct fp_sources *sources)
{
    const struct fp_function *f = gap->function;
    struct footpath_place place = fp_gap_place(gap);
    const char *text = fp_place_text(arena, place.file, place.line, place.address);
    if (gap->edge == FP_NONE) return text;
    struct fp_decision decision = fp_edge_decision(arena, sources, f, gap->edge);
    if (*decision.label) return fp_decision_text(arena, text, &decision);
    struct footpath_place to = fp_block_place(f, f->paths.cfg->edges[gap->edge].dst, false);
    if (!to.line && to.address) return fp_arena_printf(arena, "%s -> 0x%" PRIx64, text, to.address);
    return to.line ? fp_arena_printf(arena, "%s -> line %u", text, to.line) : text;
}

const char *fp_gap_reason(const struct fp_gap *gap)
{
    switch (gap->reason) {
    case FP_GAP_ABSENT: return "no test program has this function";
    case FP_GAP_UNCALLED: return "no test called this function";
    case FP_GAP_BEGIN: return "no tested path begins here";
    case FP_GAP_EDGE: return "no test took this branch";
    case FP_GAP_TOGETHER: return "tests took this branch, but never after this beginning";
    case FP_GAP_END: return "tests came here, but went on in another way";
    case FP_GAP_REASONS: break;
    }
    return "untested";
}

/* ---- text ---- */

static void say_number(struct fp_writer *out, int width, uint64_t value)
{
    char digits[32];
    fp_group_digits(value, digits);
    fp_say(out, "%*s", width, digits);
}

/* How often, and the path as a sentence. */
static void say_path(struct fp_writer *out, struct fp_arena *scratch, const struct fp_gap *gap,
                     const struct fp_gap_path *path, const struct fp_gap_view *view)
{
    enum { INDENT = 29 };
    struct fp_show_out show = {.out = out};
    char digits[32];
    fp_group_digits(path->count, digits);
    const char *sentence = fp_path_sentence(scratch, view->sources, gap->function, &path->path);
    fp_show_wrapped(&show, fp_arena_printf(scratch, "%s x: %s", digits, sentence), INDENT,
                    view->width);
    fp_arena_free(&show.scratch);
}

static void say_gap(struct fp_writer *out, struct fp_arena *scratch, const struct fp_gap *gap,
                    double whole, const struct fp_gap_view *view)
{
    const char *bold = view->colours ? "\033[1m" : "", *off = view->colours ? "\033[0m" : "";
    fp_say(out, "%8.2f%%", percent(part_of(gap, view->by_count), whole));
    say_number(out, 6, gap->npaths);
    say_number(out, 12, gap->count);
    fp_say(out, "  %s%s%s  %s: %s\n", bold,
           fp_plain(scratch, fp_demangle(scratch, gap->function->name)), off,
           where(scratch, gap, view->sources), fp_gap_reason(gap));
    for (size_t i = 0; i < (view->paths ? gap->npaths : 1); i++)
        say_path(out, scratch, gap, &gap->paths[i], view);
}

static void say_sums(struct fp_writer *out, const struct fp_gaps *g, const struct fp_gap_view *view)
{
    double whole = fp_gaps_whole(g, view->by_count);
    double untested = view->by_count ? (double)g->untested.count : g->untested.cost;
    double unknown = view->by_count ? (double)g->unknown.count : g->unknown.cost;
    fp_say(out, "production  %s\ntests       %s\n\n", view->production, view->tests);
    fp_say(out,
           "%.1f%% of production's %s went by paths that tests took, %.1f%% by paths that no "
           "test took",
           100 * fp_gaps_tested(g, view->by_count), view->by_count ? "paths" : "instructions",
           percent(untested, whole));
    if (g->unknown.count) fp_say(out, ", %.1f%% cannot be told", percent(unknown, whole));
    fp_say(out, "\npaths: %" PRIu64 " tested, %" PRIu64 " not", g->tested.paths, g->untested.paths);
    if (g->unknown.count) fp_say(out, ", %" PRIu64 " unknown", g->unknown.paths);
    fp_say(out, "\n");
    if (g->reshaped)
        fp_say(out,
               "%" PRIu64 " functions differ in the tests' build: build both from one source "
               "with one compiler and level\n",
               g->reshaped);
    if (g->redefined)
        fp_say(out,
               "paths of %" PRIu64 " functions end elsewhere in a test program, or were not "
               "counted there: build both with the same --fp-mode and --fp-cuts\n",
               g->redefined);
    if (g->unmeasured)
        fp_say(out, "%" PRIu64 " functions of production have no counted paths and are left out\n",
               g->unmeasured);
}

void fp_gap_text(struct fp_writer *out, const struct fp_gaps *gaps, const struct fp_gap_view *view)
{
    struct fp_arena scratch = {0};
    double whole = fp_gaps_whole(gaps, view->by_count);
    say_sums(out, gaps, view);
    if (gaps->ngaps)
        fp_say(out, "\n%s untested paths       count  where they leave what was tested%s\n",
               view->colours ? "\033[2m" : "", view->colours ? "\033[0m" : "");
    for (size_t i = 0; i < gaps->ngaps; i++) {
        if (view->top && i == view->top) {
            fp_say(out, "... %zu more; --top 0 shows all\n", gaps->ngaps - i);
            break;
        }
        say_gap(out, &scratch, &gaps->gaps[i], whole, view);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_arena_free(&scratch);
}

/* ---- JSON ---- */

static void json_sum(struct fp_json *j, const char *key, const struct fp_gap_sum *sum)
{
    fp_json_key(j, key), fp_json_begin(j, '{');
    fp_json_key(j, "paths"), fp_json_uint(j, sum->paths);
    fp_json_key(j, "count"), fp_json_uint(j, sum->count);
    fp_json_key(j, "cost"), fp_json_double(j, sum->cost);
    fp_json_end(j, '}');
}

static void json_path(struct fp_json *j, struct fp_arena *scratch, const struct fp_gap *gap,
                      const struct fp_gap_path *path)
{
    fp_json_begin(j, '{');
    if (path->id != FP_NO_ID) fp_json_key(j, "id"), fp_json_uint(j, path->id);
    fp_json_key(j, "count"), fp_json_uint(j, path->count);
    fp_json_key(j, "cost"), fp_json_double(j, path->cost);
    fp_json_key(j, "tested_edges"), fp_json_uint(j, path->length);
    fp_json_key(j, "edges"), fp_json_uint(j, path->path.nedges);
    fp_json_key(j, "lines"), fp_json_string(j, fp_path_text(scratch, gap->function, &path->path));
    fp_json_end(j, '}');
}

static void json_gap(struct fp_json *j, struct fp_arena *scratch, const struct fp_gap *gap)
{
    struct footpath_place place = fp_gap_place(gap);
    fp_json_begin(j, '{');
    fp_json_key(j, "function"), fp_json_string(j, fp_demangle(scratch, gap->function->name));
    fp_json_key(j, "linkage_name"), fp_json_string(j, gap->function->name);
    fp_json_key(j, "reason"), fp_json_string(j, fp_gap_reason_names[gap->reason]);
    fp_json_key(j, "file"), fp_json_string(j, place.file);
    fp_json_key(j, "line"), fp_json_uint(j, place.line);
    fp_json_address(j, place.address);
    fp_json_key(j, "column"), fp_json_uint(j, place.column);
    fp_json_key(j, "branch"), fp_json_string(j, branch_of(scratch, gap));
    fp_json_key(j, "text"), fp_json_string(j, fp_gap_reason(gap));
    fp_json_key(j, "count"), fp_json_uint(j, gap->count);
    fp_json_key(j, "cost"), fp_json_double(j, gap->cost);
    fp_json_key(j, "paths"), fp_json_begin(j, '[');
    for (size_t i = 0; i < gap->npaths; i++) json_path(j, scratch, gap, &gap->paths[i]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

void fp_gap_json(struct fp_writer *out, const struct fp_gaps *gaps, const struct fp_gap_view *view)
{
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "production"), fp_json_string(&j, view->production);
    fp_json_key(&j, "tests"), fp_json_string(&j, view->tests);
    fp_json_key(&j, "tested_share"), fp_json_double(&j, fp_gaps_tested(gaps, false));
    fp_json_key(&j, "tested_share_by_count"), fp_json_double(&j, fp_gaps_tested(gaps, true));
    json_sum(&j, "tested", &gaps->tested);
    json_sum(&j, "untested", &gaps->untested);
    json_sum(&j, "unknown", &gaps->unknown);
    fp_json_key(&j, "functions_reshaped"), fp_json_uint(&j, gaps->reshaped);
    fp_json_key(&j, "functions_redefined"), fp_json_uint(&j, gaps->redefined);
    fp_json_key(&j, "functions_without_paths"), fp_json_uint(&j, gaps->unmeasured);
    fp_json_key(&j, "gaps"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < gaps->ngaps; i++) {
        json_gap(&j, &scratch, &gaps->gaps[i]);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
