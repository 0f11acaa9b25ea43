/* Gaps between production and tests: see gap.h. */
#include "paths/gap.h"

#include "base/checked.h"
#include "graph/truncate.h"
#include "paths/pathtree.h"

#include <stdlib.h>

/* What tests did in one function of production. */
struct tested {
    const struct fp_function *function; /* production's */
    struct fp_path_tree tree;           /* of the tests' paths */
    bool *edges;
    bool in_tests, called;
    bool incomparable; /* some test program's paths end elsewhere, or were not counted */
};

struct seeker {
    struct fp_arena *arena, scratch; /* scratch: what tests did */
    struct fp_gaps *gaps;
    FP_VEC(struct tested) tested;
    struct fp_table by_key;  /* identity -> 1 + index in tested */
    struct fp_table by_name; /* of tests' functions: 1 in the program, 2 called */
    struct fp_table gap_at;  /* hash of function, reason and branch -> 1 + index in all */
    FP_VEC(struct fp_gap) all;
    FP_VEC(size_t) room; /* per gap: how many paths fit */
};

static uint64_t key_of(const struct fp_function *f)
{
    struct fp_identity identity = fp_function_identity(f);
    return fp_identity_key(&identity);
}

/* ---- reading the tests ---- */

static void expect_function(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    (void)scratch;
    struct seeker *s = context;
    uint64_t *at = fp_table_add(&s->by_key, key_of(m->function));
    if (*at) return;
    struct tested t = {.function = m->function};
    fp_path_tree_init(&t.tree, &s->scratch);
    t.edges = FP_NEW_ARRAY(&s->scratch, bool, m->function->paths.cfg->nedges);
    fp_vec_push(&s->scratch, &s->tested, t);
    *at = s->tested.len;
}

static void plant_all(struct tested *t, const struct fp_counts *counts, struct fp_arena *scratch)
{
    const struct fp_numbering *numbering = counts->function->paths.numbering;
    struct fp_path path;
    for (size_t i = 0; i < counts->npaths; i++)
        if (counts->paths[i].count &&
            fp_path_decode(scratch, numbering, counts->paths[i].id, &path))
            fp_path_tree_add(&t->tree, &path, counts->paths[i].id, counts->paths[i].count);
    for (size_t i = 0; i < counts->npartials; i++) {
        const struct fp_partial_path *one = &counts->partials[i];
        if (one->count > 0 &&
            fp_path_decode_partial(scratch, numbering, one->block, one->prefix, &path))
            fp_path_tree_add(&t->tree, &path, FP_NO_ID, (uint64_t)one->count);
    }
}

static bool counts_paths(const struct fp_function *f)
{
    return f->flags & (FP_FUNCTION_PATHS | FP_FUNCTION_SAMPLED);
}

static void read_test(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    struct seeker *s = context;
    const struct fp_function *f = m->function;
    bool called = m->edges && (m->edges->entries || m->counts->npaths || m->counts->npartials);
    uint64_t *name = fp_table_add(&s->by_name, fp_name_key(f->name, f->file));
    if (*name < (called ? 2u : 1u)) *name = called ? 2 : 1;
    const uint64_t *at = fp_table_find(&s->by_key, key_of(f));
    if (!at) return;
    struct tested *t = &s->tested.at[*at - 1];
    t->in_tests = true;
    if (!called) return;
    t->called = true;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) t->edges[e] |= m->edges->edges[e] > 0;
    if (counts_paths(f) && counts_paths(t->function) &&
        fp_same_ends(f->paths.truncation, t->function->paths.truncation))
        plant_all(t, m->counts, scratch);
    else
        t->incomparable = true;
}

/* ---- one path of production ---- */

enum verdict { TESTED, UNTESTED, UNKNOWN };

struct finding {
    enum verdict verdict;
    enum fp_gap_reason reason;
    uint32_t edge, block, length;
};

