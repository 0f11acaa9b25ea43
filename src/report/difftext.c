/* Differences in text and JSON: see statsreport.h. */
#include "model/model.h"
#include "model/sentence.h"
#include "report/showparts.h"
#include "report/statsreport.h"
#include "source/condition.h"

#include <inttypes.h>

enum { INDENT = 12 /* of sentences */, LONGEST = 60 /* of a condition */ };

static const struct fp_function *function_of(const struct fp_diff_item *item)
{
    return item->a ? item->a : item->b;
}

bool fp_diff_decode(struct fp_arena *arena, const struct fp_diff_item *item,
                    const struct fp_function **f, struct fp_path *path)
{
    bool by_a = item->id != FP_NO_ID;
    *f = by_a ? item->a : item->b;
    return fp_path_decode(arena, (*f)->paths.numbering, by_a ? item->id : item->id_b, path);
}

/* "12", "0x42fa" or "block 3" */
static const char *end_text(struct fp_arena *arena, const struct footpath_place *place,
                            uint32_t block)
{
    if (place->line) return fp_arena_printf(arena, "%u", place->line);
    return place->address ? fp_arena_printf(arena, "0x%" PRIx64, place->address)
                          : fp_arena_printf(arena, "block %u", block);
}

static char *edge_text(struct fp_arena *arena, const struct fp_function *f, uint32_t e)
{
    const struct fp_edge *edge = &f->paths.cfg->edges[e];
    struct footpath_place from = fp_block_place(f, edge->src, true),
                          to = fp_block_place(f, edge->dst, false);
    const char *label = fp_edge_label_text(arena, f, e);
    const char *left = end_text(arena, &from, edge->src), *right = end_text(arena, &to, edge->dst);
    return fp_arena_printf(arena, "%s%s%s%s -> %s", left, *label ? "(" : "", label,
                           *label ? ")" : "", right);
}

const char *fp_diff_item_text(struct fp_arena *arena, const struct fp_diff_item *item)
{
    const struct fp_function *f;
    struct fp_path path;
    switch (item->kind) {
    case FP_DIFF_PATH:
        return fp_diff_decode(arena, item, &f, &path) ? fp_path_text(arena, f, &path) : "";
    case FP_DIFF_EDGE: return edge_text(arena, item->a, item->edge);
    case FP_DIFF_FUNCTION:
        return !item->a         ? "only in the second"
               : !item->b       ? "only in the first"
               : item->reshaped ? "has another shape: the paths that one side alone has"
                                : "has another shape";
    }
    return "";
}

const char *fp_diff_item_sentence(struct fp_arena *arena, struct fp_sources *sources,
                                  const struct fp_diff_item *item)
{
    const struct fp_function *f;
    struct fp_path path;
    if (item->kind == FP_DIFF_EDGE) return fp_edge_sentence(arena, sources, item->a, item->edge);
    if (item->kind == FP_DIFF_PATH && fp_diff_decode(arena, item, &f, &path) &&
        fp_function_has_places(f))
        return fp_path_sentence(arena, sources, f, &path);
    return fp_diff_item_text(arena, item);
}

/* ---- where a path parts from the other side's ---- */

static const char *step_text(struct fp_arena *arena, const struct fp_function *f, uint32_t edge,
                             bool in_words)
{
    if (edge == FP_NONE) return "returns";
    const char *label =
        in_words ? fp_edge_outcome(arena, f, edge) : fp_edge_label_text(arena, f, edge);
    struct footpath_place to = fp_block_place(f, f->paths.cfg->edges[edge].dst, false);
    if (*label) return label;
    if (to.line) return fp_arena_printf(arena, in_words ? "-> line %u" : "-> %u", to.line);
    return fp_arena_printf(arena, "-> %s", end_text(arena, &to, f->paths.cfg->edges[edge].dst));
}

bool fp_parting_words(struct fp_arena *arena, struct fp_sources *sources,
                      const struct fp_diff_item *item, struct fp_parting_words *words)
{
    struct fp_diff_parting parting;
    *words = (struct fp_parting_words){0};
    if (!fp_diff_parting(arena, item, &parting)) return false;
    const struct fp_function *f = parting.function;
    words->place = fp_block_place(f, parting.block, parting.met);
    fp_place_or_function(&words->place, f);
    if (!parting.met) return !(item->near_after ? item->count_b : item->count_a);
    words->mine = step_text(arena, f, parting.edge, false);
    words->other = step_text(arena, f, parting.other_edge, false);
    words->mine_said = step_text(arena, f, parting.edge, true);
    words->other_said = step_text(arena, f, parting.other_edge, true);
    if (parting.edge != FP_NONE) words->condition = fp_edge_condition(sources, f, parting.edge);
    return true;
}

