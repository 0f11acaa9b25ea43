/* Places of unseen lines that are needed: see irneeded.h.
 *
 * What dominates a place ran whenever the place did. The dominator tree of blocks and edges is
 * numbered so that what is below a place has the numbers of a range.
 */
#include "llvm/read/irneeded.h"

#include "graph/dominators.h"

#include <stdlib.h>

/* Of a line. More of them do not fit in a tenth of the map. */
enum { MOST_PLACES = 8 };

/* Code of a line, or a place where the line may have run unseen. */
struct needed_item {
    uint64_t line; /* scope << 32 | line */
    uint32_t place;
    uint32_t number; /* of the place */
    bool is_code;
};

struct needed {
    struct fp_ir *ir;
    struct fp_arena scratch;
    const uint32_t *above;  /* the tree */
    uint32_t *number, *end; /* per place: number .. end - 1 are below it, and itself */
    FP_VEC(struct needed_item) items;
    FP_VEC(struct needed_item) tops; /* of one line: items that no other is above */
    FP_VEC(struct fp_unseen) kept;
};

/* ---- the tree ---- */

static void number_tree(struct needed *s)
{
    const struct fp_cfg *cfg = s->ir->f->paths.cfg;
    uint32_t n = cfg->nblocks + cfg->nedges, count = 0;
    const uint32_t *above = s->above = fp_place_dominators(&s->scratch, cfg);
    uint32_t *child = FP_NEW_ARRAY(&s->scratch, uint32_t, n); /* 1 + place; 0: none */
    uint32_t *sibling = FP_NEW_ARRAY(&s->scratch, uint32_t, n);
    s->number = FP_NEW_ARRAY(&s->scratch, uint32_t, n);
    s->end = FP_NEW_ARRAY(&s->scratch, uint32_t, n);
    for (uint32_t v = n; v-- > 1;) {
        s->number[v] = FP_NONE;
        if (above[v] == FP_NONE) continue;
        sibling[v] = child[above[v]];
        child[above[v]] = v + 1;
    }
    for (uint32_t v = 0;;) {
        s->number[v] = count++;
        if (child[v]) {
            v = child[v] - 1;
            continue;
        }
        for (; v && !sibling[v]; v = above[v]) s->end[v] = count;
        s->end[v] = count;
        if (!v) break;
        v = sibling[v] - 1;
    }
}

/* ---- items ---- */

/* The block that runs whenever an edge does and only then, if there is one. */
static uint32_t place_of(const struct fp_cfg *cfg, uint32_t place)
{
    if (place < cfg->nblocks) return place;
    const struct fp_edge *edge = &cfg->edges[place - cfg->nblocks];
    if (edge->dst && cfg->first_in[edge->dst + 1] - cfg->first_in[edge->dst] == 1) return edge->dst;
    if (cfg->first_out[edge->src + 1] - cfg->first_out[edge->src] == 1) return edge->src;
    return place;
}

static void add_item(struct needed *s, uint32_t scope, uint32_t line, uint32_t place, bool is_code)
{
    place = place_of(s->ir->f->paths.cfg, place);
    struct needed_item item = {(uint64_t)scope << 32 | line, place, s->number[place], is_code};
    if (item.number != FP_NONE) fp_vec_push(&s->scratch, &s->items, item);
}

/* The code of lines that may have run unseen somewhere. */
static void add_code(struct needed *s, struct fp_ir_lines *lines, const struct fp_table *wanted)
{
    const struct fp_function *f = s->ir->f;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        for (uint32_t i = 0; i < info->npositions; i++) {
            const struct fp_position *at = &lines->positions.at[info->first_position + i];
            uint32_t scope = fp_ir_lines_file_of(lines, at->scope);
            if (fp_table_find(wanted, (uint64_t)scope << 32 | at->line))
                add_item(s, scope, at->line, b, true);
        }
    }
}

static int by_line_and_number(const void *a, const void *b)
{
    const struct needed_item *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return y->is_code - x->is_code;
}

/* ---- what is needed ---- */

/* Is the block that an edge leads to, or one above it, a place of the line, or has code of it? */
static bool leads_below_top(const struct needed *s, const struct needed_item *edge)
{
    const struct fp_cfg *cfg = s->ir->f->paths.cfg;
    uint32_t dst = s->number[cfg->edges[edge->place - cfg->nblocks].dst];
    size_t low = 0, high = s->tops.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->tops.at[middle].number <= dst)
            low = middle + 1;
        else
            high = middle;
    }
    const struct needed_item *top = low ? &s->tops.at[low - 1] : NULL;
    return top && top->place < cfg->nblocks && dst < s->end[top->place];
}

