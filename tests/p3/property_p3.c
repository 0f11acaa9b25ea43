/* Dividing profiles among copies, on random graphs, against brute force (paper 004).
 *
 * Each graph gets walks, whose paths are recorded without the code under test. Its
 * paths are divided among K copies, by find_partition, by edge cuts or by arbitrary
 * sets of edges; then
 *   - tasks have every path exactly once, and united cuts admit no other path;
 *   - the plan of each copy, run on the walks, counts exactly the paths that it covers;
 *   - taking each path from one of the copies that cover it gives all counts;
 *   - executed operations are as many as foreseen.
 *
 *     property-p3 [--count N] [--seed S] [--only I]
 */
#include "base/table.h"
#include "p3/distribute.h"
#include "p3/hits.h"
#include "p3/partition.h"
#include "graph/select.h"

#include "../check.h"
#include "../each_graph.h"
#include "../random_cfg.h"

#include <inttypes.h>
#include <string.h>

/* ---- the truth: paths of the walks, as lists of dag edges ---- */

struct taken {
    uint64_t id;
    uint32_t lap; /* or FP_NONE */
    uint32_t *edges, nedges;
};

struct truth {
    struct fp_arena *arena;
    const struct fp_numbering *n;
    FP_VEC(struct taken) paths;
    uint32_t edges[512], nedges; /* of the path in flight */
    uint32_t length_at[64];      /* per block: nedges when last entered */
};

static void begin_path(struct truth *t, uint32_t first_edge)
{
    t->edges[0] = first_edge;
    t->nedges = 1;
    t->length_at[t->n->dag->edges[first_edge].dst] = 1;
}

static void end_path(struct truth *t, uint32_t last_edge)
{
    t->edges[t->nedges++] = last_edge;
    struct taken path = {.lap = FP_NONE, .nedges = t->nedges};
    path.edges = FP_NEW_ARRAY(t->arena, uint32_t, t->nedges);
    for (uint32_t i = 0; i < t->nedges; i++) {
        path.edges[i] = t->edges[i];
        path.id += t->n->value[t->edges[i]];
    }
    fp_vec_push(t->arena, &t->paths, path);
}

static void end_lap(struct truth *t, uint32_t e)
{
    const struct fp_laps *laps = &t->n->dag->truncation->laps;
    for (uint32_t k = 0; k < laps->len; k++)
        if (laps->at[k].closing == e) {
            struct taken lap = {.id = t->n->num_paths + k, .lap = k};
            fp_vec_push(t->arena, &t->paths, lap);
        }
    t->nedges = t->length_at[t->n->dag->cfg->edges[e].dst];
}

static void follow(struct truth *t, uint32_t e)
{
    const struct fp_dag *dag = t->n->dag;
    uint32_t dst = dag->cfg->edges[e].dst;
    switch ((enum fp_fate)dag->truncation->order.fate[e]) {
    case FP_FATE_KEPT:
        t->edges[t->nedges++] = dag->of_edge[e];
        t->length_at[dst] = t->nedges;
        break;
    case FP_FATE_TRUNCATED:
        end_path(t, dag->of_edge[e]);
        begin_path(t, dag->start_of[dst]);
        break;
    case FP_FATE_LAP: end_lap(t, e); break;
    case FP_FATE_DEAD: MUST(!"walked a dead edge"); break;
    }
}

/* ---- one copy, run on the walks ---- */

struct machine {
    const struct fp_plan *plan;
    uint64_t r, hits;
    struct fp_table counted; /* sum -> count */
    bool early;            /* a frame left behind a count of its path */
};

static void do_op(struct machine *m, struct fp_op op)
{
    m->hits += op.kind != FP_OP_NONE;
    switch (op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET: m->r = (uint64_t)op.value; break;
    case FP_OP_ADD: m->r += (uint64_t)op.value; break;
    case FP_OP_COUNT: ++*fp_table_add(&m->counted, (uint64_t)op.value); break;
    case FP_OP_COUNT_REG: ++*fp_table_add(&m->counted, m->r + (uint64_t)op.value); break;
    }
}