/* "parts at walk.c:7: n % 3 == 0 yes; before: no, 1,200 x" */
static void say_parting(struct fp_writer *out, struct fp_arena *scratch,
                        const struct fp_diff_item *item, const struct fp_diff_view *view)
{
    struct fp_parting_words words;
    char digits[32];
    if (!fp_parting_words(scratch, view->sources, item, &words)) return;
    const char *side = item->near_after ? "after" : "before";
    fp_say(out, "%*s%s %s", INDENT, "", words.mine ? "parts at" : "begins at",
           fp_place_text(scratch, words.place.file, words.place.line, words.place.address));
    if (!words.mine) {
        fp_say(out, "; %s: no path does\n", side);
        return;
    }
    fp_group_digits(item->near_count, digits);
    const char *text = words.condition ? fp_text_cut(scratch, words.condition, LONGEST) : "";
    fp_say(out, ": %s%s%s; %s: %s, %s x\n", fp_plain(scratch, text), *text ? " " : "",
           words.mine_said, side, words.other_said, digits);
}

/* ---- text ---- */

static double change_of(const struct fp_diff_item *item, const struct fp_diff_side *a,
                        const struct fp_diff_side *b, bool relative)
{
    if (relative)
        return 100 * ((b->cost > 0 ? item->cost_b / b->cost : 0) -
                      (a->cost > 0 ? item->cost_a / a->cost : 0));
    return item->cost_b - item->cost_a;
}

static void say_item(struct fp_writer *out, struct fp_arena *scratch,
                     const struct fp_diff_item *item, double change,
                     const struct fp_diff_view *view)
{
    const struct fp_function *f = function_of(item);
    const char *tint = !view->colours ? "" : change > 0 ? "\033[31m" : "\033[32m";
    if (view->relative)
        fp_say(out, "%s%+10.2f%%%s", tint, change, *tint ? "\033[0m" : "");
    else
        fp_say(out, "%s%+11.4g%s", tint, change, *tint ? "\033[0m" : "");
    fp_say(out, " %14" PRIu64 " %14" PRIu64, item->count_a, item->count_b);
    if (item->confidence >= 0)
        fp_say(out, " %6.1f%%", 100 * item->confidence);
    else
        fp_say(out, " %7s", "");
    fp_say(out, "  %s%s%s  %s", view->colours ? "\033[1m" : "",
           fp_plain(scratch, fp_demangle(scratch, f->name)), view->colours ? "\033[0m" : "",
           fp_function_place(scratch, f));
    if (item->kind == FP_DIFF_FUNCTION) {
        fp_say(out, ": %s\n", fp_diff_item_text(scratch, item));
        return;
    }
    fp_say(out, "\n");
    struct fp_show_out show = {.out = out};
    fp_show_wrapped(&show, fp_diff_item_sentence(scratch, view->sources, item), INDENT,
                    view->width);
    say_parting(out, scratch, item, view);
}

