/* What changed from the first of several profiles to each other one, for the report's page: see
 * siteparts.h and docs/formats/report.md. */
#include "report/siteparts.h"

#include "model/sentence.h"
#include "report/statsreport.h"
#include "source/condition.h"

#include <stdio.h>

/* So many by cost, and as many by share. */
enum { MOST_CHANGES = 60, MOST_COMPARED = 8, LONGEST_CONDITION = 80 };

typedef FP_VEC(struct fp_diff_item) item_list;

static bool same_item(const struct fp_diff_item *x, const struct fp_diff_item *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b && x->id == y->id &&
           x->id_b == y->id_b && x->edge == y->edge;
}

/* The first items in the present order that were not chosen in another one. */
static void choose_items(struct fp_arena *arena, const struct fp_diff *diff, item_list *chosen)
{
    size_t before = chosen->len;
    for (size_t i = 0; i < diff->nitems && i < MOST_CHANGES; i++) {
        bool known = false;
        for (size_t k = 0; k < before && !known; k++)
            known = same_item(&chosen->at[k], &diff->items[i]);
        if (!known) fp_vec_push(arena, chosen, diff->items[i]);
    }
}

/* "p/3", the path as the page of its function names it; "" where that does not list it. */
static void json_path_key(struct fp_json *j, const struct fp_pages *site, uint32_t index,
                          uint64_t id)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    char key[32] = "";
    for (size_t i = 0; i < rf->npaths && i < site->options->paths; i++)
        if (site->report->paths[rf->first_path + i].id == id) {
            snprintf(key, sizeof key, "p/%zu", i);
            break;
        }
    fp_json_string(j, key);
}

/* The function on the side that has more of the item: its page, and the path there. */
static void json_link(struct fp_json *j, const struct fp_pages *site,
                      const struct fp_diff_item *item)
{
    bool after = item->b && (!item->a || item->cost_b > item->cost_a);
    uint32_t index = fp_site_find(site, after ? item->b : item->a);
    fp_json_int(j, index == FP_NONE ? -1 : (int64_t)index);
    if (index != FP_NONE && item->kind == FP_DIFF_PATH)
        json_path_key(j, site, index, after ? item->id_b : item->id);
    else
        fp_json_string(j, "");
}

/* 0, or: side of the other path, file, line, condition, what each does there, how often the other
 * was taken. */
static void json_parting(struct fp_json *j, struct fp_pages *site, struct fp_arena *scratch,
                         const struct fp_diff_item *item)
{
    struct fp_parting_words words;
    if (!fp_parting_words(scratch, site->sources, item, &words)) {
        fp_json_uint(j, 0);
        return;
    }
    fp_json_begin(j, '[');
    fp_json_uint(j, item->near_after);
    fp_json_uint(j, fp_site_file(site, words.place.file));
    fp_site_line(j, words.place.line, words.place.address);
    if (words.mine) {
        fp_json_string(j, words.condition ? fp_text_cut(scratch, words.condition, LONGEST_CONDITION)
                                          : "");
        fp_json_string(j, words.mine_said);
        fp_json_string(j, words.other_said);
        fp_site_count(j, item->near_count);
    }
    fp_json_end(j, ']');
}

static void json_change(struct fp_json *j, struct fp_pages *site, struct fp_arena *scratch,
                        const struct fp_diff_item *item)
{
    const struct fp_function *f = item->a ? item->a : item->b;
    fp_json_begin(j, '[');
    fp_json_uint(j, item->kind);
    fp_json_string(j, fp_demangle(scratch, f->name));
    fp_json_uint(j, fp_site_file(site, f->file));
    json_link(j, site, item);
    fp_site_count(j, item->count_a);
    fp_site_count(j, item->count_b);
    fp_json_double(j, item->cost_a);
    fp_json_double(j, item->cost_b);
    fp_site_clipped(j, fp_diff_item_sentence(scratch, site->sources, item));
    json_parting(j, site, scratch, item);
    fp_json_end(j, ']');
}

static void json_comparison(struct fp_json *j, struct fp_pages *site, size_t column)
{
    struct fp_arena arena = {0};
    struct fp_diff_side a = {.profile = site->options->columns[0].profile},
                        b = {.profile = site->options->columns[column].profile};
    struct fp_diff diff;
    struct fp_diff_options options = {0};
    item_list chosen = {0};
    fp_diff_make(&arena, &a, &b, &options, &diff);
    choose_items(&arena, &diff, &chosen);
    fp_diff_rank(&diff, &a, &b, true);
    choose_items(&arena, &diff, &chosen);
    fp_json_begin(j, '{');
    fp_json_key(j, "cost"), fp_json_begin(j, '[');
    fp_json_double(j, a.cost), fp_json_double(j, b.cost);
    fp_json_end(j, ']');
    fp_json_key(j, "changed"), fp_json_uint(j, diff.nitems);
    fp_json_key(j, "same"), fp_site_count(j, diff.same);
    fp_json_key(j, "items"), fp_json_begin(j, '[');
    for (size_t i = 0; i < chosen.len; i++) json_change(j, site, &arena, &chosen.at[i]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
    fp_arena_free(&arena);
}

void fp_site_json_changes(struct fp_json *j, struct fp_pages *site)
{
    fp_json_key(j, "changes"), fp_json_begin(j, '[');
    for (size_t k = 1; k < site->options->ncolumns && k <= MOST_COMPARED; k++)
        json_comparison(j, site, k);
    fp_json_end(j, ']');
}
