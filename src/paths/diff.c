/* Differences: see diff.h. */
#include "paths/diff.h"

#include "paths/diffchanged.h"
#include "paths/match.h"
#include "paths/pathtree.h"

#include <math.h>
#include <stdlib.h>

struct differ {
    struct fp_arena *arena;
    struct fp_diff_side *a, *b;
    const struct fp_diff_options *options;
    struct fp_diff *diff;
    struct fp_matcher in_b, *runs_a, *runs_b;
    struct fp_table seen;    /* functions of b that matched, by address */
    struct fp_table names_b; /* fp_name_key -> 1 + index in in_b.refs */
    FP_VEC(struct fp_diff_item) items;
};

static double function_cost(const struct fp_function *f, const struct fp_edge_counts *edges)
{
    double sum = 0;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        sum += (double)edges->blocks[b] * f->source.blocks[b].instructions;
    return sum;
}

static void add_item(struct differ *d, struct fp_diff_item item)
{
    bool same = item.count_a == item.count_b && item.a && item.b;
    if (item.reshaped && item.cost_a != item.cost_b) same = false; /* its blocks were edited */
    if (same && item.kind != FP_DIFF_FUNCTION) {
        d->diff->same++;
        return;
    }
    fp_vec_push(d->arena, &d->items, item);
}

/* ---- the spread between runs ---- */

struct run_spreads {
    struct fp_table index; /* path or edge -> 1 + index in all */
    FP_VEC(struct fp_spread) all;
    size_t nruns;
};

static void note_count(struct fp_arena *scratch, struct run_spreads *s, uint64_t key,
                       uint64_t count)
{
    uint64_t *index = fp_table_add(&s->index, key);
    if (!*index) {
        fp_vec_push(scratch, &s->all, (struct fp_spread){0});
        *index = s->all.len;
    }
    struct fp_spread *spread = &s->all.at[*index - 1];
    spread->sum += (double)count;
    spread->squares += (double)count * (double)count;
}

static void note_run(struct fp_arena *scratch, const struct differ *d, struct run_spreads *s,
                     const struct fp_matcher *run, const struct fp_function *f)
{
    const struct fp_function_ref *ref = fp_matcher_find(run, f);
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    if (!ref) return;
    fp_profile_counts(scratch, ref->module, ref->function, &counts);
    if (!d->options->edges) {
        for (size_t i = 0; i < counts.npaths; i++)
            note_count(scratch, s, counts.paths[i].id, counts.paths[i].count);
    } else if (fp_edges_of(scratch, &counts, &edges, &error)) {
        for (uint32_t e = 0; e < f->paths.cfg->nedges; e++)
            note_count(scratch, s, e, edges.edges[e]);
    }
}

static void note_runs(struct fp_arena *scratch, const struct differ *d, struct run_spreads *s,
                      const struct fp_diff_side *side, const struct fp_matcher *runs,
                      const struct fp_function *f)
{
    *s = (struct run_spreads){.nruns = side->nruns};
    fp_table_init(&s->index, scratch);
    for (size_t i = 0; i < side->nruns; i++) note_run(scratch, d, s, &runs[i], f);
}

static struct fp_spread spread_of(const struct run_spreads *s, uint64_t key)
{
    const uint64_t *index = fp_table_find(&s->index, key);
    struct fp_spread spread = index ? s->all.at[*index - 1] : (struct fp_spread){0};
    spread.n = (double)s->nruns;
    return spread;
}

/* ---- one pair of functions ---- */

struct path_pair {
    const struct fp_function *a, *b;
    struct fp_counts counts_a, counts_b;
    struct fp_edge_counts edges_a, edges_b;
    bool edges;
    struct run_spreads spread_a, spread_b;
    struct fp_path_tree tree_a, tree_b; /* all paths of each side */
};