static void do_edge(struct machine *m, const struct fp_cfg *cfg, uint32_t e)
{
    uint64_t before = m->hits;
    struct fp_edge_ops ops = fp_plan_on_edge(m->plan, e);
    do_op(m, ops.first);
    do_op(m, ops.then);
    if (cfg->edges[e].kind == FP_EDGE_UNWIND) m->hits = before;
}

/* Runs all walks through a machine, or through the truth. */
static void run_walks(const struct walks *w, const struct fp_numbering *n, struct machine *m,
                      struct truth *t)
{
    const struct fp_dag *dag = n->dag;
    uint32_t block = 0;
    for (size_t i = 0; i < w->steps.len; i++) {
        const struct step *step = &w->steps.at[i];
        bool last = i + 1 == w->steps.len || w->steps.at[i + 1].kind == ENTER;
        switch (step->kind) {
        case ENTER:
            block = 0;
            if (m) m->r = random_next(&rng), do_op(m, m->plan->on[dag->entry_edge]);
            if (t) begin_path(t, dag->entry_edge);
            break;
        case TAKE:
            block = dag->cfg->edges[step->edge].dst;
            if (m) do_edge(m, dag->cfg, step->edge);
            if (t) follow(t, step->edge);
            break;
        case AGAIN:
            block = step->block;
            if (m) m->r = random_next(&rng), do_op(m, m->plan->on[dag->start_of[block]]);
            if (t) begin_path(t, dag->start_of[block]);
            break;
        case LEAVE: break;
        }
        bool ends = fp_cfg_out_degree(dag->cfg, block) == 0;
        if (step->kind == LEAVE && !ends && m) m->early |= m->plan->counted[block];
        if (!ends || !(step->kind == LEAVE || last)) continue;
        if (m) do_op(m, m->plan->on[dag->exit_of[block]]);
        if (t) end_path(t, dag->exit_of[block]);
    }
}

/* ---- one way to divide ---- */

struct sets {
    uint32_t ncopies;
    struct fp_bitset edges[8], laps[8];
};

static bool covers(const struct sets *s, uint32_t copy, const struct taken *path)
{
    if (path->lap != FP_NONE) return fp_bitset_has(&s->laps[copy], path->lap);
    for (uint32_t i = 0; i < path->nedges; i++)
        if (!fp_bitset_has(&s->edges[copy], path->edges[i])) return false;
    return true;
}

static bool has_twice(const struct fp_cfg *cfg)
{
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_TWICE) return true;
    return false;
}

/* What one copy counted, by id, against the paths it covers. */
static bool check_copy(struct fp_arena *arena, const struct fp_numbering *n, const struct sets *s,
                       uint32_t copy, const struct walks *w, const struct truth *t,
                       const double *weights, struct fp_table *got)
{
    struct fp_selection *sel = fp_select(arena, n, &s->edges[copy], &s->laps[copy], weights, false);
    struct machine m = {.plan = sel->plan};
    struct fp_table expected;
    fp_table_init(&m.counted, arena);
    fp_table_init(got, arena);
    fp_table_init(&expected, arena);
    run_walks(w, n, &m, NULL);
    uint64_t sum, count, sums = sel->labels->num_ids;
    for (size_t i = 0; fp_table_next(&m.counted, &i, &sum, &count);) {
        MUST(sum < sel->sums->num_ids);
        uint64_t id = sum < sums ? fp_select_decode(sel->labels, n, sum) : n->num_paths + sum - sums;
        if (id != FP_NO_ID) *fp_table_add(got, id) += count;
    }
    for (size_t i = 0; i < t->paths.len; i++)
        if (covers(s, copy, &t->paths.at[i])) ++*fp_table_add(&expected, t->paths.at[i].id);
    if (!m.early) {
        MUST(got->len == expected.len);
        for (size_t i = 0; fp_table_next(&expected, &i, &sum, &count);) {
            const uint64_t *found = fp_table_find(got, sum);
            MUST(found && *found == count);
        }
    }
    struct fp_flow_counts counts = {w->entries, w->edges};
    if (!has_twice(n->dag->cfg)) MUST(fp_plan_hits(sel->plan, &counts) == m.hits);
    return !m.early;
}