static struct finding gap_at_edge(const struct tested *t, uint32_t edge, uint32_t length)
{
    return (struct finding){UNTESTED, t->edges[edge] ? FP_GAP_TOGETHER : FP_GAP_EDGE, edge, FP_NONE,
                            length};
}

static struct finding follow_path(const struct tested *t, const struct fp_path *path)
{
    uint32_t length;
    switch (fp_path_tree_follow(&t->tree, path, &length)) {
    case FP_TREE_INSIDE: break;
    case FP_TREE_BEGIN:
        return (struct finding){UNTESTED, FP_GAP_BEGIN, FP_NONE, path->first_block, 0};
    case FP_TREE_EDGE: return gap_at_edge(t, path->edges[length], length);
    case FP_TREE_END:
        if (path->end_edge != FP_NONE) return gap_at_edge(t, path->end_edge, length);
        return (struct finding){UNTESTED, FP_GAP_END, FP_NONE, path->last_block, length};
    }
    return (struct finding){.verdict = TESTED};
}

struct edge_search {
    const struct tested *t;
    uint32_t found, length;
};

static void note_untested(uint32_t edge, void *context)
{
    struct edge_search *search = context;
    if (search->found != FP_NONE) return;
    if (search->t->edges[edge])
        search->length++;
    else
        search->found = edge;
}

/* Where only edges can be compared. */
static struct finding follow_edges(const struct tested *t, const struct fp_path *path)
{
    struct edge_search search = {t, FP_NONE, 0};
    fp_path_each_edge(t->function->paths.cfg, path, note_untested, &search);
    if (search.found == FP_NONE) return (struct finding){.verdict = UNKNOWN};
    return (struct finding){UNTESTED, FP_GAP_EDGE, search.found, FP_NONE, search.length};
}

static struct finding find_out(const struct seeker *s, const struct tested *t,
                               const struct fp_path *path)
{
    struct finding none = {UNTESTED, FP_GAP_UNCALLED, FP_NONE, FP_NONE, 0};
    const struct fp_function *f = t->function;
    if (t->called) {
        struct finding found = follow_path(t, path);
        return found.verdict == UNTESTED && t->incomparable ? follow_edges(t, path) : found;
    }
    if (t->in_tests) return none;
    const uint64_t *name = fp_table_find(&s->by_name, fp_name_key(f->name, f->file));
    if (!name) none.reason = FP_GAP_ABSENT;
    if (name && *name == 2) none.verdict = UNKNOWN;
    return none;
}

/* ---- gathering ---- */

static uint64_t gap_key(const struct fp_function *f, const struct finding *found)
{
    uint64_t where = (uint64_t)found->edge << 32 | found->block;
    return fp_hash64((uintptr_t)f ^ fp_hash64(where ^ fp_hash64(found->reason + 1)));
}

static void add_gap(struct seeker *s, const struct fp_function *f, const struct finding *found,
                    const struct fp_gap_path *one)
{
    uint64_t *at = fp_table_add(&s->gap_at, gap_key(f, found));
    if (!*at) {
        struct fp_gap gap = {
            .function = f, .reason = found->reason, .edge = found->edge, .block = found->block};
        fp_vec_push(s->arena, &s->all, gap);
        fp_vec_push(&s->scratch, &s->room, (size_t)0);
        *at = s->all.len;
    }
    struct fp_gap *gap = &s->all.at[*at - 1];
    size_t *room = &s->room.at[*at - 1];
    if (gap->npaths == *room)
        gap->paths =
            fp_vec_grown(s->arena, gap->paths, gap->npaths, room, *room + 1, sizeof *gap->paths);
    struct fp_gap_path *kept = &gap->paths[gap->npaths++];
    *kept = *one;
    kept->path.edges = FP_NEW_ARRAY(s->arena, uint32_t, (size_t)one->path.nedges + 1);
    if (one->path.nedges)
        memcpy(kept->path.edges, one->path.edges, one->path.nedges * sizeof *one->path.edges);
    gap->count = fp_add_saturated(gap->count, one->count);
    gap->cost += one->cost;
}