static void diff_edges(struct differ *d, const struct path_pair *p)
{
    for (uint32_t e = 0; p->edges && e < p->a->paths.cfg->nedges; e++) {
        if (p->a->paths.truncation->order.fate[e] == FP_FATE_DEAD) continue;
        uint64_t a = p->edges_a.edges[e], b = p->edges_b.edges[e];
        struct fp_diff_item item = {.kind = FP_DIFF_EDGE,
                                    .a = p->a,
                                    .b = p->b,
                                    .edge = e,
                                    .count_a = a,
                                    .count_b = b,
                                    .cost_a = (double)a,
                                    .cost_b = (double)b};
        item.confidence = fp_welch(spread_of(&p->spread_a, e), spread_of(&p->spread_b, e));
        if (a || b) add_item(d, item);
    }
}

static void find_near(const struct path_pair *p, const struct fp_path *path,
                      struct fp_diff_item *item)
{
    item->near_after = item->cost_a > item->cost_b;
    const struct fp_path_tree_path *near = item->near_after
                                               ? fp_path_tree_nearest(&p->tree_b, path, item->id_b)
                                               : fp_path_tree_nearest(&p->tree_a, path, item->id);
    if (!near) return;
    item->near_id = near->id;
    item->near_count = near->count;
}

static void diff_one_path(struct differ *d, const struct path_pair *p, const struct fp_path *path,
                          uint64_t id_a, uint64_t id_b, uint64_t count_a, uint64_t count_b)
{
    struct fp_diff_item item = {.kind = FP_DIFF_PATH,
                                .a = p->a,
                                .b = p->b,
                                .id = id_a,
                                .id_b = id_b,
                                .count_a = count_a,
                                .count_b = count_b,
                                .near_id = FP_NO_ID,
                                .confidence = -1};
    item.cost_a = (double)count_a * fp_path_instructions(p->a, path);
    item.cost_b = (double)count_b * fp_path_instructions(p->b, path);
    if (d->a->spread_of && d->b->spread_of)
        item.confidence = fp_welch(d->a->spread_of(d->a->view, p->a, id_a),
                                   d->b->spread_of(d->b->view, p->b, id_b));
    else
        item.confidence = fp_welch(spread_of(&p->spread_a, id_a), spread_of(&p->spread_b, id_b));
    find_near(p, path, &item);
    add_item(d, item);
}

static void plant_paths(struct fp_arena *scratch, struct fp_path_tree *tree,
                        const struct fp_function *f, const struct fp_counts *counts)
{
    struct fp_path path;
    fp_path_tree_init(tree, scratch);
    for (size_t i = 0; i < counts->npaths; i++)
        if (fp_path_decode(scratch, f->paths.numbering, counts->paths[i].id, &path))
            fp_path_tree_add(tree, &path, counts->paths[i].id, counts->paths[i].count);
}

static void diff_paths(struct differ *d, struct path_pair *p, struct fp_arena *scratch)
{
    struct fp_table of_b;
    struct fp_path path;
    fp_table_init(&of_b, scratch);
    plant_paths(scratch, &p->tree_a, p->a, &p->counts_a);
    plant_paths(scratch, &p->tree_b, p->b, &p->counts_b);
    for (size_t i = 0; i < p->counts_b.npaths; i++)
        *fp_table_add(&of_b, p->counts_b.paths[i].id) = p->counts_b.paths[i].count;
    for (size_t i = 0; i < p->counts_a.npaths; i++) {
        const struct fp_path_count *one = &p->counts_a.paths[i];
        if (!fp_path_decode(scratch, p->a->paths.numbering, one->id, &path)) continue;
        uint64_t id = fp_path_encode(p->b->paths.numbering, &path);
        uint64_t *other = id == FP_NO_ID ? NULL : fp_table_find(&of_b, id);
        diff_one_path(d, p, &path, one->id, id, one->count, other ? *other : 0);
        if (other) *other = 0;
    }
    for (size_t i = 0; i < p->counts_b.npaths; i++) {
        uint64_t id = p->counts_b.paths[i].id, left = *fp_table_find(&of_b, id);
        if (!left || !fp_path_decode(scratch, p->b->paths.numbering, id, &path)) continue;
        diff_one_path(d, p, &path, fp_path_encode(p->a->paths.numbering, &path), id, 0, left);
    }
}