/* Each path from the first copy that covers it, which all others that do must equal. */
static void check_division(struct fp_arena *arena, const struct fp_numbering *n, const struct sets *s,
                           const struct walks *w, const struct truth *t, const double *weights)
{
    struct fp_table got[8], whole;
    bool exact = true;
    for (uint32_t i = 0; i < s->ncopies; i++)
        exact &= check_copy(arena, n, s, i, w, t, weights, &got[i]);
    fp_table_init(&whole, arena);
    for (size_t k = 0; k < t->paths.len; k++) ++*fp_table_add(&whole, t->paths.at[k].id);
    for (size_t k = 0; exact && k < t->paths.len; k++) {
        uint32_t owners = 0;
        for (uint32_t i = 0; i < s->ncopies; i++) {
            if (!covers(s, i, &t->paths.at[k])) continue;
            const uint64_t *count = fp_table_find(&got[i], t->paths.at[k].id);
            MUST(count && *count == *fp_table_find(&whole, t->paths.at[k].id));
            owners++;
        }
        MUST(owners > 0);
    }
}

/* ---- tasks ---- */

/* Calls with every path of the dag; there are at most 400. */
static void each_path(const struct fp_numbering *n, uint32_t v, struct taken *path,
                      void (*call)(const struct taken *path, void *context), void *context)
{
    const struct fp_dag *dag = n->dag;
    if (v == dag->exit) {
        call(path, context);
        return;
    }
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
        path->edges[path->nedges++] = d;
        each_path(n, dag->edges[d].dst, path, call, context);
        path->nedges--;
    }
}

struct owners {
    const struct fp_tasks *tasks;
    const uint32_t *crossing, *groups;
    uint32_t ncrossing;
    const struct sets *sets;
};

static void check_one_owner(const struct taken *path, void *context)
{
    const struct owners *o = context;
    uint32_t found = 0;
    for (size_t i = 0; i < o->tasks->sets.len; i++) {
        bool all = true;
        for (uint32_t k = 0; k < path->nedges; k++)
            all &= fp_bitset_has(&o->tasks->sets.at[i], path->edges[k]);
        found += all;
    }
    MUST(found == 1);
}

/* United tasks of a cut: a path is in the set of its crossing edge's group alone. */
static void check_cut_owner(const struct taken *path, void *context)
{
    const struct owners *o = context;
    uint32_t crossings = 0, group = 0;
    for (uint32_t k = 0; k < path->nedges; k++)
        for (uint32_t i = 0; i < o->ncrossing; i++)
            if (o->crossing[i] == path->edges[k]) {
                crossings++;
                group = o->groups[i];
            }
    MUST(crossings == 1);
    for (uint32_t i = 0; i < o->sets->ncopies; i++)
        MUST(covers(o->sets, i, path) == (i == group));
}

static void all_paths(const struct fp_numbering *n,
                      void (*call)(const struct taken *path, void *context), void *context)
{
    uint32_t room[512];
    struct taken path = {.lap = FP_NONE, .edges = room};
    if (n->num_paths <= 400) each_path(n, n->dag->entry, &path, call, context);
}

static void unite(struct fp_bitset *into, const struct fp_bitset *set)
{
    for (size_t i = 0; i <= set->bits / 64; i++) into->words[i] |= set->words[i];
}

static struct sets empty_sets(struct fp_arena *arena, const struct fp_dag *dag)
{
    struct sets s = {.ncopies = 1 + random_below(&rng, 8)};
    uint32_t nlaps = dag->truncation->laps.len;
    for (uint32_t i = 0; i < s.ncopies; i++) {
        s.edges[i] = fp_bitset_new(arena, dag->nedges);
        s.laps[i] = fp_bitset_new(arena, nlaps);
    }
    for (uint32_t k = 0; k < nlaps; k++)
        fp_bitset_add(&s.laps[random_below(&rng, s.ncopies)], k);
    return s;
}