static void add_path(struct seeker *s, const struct tested *t, struct fp_gap_path *one)
{
    struct finding found = find_out(s, t, &one->path);
    struct fp_gap_sum *sums[] = {&s->gaps->tested, &s->gaps->untested, &s->gaps->unknown};
    struct fp_gap_sum *sum = sums[found.verdict];
    one->cost = (double)one->count * fp_path_instructions(t->function, &one->path);
    one->length = found.length;
    sum->paths++;
    sum->count = fp_add_saturated(sum->count, one->count);
    sum->cost += one->cost;
    if (found.verdict == UNTESTED) add_gap(s, t->function, &found, one);
}

static void count_doubts(struct seeker *s, const struct tested *t)
{
    const struct fp_function *f = t->function;
    const uint64_t *name = fp_table_find(&s->by_name, fp_name_key(f->name, f->file));
    s->gaps->reshaped += !t->in_tests && name && *name == 2;
    s->gaps->redefined += t->called && t->incomparable;
}

static void read_production(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    struct seeker *s = context;
    const struct fp_numbering *numbering = m->function->paths.numbering;
    const struct tested *t = &s->tested.at[*fp_table_find(&s->by_key, key_of(m->function)) - 1];
    struct fp_gap_path one;
    if (!counts_paths(m->function)) {
        s->gaps->unmeasured += m->edges && m->edges->entries;
        return;
    }
    if (m->counts->npaths || m->counts->npartials) count_doubts(s, t);
    for (size_t i = 0; i < m->counts->npaths; i++) {
        one =
            (struct fp_gap_path){.id = m->counts->paths[i].id, .count = m->counts->paths[i].count};
        if (one.count && fp_path_decode(scratch, numbering, one.id, &one.path))
            add_path(s, t, &one);
    }
    for (size_t i = 0; i < m->counts->npartials; i++) {
        const struct fp_partial_path *left = &m->counts->partials[i];
        one = (struct fp_gap_path){.id = FP_NO_ID, .count = (uint64_t)left->count};
        if (left->count > 0 &&
            fp_path_decode_partial(scratch, numbering, left->block, left->prefix, &one.path))
            add_path(s, t, &one);
    }
}

/* ---- all ---- */

static int by_path_cost(const void *x, const void *y)
{
    const struct fp_gap_path *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

static int by_cost(const void *x, const void *y)
{
    const struct fp_gap *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    int order = strcmp(a->function->name, b->function->name);
    if (order) return order;
    if (a->edge != b->edge) return a->edge < b->edge ? -1 : 1;
    return (a->reason > b->reason) - (a->reason < b->reason);
}

void fp_gaps_make(struct fp_arena *arena, const struct fp_profile *production,
                  const struct fp_profile *tests, struct fp_gaps *gaps)
{
    struct seeker s = {.arena = arena, .gaps = gaps};
    *gaps = (struct fp_gaps){0};
    fp_table_init(&s.by_key, &s.scratch);
    fp_table_init(&s.by_name, &s.scratch);
    fp_table_init(&s.gap_at, &s.scratch);
    fp_each_measured(production, expect_function, &s);
    fp_each_measured(tests, read_test, &s);
    fp_each_measured(production, read_production, &s);
    for (size_t i = 0; i < s.all.len; i++)
        qsort(s.all.at[i].paths, s.all.at[i].npaths, sizeof *s.all.at[i].paths, by_path_cost);
    if (s.all.len) qsort(s.all.at, s.all.len, sizeof *s.all.at, by_cost);
    gaps->gaps = s.all.at;
    gaps->ngaps = s.all.len;
    fp_arena_free(&s.scratch);
}

double fp_gaps_tested(const struct fp_gaps *g, bool by_count)
{
    double tested = by_count ? (double)g->tested.count : g->tested.cost;
    double rest = by_count ? (double)g->untested.count + (double)g->unknown.count
                           : g->untested.cost + g->unknown.cost;
    return tested + rest > 0 ? tested / (tested + rest) : 1;
}