static bool both_count_paths(const struct fp_function *a, const struct fp_function *b)
{
    return a->flags & b->flags & FP_FUNCTION_PATHS;
}

static void diff_pair(struct differ *d, const struct fp_measured *m,
                      const struct fp_function_ref *ref, struct fp_arena *scratch)
{
    struct path_pair p = {.a = m->function, .b = ref->function, .counts_a = *m->counts};
    struct fp_error error = {0};
    fp_profile_counts(scratch, ref->module, ref->function, &p.counts_b);
    p.edges = m->edges && fp_edges_of(scratch, &p.counts_b, &p.edges_b, &error);
    if (m->edges) p.edges_a = *m->edges;
    note_runs(scratch, d, &p.spread_a, d->a, d->runs_a, p.a);
    note_runs(scratch, d, &p.spread_b, d->b, d->runs_b, p.b);
    if (both_count_paths(p.a, p.b) && !d->options->edges)
        diff_paths(d, &p, scratch);
    else
        diff_edges(d, &p);
}

/* ---- functions on one side, of another shape, or with other paths ---- */

static uint64_t name_key(const struct fp_function *f)
{
    return fp_name_key(f->name, f->file);
}

static void whole_function(struct differ *d, const struct fp_measured *m,
                           const struct fp_function_ref *ref, struct fp_arena *scratch)
{
    struct fp_diff_item item = {.kind = FP_DIFF_FUNCTION, .a = m->function, .confidence = -1};
    if (m->edges) {
        item.count_a = m->edges->entries;
        item.cost_a = function_cost(m->function, m->edges);
    }
    if (ref) {
        struct fp_counts counts;
        struct fp_edge_counts edges;
        struct fp_error error = {0};
        item.b = ref->function;
        fp_profile_counts(scratch, ref->module, ref->function, &counts);
        if (fp_edges_of(scratch, &counts, &edges, &error)) {
            item.count_b = edges.entries;
            item.cost_b = function_cost(ref->function, &edges);
        }
    }
    if (item.cost_a > 0 || item.cost_b > 0) add_item(d, item);
}

/* ---- functions of another shape ---- */

static void add_changed(void *context, const struct fp_diff_item *item)
{
    add_item(context, *item);
}

/* False where the function can only be compared as a whole. */
static bool diff_changed(struct differ *d, const struct fp_measured *m,
                         const struct fp_function_ref *ref, struct fp_arena *scratch)
{
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    fp_profile_counts(scratch, ref->module, ref->function, &counts);
    if (!m->edges || !fp_edges_of(scratch, &counts, &edges, &error)) return false;
    struct fp_changed_pair p = {.a = m->function,
                                .b = ref->function,
                                .counts_a = m->counts,
                                .counts_b = &counts,
                                .edges_a = m->edges,
                                .edges_b = &edges};
    if (!fp_changed_pair_match(scratch, &p)) return false;
    d->diff->reshaped_total += p.total;
    d->diff->reshaped_placed += p.placed;
    if (d->options->edges) {
        fp_changed_pair_edges(&p, add_changed, d);
        return false;
    }
    if (!both_count_paths(p.a, p.b)) return false;
    fp_changed_pair_paths(scratch, &p, add_changed, d);
    if (p.rest_a > 0 || p.rest_b > 0)
        add_item(d, (struct fp_diff_item){.kind = FP_DIFF_FUNCTION,
                                          .a = p.a,
                                          .b = p.b,
                                          .reshaped = true,
                                          .confidence = -1,
                                          .count_a = m->edges->entries,
                                          .count_b = edges.entries,
                                          .cost_a = p.rest_a,
                                          .cost_b = p.rest_b});
    return true;
}