void fp_diff_text(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b, const struct fp_diff_view *view)
{
    struct fp_arena scratch = {0};
    uint64_t shown = 0, weak = 0;
    fp_say(out,
           "%" PRIu64 " functions in both, %" PRIu64 " with another shape, %" PRIu64
           " only in the first, %" PRIu64 " only in the second\n",
           diff->matched, diff->reshaped, diff->only_a, diff->only_b);
    if (diff->redefined)
        fp_say(out,
               "paths of %" PRIu64 " functions end at other places in the second build (--fp-cuts, "
               "--fp-guide): these are compared as wholes; --edges compares their edges\n",
               diff->redefined);
    if (diff->reshaped_total > 0)
        fp_say(out, "%.1f%% of the counts of functions with another shape are in blocks of both\n",
               100 * diff->reshaped_placed / diff->reshaped_total);
    fp_say(out, "instructions %.4g -> %.4g (%+.1f%%); %zu changed, %" PRIu64 " the same\n\n",
           a->cost, b->cost, a->cost > 0 ? 100 * (b->cost - a->cost) / a->cost : 0, diff->nitems,
           diff->same);
    if (!diff->nitems) return;
    fp_say(out, "%s     change   count before    count after    sure  what%s\n",
           view->colours ? "\033[2m" : "", view->colours ? "\033[0m" : "");
    for (size_t i = 0; i < diff->nitems; i++) {
        const struct fp_diff_item *item = &diff->items[i];
        if (item->confidence >= 0 && item->confidence < view->confidence) {
            weak++;
            continue;
        }
        if (view->top && shown == view->top) continue;
        say_item(out, &scratch, item, change_of(item, a, b, view->relative), view);
        shown++;
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    if (shown + weak < diff->nitems)
        fp_say(out, "... %" PRIu64 " more; --top 0 shows all\n", diff->nitems - shown - weak);
    if (weak) fp_say(out, "%" PRIu64 " differences are within the spread between runs\n", weak);
    fp_arena_free(&scratch);
}

/* ---- JSON ---- */

static void json_parting(struct fp_json *j, struct fp_arena *scratch,
                         const struct fp_diff_item *item, struct fp_sources *sources)
{
    struct fp_parting_words words;
    if (!fp_parting_words(scratch, sources, item, &words)) return;
    fp_json_key(j, "parting"), fp_json_begin(j, '{');
    fp_json_key(j, "other_side"), fp_json_string(j, item->near_after ? "after" : "before");
    fp_json_key(j, "file"), fp_json_string(j, words.place.file);
    fp_json_key(j, "line"), fp_json_uint(j, words.place.line);
    fp_json_address(j, words.place.address);
    fp_json_key(j, "column"), fp_json_uint(j, words.place.column);
    if (words.mine) {
        fp_json_key(j, "branch"), fp_json_string(j, words.mine);
        fp_json_key(j, "other_branch"), fp_json_string(j, words.other);
        fp_json_key(j, "other_count"), fp_json_uint(j, item->near_count);
    }
    if (words.condition) fp_json_key(j, "text"), fp_json_string(j, words.condition);
    fp_json_end(j, '}');
}

static void json_item(struct fp_json *j, struct fp_arena *scratch, const struct fp_diff_item *item,
                      struct fp_sources *sources)
{
    static const char *kinds[] = {"path", "edge", "function"};
    const struct fp_function *f = function_of(item);
    fp_json_begin(j, '{');
    fp_json_key(j, "kind"), fp_json_string(j, kinds[item->kind]);
    fp_json_key(j, "function"), fp_json_string(j, fp_demangle(scratch, f->name));
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->name);
    fp_json_key(j, "file"), fp_json_string(j, f->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->line);
    fp_json_address(j, f->source.address);
    fp_json_key(j, "in_first"), fp_json_bool(j, item->a);
    fp_json_key(j, "in_second"), fp_json_bool(j, item->b);
    if (item->kind != FP_DIFF_FUNCTION)
        fp_json_key(j, "lines"), fp_json_string(j, fp_diff_item_text(scratch, item));
    if (item->kind == FP_DIFF_PATH && item->id != FP_NO_ID)
        fp_json_key(j, "id"), fp_json_uint(j, item->id);
    fp_json_key(j, "count_before"), fp_json_uint(j, item->count_a);
    fp_json_key(j, "count_after"), fp_json_uint(j, item->count_b);
    fp_json_key(j, "cost_before"), fp_json_double(j, item->cost_a);
    fp_json_key(j, "cost_after"), fp_json_double(j, item->cost_b);
    if (item->confidence >= 0) fp_json_key(j, "confidence"), fp_json_double(j, item->confidence);
    json_parting(j, scratch, item, sources);
    fp_json_end(j, '}');
}

void fp_diff_json(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b, const struct fp_diff_view *view)
{
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "functions_matched"), fp_json_uint(&j, diff->matched);
    fp_json_key(&j, "functions_reshaped"), fp_json_uint(&j, diff->reshaped);
    if (diff->reshaped_total > 0)
        fp_json_key(&j, "reshaped_placed"),
            fp_json_double(&j, diff->reshaped_placed / diff->reshaped_total);
    fp_json_key(&j, "functions_redefined"), fp_json_uint(&j, diff->redefined);
    fp_json_key(&j, "functions_only_in_first"), fp_json_uint(&j, diff->only_a);
    fp_json_key(&j, "functions_only_in_second"), fp_json_uint(&j, diff->only_b);
    fp_json_key(&j, "cost_before"), fp_json_double(&j, a->cost);
    fp_json_key(&j, "cost_after"), fp_json_double(&j, b->cost);
    fp_json_key(&j, "same"), fp_json_uint(&j, diff->same);
    fp_json_key(&j, "changed"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < diff->nitems; i++) {
        json_item(&j, &scratch, &diff->items[i], view->sources);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