/* The nearest place that is above two, of which the second has the greater number. */
static uint32_t above_both(const struct needed *s, uint32_t a, uint32_t b)
{
    while (s->end[a] <= s->number[b]) a = s->above[a];
    return a;
}

/* One line's places, from the `first` kept one on, become few that are above all of them. */
static void raise_places(struct needed *s, size_t first)
{
    struct fp_unseen *all = &s->kept.at[first];
    size_t n = s->kept.len - first, groups = 0;
    uint32_t top = above_both(s, all[0].place, all[n - 1].place);
    for (size_t i = 0, end; i < n; i = end) {
        uint32_t branch = all[i].place;
        while (branch != top && s->above[branch] != top) branch = s->above[branch];
        for (end = i + 1; end < n && s->number[all[end].place] < s->end[branch];) end++;
        if (groups < MOST_PLACES)
            all[groups].place = above_both(s, all[i].place, all[end - 1].place);
        groups++;
    }
    if (groups > MOST_PLACES) all[0].place = top, groups = 1;
    s->kept.len = first + groups;
}

static void keep_of_line(struct needed *s, size_t first, size_t end)
{
    uint32_t nblocks = s->ir->f->paths.cfg->nblocks;
    s->tops.len = 0;
    for (size_t i = first; i < end; i++) {
        const struct needed_item *item = &s->items.at[i];
        const struct needed_item *last = s->tops.len ? &s->tops.at[s->tops.len - 1] : NULL;
        if (!last || item->number >= s->end[last->place]) fp_vec_push(&s->scratch, &s->tops, *item);
    }
    size_t before = s->kept.len;
    for (size_t i = 0; i < s->tops.len; i++) {
        const struct needed_item *top = &s->tops.at[i];
        if (top->is_code || (top->place >= nblocks && leads_below_top(s, top))) continue;
        struct fp_unseen one = {top->place, (uint32_t)(top->line >> 32), (uint32_t)top->line, 1};
        fp_vec_push(s->ir->arena, &s->kept, one);
    }
    if (s->kept.len > before + MOST_PLACES) raise_places(s, before);
}

static int by_place(const void *a, const void *b)
{
    const struct fp_unseen *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->scope != y->scope) return x->scope < y->scope ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Can a run of lines go on up to another line? Lines between the two have no code. */
static bool reaches(const struct fp_unseen *run, uint32_t line, const struct fp_unseen_lines *all)
{
    uint32_t end = run->line + run->nlines;
    if (run->scope == all->own_file)
        while (end < line && !fp_survey_keeps(all->survey, end)) end++;
    return end == line;
}

/* Lines that follow each other at one place become one entry. */
static void join_lines(struct needed *s, const struct fp_unseen_lines *all)
{
    size_t n = 0;
    for (size_t i = 0; i < s->kept.len; i++) {
        const struct fp_unseen one = s->kept.at[i];
        struct fp_unseen *last = n ? &s->kept.at[n - 1] : NULL;
        if (last && last->place == one.place && last->scope == one.scope &&
            reaches(last, one.line, all))
            last->nlines = one.line + 1 - last->line;
        else
            s->kept.at[n++] = one;
    }
    s->kept.len = n;
}

void fp_ir_keep_needed(struct fp_ir *ir, struct fp_ir_lines *lines,
                       const struct fp_unseen_lines *all)
{
    struct needed s = {.ir = ir};
    struct fp_table wanted;
    if (!all->n) return;
    fp_table_init(&wanted, &s.scratch);
    number_tree(&s);
    for (size_t i = 0; i < all->n; i++) {
        const struct fp_unseen *one = &all->at[i];
        *fp_table_add(&wanted, (uint64_t)one->scope << 32 | one->line) = 1;
        add_item(&s, one->scope, one->line, one->place, false);
    }
    add_code(&s, lines, &wanted);
    if (s.items.len) qsort(s.items.at, s.items.len, sizeof *s.items.at, by_line_and_number);
    for (size_t i = 0, end; i < s.items.len; i = end) {
        for (end = i; end < s.items.len && s.items.at[end].line == s.items.at[i].line;) end++;
        keep_of_line(&s, i, end);
    }
    if (s.kept.len) qsort(s.kept.at, s.kept.len, sizeof *s.kept.at, by_place);
    join_lines(&s, all);
    ir->f->source.unseen = s.kept.at;
    ir->f->source.nunseen = (uint32_t)s.kept.len;
    fp_arena_free(&s.scratch);
}