static void diff_function(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    struct differ *d = context;
    if (m->edges) d->a->cost += function_cost(m->function, m->edges);
    const struct fp_function_ref *ref = fp_matcher_find(&d->in_b, m->function);
    const uint64_t *named = ref ? NULL : fp_table_find(&d->names_b, name_key(m->function));
    const struct fp_function_ref *other = ref ? ref : named ? &d->in_b.refs.at[*named - 1] : NULL;
    if (other) *fp_table_add(&d->seen, (uintptr_t)other->function) = 1;
    bool redefined = ref && !d->options->edges && fp_redefined(m->function, ref->function);
    d->diff->matched += ref != NULL;
    d->diff->redefined += redefined;
    d->diff->reshaped += !ref && other;
    d->diff->only_a += !other;
    if (ref && !redefined)
        diff_pair(d, m, ref, scratch);
    else if (ref || !other || !diff_changed(d, m, other, scratch))
        whole_function(d, m, other, scratch);
}

static void rest_of_b(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    (void)scratch;
    struct differ *d = context;
    double cost = m->edges ? function_cost(m->function, m->edges) : 0;
    d->b->cost += cost;
    if (fp_table_find(&d->seen, (uintptr_t)m->function)) return;
    d->diff->only_b++;
    if (cost > 0)
        add_item(d, (struct fp_diff_item){.kind = FP_DIFF_FUNCTION,
                                          .b = m->function,
                                          .confidence = -1,
                                          .count_b = m->edges->entries,
                                          .cost_b = cost});
}

/* ---- all ---- */

/* qsort has no context */
static const struct fp_diff_side *sorting_a, *sorting_b;
static bool sorting_relative;

static double change(const struct fp_diff_item *item)
{
    if (!sorting_relative) return fabs(item->cost_b - item->cost_a);
    double a = sorting_a->cost > 0 ? item->cost_a / sorting_a->cost : 0;
    double b = sorting_b->cost > 0 ? item->cost_b / sorting_b->cost : 0;
    return fabs(b - a);
}

static int by_change(const void *x, const void *y)
{
    const struct fp_diff_item *a = x, *b = y;
    double p = change(a), q = change(b);
    if (p != q) return p < q ? 1 : -1;
    const struct fp_function *f = a->a ? a->a : a->b, *g = b->a ? b->a : b->b;
    int names = strcmp(f->name, g->name);
    if (names) return names;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

void fp_diff_rank(struct fp_diff *diff, const struct fp_diff_side *a, const struct fp_diff_side *b,
                  bool relative)
{
    sorting_a = a;
    sorting_b = b;
    sorting_relative = relative;
    if (diff->nitems) qsort(diff->items, diff->nitems, sizeof *diff->items, by_change);
}

static struct fp_matcher *match_runs(struct fp_arena *arena, const struct fp_diff_side *side)
{
    struct fp_matcher *matchers = FP_NEW_ARRAY(arena, struct fp_matcher, side->nruns);
    for (size_t i = 0; i < side->nruns; i++) fp_matcher_init(&matchers[i], arena, side->runs[i]);
    return matchers;
}

void fp_diff_make(struct fp_arena *arena, struct fp_diff_side *a, struct fp_diff_side *b,
                  const struct fp_diff_options *options, struct fp_diff *diff)
{
    struct fp_arena scratch = {0};
    struct differ d = {.arena = arena, .a = a, .b = b, .options = options, .diff = diff};
    *diff = (struct fp_diff){0};
    a->cost = b->cost = 0;
    fp_table_init(&d.seen, &scratch);
    fp_table_init(&d.names_b, &scratch);
    fp_matcher_init(&d.in_b, &scratch, b->profile);
    for (size_t i = 0; i < d.in_b.refs.len; i++)
        *fp_table_add(&d.names_b, name_key(d.in_b.refs.at[i].function)) = i + 1;
    d.runs_a = match_runs(&scratch, a);
    d.runs_b = match_runs(&scratch, b);
    fp_each_measured(a->profile, diff_function, &d);
    fp_each_measured(b->profile, rest_of_b, &d);
    diff->items = d.items.at;
    diff->nitems = d.items.len;
    fp_diff_rank(diff, a, b, options->relative);
    fp_arena_free(&scratch);
}