static struct sets by_reduced(struct fp_arena *arena, const struct fp_numbering *n)
{
    struct sets s = empty_sets(arena, n->dag);
    struct fp_tasks tasks = {{0}};
    struct owners o = {.tasks = &tasks};
    uint32_t limit = 1 + random_below(&rng, 12), degree = n->dag->first_out[n->dag->entry + 1] -
                                                           n->dag->first_out[n->dag->entry];
    fp_partition_reduced(arena, n->dag, limit, &tasks);
    MUST(tasks.sets.len >= 1 && tasks.sets.len <= (limit > degree ? limit : degree));
    all_paths(n, check_one_owner, &o);
    for (size_t i = 0; i < tasks.sets.len; i++)
        unite(&s.edges[random_below(&rng, s.ncopies)], &tasks.sets.at[i]);
    return s;
}

static struct sets by_cut(struct fp_arena *arena, const struct fp_numbering *n)
{
    struct sets s = empty_sets(arena, n->dag);
    uint32_t *crossing, count = 1 + random_below(&rng, n->dag->norder - 1);
    uint32_t ncrossing = fp_crossing_edges(arena, n->dag, count, &crossing);
    uint32_t *groups = FP_NEW_ARRAY(arena, uint32_t, ncrossing);
    for (uint32_t i = 0; i < ncrossing; i++) groups[i] = random_below(&rng, s.ncopies);
    fp_partition_cut(arena, n->dag, count, crossing, groups, ncrossing, s.edges, s.ncopies);
    struct owners o = {.crossing = crossing, .groups = groups, .ncrossing = ncrossing, .sets = &s};
    all_paths(n, check_cut_owner, &o);
    return s;
}

/* ---- distribution ---- */

static void check_distribution(struct fp_arena *arena)
{
    uint32_t ncopies = 1 + random_below(&rng, 8), n = random_below(&rng, 30);
    double *costs = FP_NEW_ARRAY(arena, double, n), loads[8] = {0}, again[8] = {0}, total = 0, top = 0;
    uint32_t *copy = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        total += costs[i] = random_below(&rng, 100);
        if (costs[i] > top) top = costs[i];
    }
    fp_distribute(costs, n, ncopies, loads, copy);
    for (uint32_t i = 0; i < n; i++) again[copy[i]] += costs[i];
    for (uint32_t i = 0; i < ncopies; i++) MUST(loads[i] == again[i]);
    /* list scheduling: never above the mean and one task */
    MUST(loads[fp_most_loaded(loads, ncopies)] <= total / ncopies + top);
}

/* ---- one graph ---- */

static void check_graph(uint64_t index, uint64_t seed)
{
    struct fp_arena arena = {0};
    rng = seed * 0x9e3779b97f4a7c15u + index;
    random_next(&rng);
    struct fp_cfg *cfg = random_cfg(&arena);
    current = cfg, current_index = index, current_seed = seed;
    struct walks w = random_walks(&arena, cfg);
    struct fp_limits limits = {.max_paths = random_chance(&rng, 25) ? 40 : 0,
                               .no_laps = random_chance(&rng, 25)};
    struct fp_truncation truncation;
    fp_truncate(&arena, cfg, NULL, &limits, &truncation);
    struct fp_dag *dag = fp_dag_make(&arena, &truncation);
    struct fp_numbering *n = fp_number(&arena, dag, FP_NUMBER_LARGEST_LAST, NULL);
    struct truth t = {.arena = &arena, .n = n};
    run_walks(&w, n, NULL, &t);
    double *counts = FP_NEW_ARRAY(&arena, double, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) counts[e] = (double)w.edges[e];
    struct sets s = by_reduced(&arena, n);
    check_division(&arena, n, &s, &w, &t, random_chance(&rng, 50) ? counts : NULL);
    s = by_cut(&arena, n);
    check_division(&arena, n, &s, &w, &t, random_chance(&rng, 50) ? counts : NULL);
    check_distribution(&arena);
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    each_graph(argc, argv, check_graph);
    return check_summary();
}
