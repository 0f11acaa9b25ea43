/* The paths of paper 001 by its definition alone, against the graph core with the limits of
 * --fp-cuts=paper.
 *
 * The definition: a back edge is an edge that closes a cycle in a depth-first search. Taking
 * one ends a path and begins the next. So the paths are those of the dag that has, in place
 * of each back edge v -> w, the edges ENTRY -> w and v -> EXIT. Here a path is a row: where
 * it begins, then the edges that it takes, the back edge that ends it included.
 *
 * On each random graph two things are compared, row for row: all paths that there are, with
 * what the ids of our numbering decode to; and the paths of random walks, written down edge
 * by edge, with what the counters of our plan decode to.
 *
 *     property-paper [--count N] [--seed S] [--only I]
 */
#include "base/table.h"
#include "base/vec.h"
#include "graph/plan.h"

#include "../check.h"
#include "../each_graph.h"
#include "../random_cfg.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_BLOCKS = 64, MOST_EDGES = 256, LONGEST_ROW = 80, ENUMERATE_AT_MOST = 2000 };

static uint64_t graphs_reducible, graphs_enumerated, graphs_in_loops, paths_walked, rows_compared;

/* ---- graphs as the paper has them ---- */

/* Ordinary edges alone: without exceptions, computed gotos and setjmp. */
static struct fp_cfg *paper_cfg(struct fp_arena *arena)
{
    const struct fp_cfg *any = random_cfg(arena);
    struct fp_edge *edges = FP_NEW_ARRAY(arena, struct fp_edge, any->nedges);
    for (uint32_t e = 0; e < any->nedges; e++)
        edges[e] = (struct fp_edge){any->edges[e].src, any->edges[e].dst, FP_EDGE_NORMAL};
    return fp_cfg_new(arena, any->nblocks, edges, any->nedges, NULL);
}

/* ---- back edges ---- */

struct search {
    const struct fp_cfg *cfg;
    enum { UNSEEN, OPEN, DONE } state[MOST_BLOCKS];
    bool back[MOST_EDGES];
};

static void visit(struct search *s, uint32_t block)
{
    s->state[block] = OPEN;
    for (uint32_t e = s->cfg->first_out[block]; e < s->cfg->first_out[block + 1]; e++) {
        uint32_t to = s->cfg->edges[e].dst;
        if (s->state[to] == OPEN) s->back[e] = true;
        if (s->state[to] == UNSEEN) visit(s, to);
    }
    s->state[block] = DONE;
}

/* Is there no cycle among these edges? */
static bool is_acyclic(const struct fp_cfg *cfg, const bool *left_out)
{
    bool gone[MOST_BLOCKS] = {0};
    for (uint32_t round = 0; round < cfg->nblocks; round++) {
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            bool leads_on = false;
            for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
                leads_on |= !left_out[e] && !gone[cfg->edges[e].dst];
            gone[b] |= !leads_on;
        }
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (!gone[b]) return false;
    return true;
}

/* In a reducible graph the back edges are those whose targets dominate their sources, in
 * whatever order the search goes. */
static void check_back_edges(const struct search *s)
{
    const struct fp_cfg *cfg = s->cfg;
    bool dominated[MOST_EDGES] = {0};
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        bool seen[MOST_BLOCKS] = {0};
        flood(cfg, 0, cfg->edges[e].dst, FP_NONE, seen);
        dominated[e] = s->state[cfg->edges[e].src] == DONE && !seen[cfg->edges[e].src];
    }
    bool dead[MOST_EDGES];
    for (uint32_t e = 0; e < cfg->nedges; e++)
        dead[e] = dominated[e] || s->state[cfg->edges[e].src] != DONE;
    if (!is_acyclic(cfg, dead)) return;
    graphs_reducible++;
    MUST(!memcmp(dominated, s->back, cfg->nedges));
}

/* ---- rows: paths by the definition ---- */

struct row {
    uint32_t len, of[LONGEST_ROW]; /* first block, 1 where a path begins with a call, edges */
    uint64_t count;
};

struct rows {
    struct fp_arena *arena;
    FP_VEC(struct row) all;
};

static struct row begin_row(uint32_t block, bool call)
{
    return (struct row){.len = 2, .of = {block, call}};
}

static void add_to_row(struct row *row, uint32_t edge)
{
    if (row->len < LONGEST_ROW)
        row->of[row->len++] = edge;
    else
        MUST(!"a path is longer than its graph");
}

static void keep_row(struct rows *rows, struct row row, uint64_t count)
{
    row.count = count;
    fp_vec_push(rows->arena, &rows->all, row);
}

static int by_content(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->len != b->len) return a->len < b->len ? -1 : 1;
    return memcmp(a->of, b->of, a->len * sizeof *a->of);
}

/* Sorted, and equal ones added up. */
static void settle_rows(struct rows *rows)
{
    size_t kept = 0;
    if (!rows->all.len) return;
    qsort(rows->all.at, rows->all.len, sizeof *rows->all.at, by_content);
    for (size_t i = 1; i < rows->all.len; i++) {
        if (by_content(&rows->all.at[kept], &rows->all.at[i]))
            rows->all.at[++kept] = rows->all.at[i];
        else
            rows->all.at[kept].count += rows->all.at[i].count;
    }
    rows->all.len = kept + 1;
}

static void compare_rows(struct rows *ours, struct rows *theirs)
{
    settle_rows(ours);
    settle_rows(theirs);
    MUST(ours->all.len == theirs->all.len);
    for (size_t i = 0; i < ours->all.len && i < theirs->all.len; i++) {
        MUST(!by_content(&ours->all.at[i], &theirs->all.at[i]));
        MUST(ours->all.at[i].count == theirs->all.at[i].count);
        rows_compared++;
    }
}

/* ---- all paths ---- */

static void enumerate(const struct search *s, struct rows *rows, struct row so_far, uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    if (rows->all.len > ENUMERATE_AT_MOST) return;
    if (!fp_cfg_out_degree(cfg, block)) keep_row(rows, so_far, 1);
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        struct row longer = so_far;
        add_to_row(&longer, e);
        if (s->back[e])
            keep_row(rows, longer, 1);
        else
            enumerate(s, rows, longer, cfg->edges[e].dst);
    }
}

static void enumerate_all(const struct search *s, struct rows *rows)
{
    bool begins[MOST_BLOCKS] = {0};
    for (uint32_t e = 0; e < s->cfg->nedges; e++)
        if (s->back[e]) begins[s->cfg->edges[e].dst] = true;
    enumerate(s, rows, begin_row(0, true), 0);
    for (uint32_t b = 0; b < s->cfg->nblocks; b++)
        if (begins[b]) enumerate(s, rows, begin_row(b, false), b);
}

/* What the core says a path is. */
static void keep_decoded(struct rows *rows, const struct fp_numbering *n, uint64_t id,
                         uint64_t count)
{
    struct fp_path path;
    MUST(fp_path_decode(rows->arena, n, id, &path));
    MUST(path.end == FP_ENDS_AT_EXIT || path.end == FP_ENDS_AT_EDGE);
    struct row row = begin_row(path.first_block, path.start == FP_STARTS_AT_ENTRY);
    for (uint32_t i = 0; i < path.nedges; i++) add_to_row(&row, path.edges[i]);
    if (path.end == FP_ENDS_AT_EDGE) add_to_row(&row, path.end_edge);
    keep_row(rows, row, count);
}

static void check_all_paths(struct fp_arena *arena, const struct search *s,
                            const struct fp_numbering *n)
{
    struct rows ours = {.arena = arena}, theirs = {.arena = arena};
    enumerate_all(s, &theirs);
    if (theirs.all.len > ENUMERATE_AT_MOST) return;
    graphs_enumerated++;
    MUST(n->num_paths == theirs.all.len && n->num_ids == n->num_paths);
    for (uint64_t id = 0; id < n->num_paths; id++) keep_decoded(&ours, n, id, 1);
    compare_rows(&ours, &theirs);
}

/* ---- the paths of walks ---- */

/* A walk that never ends is left somewhere. Its last path counts if nothing but its end can
 * come: a plan may have counted it already. */
static bool finish_row(const struct search *s, struct row *row, uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    while (fp_cfg_out_degree(cfg, block) == 1) {
        uint32_t e = cfg->first_out[block];
        add_to_row(row, e);
        if (s->back[e]) return true;
        block = cfg->edges[e].dst;
    }
    return fp_cfg_out_degree(cfg, block) == 0;
}

static void cut_walks(const struct search *s, const struct walks *w, const struct fp_plan *plan,
                      struct rows *rows)
{
    const struct fp_cfg *cfg = s->cfg;
    struct row row = begin_row(0, true);
    for (size_t i = 0; i < w->steps.len; i++) {
        const struct step *step = &w->steps.at[i];
        uint32_t here = step->kind == TAKE ? cfg->edges[step->edge].dst : step->block;
        if (step->kind == ENTER) row = begin_row(0, true);
        if (step->kind == TAKE) add_to_row(&row, step->edge);
        if (step->kind == TAKE && s->back[step->edge]) {
            keep_row(rows, row, 1);
            row = begin_row(here, false);
        }
        if (step->kind != LEAVE && !fp_cfg_out_degree(cfg, here)) keep_row(rows, row, 1);
        if (step->kind == LEAVE && plan->counted[here]) {
            MUST(finish_row(s, &row, here));
            keep_row(rows, row, 1);
        }
    }
}

/* The program as the plan would have it: a register and counters. */
struct machine {
    uint64_t r;
    struct fp_table counters;
};

static void do_op(struct machine *m, struct fp_op op)
{
    uint64_t value = (uint64_t)op.value;
    switch (op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET: m->r = value; break;
    case FP_OP_ADD: m->r += value; break;
    case FP_OP_COUNT: ++*fp_table_add(&m->counters, value); break;
    case FP_OP_COUNT_REG: ++*fp_table_add(&m->counters, m->r + value); break;
    }
}

static void run_plan(struct machine *m, const struct fp_plan *plan, const struct walks *w)
{
    const struct fp_dag *dag = plan->numbering->dag;
    for (size_t i = 0; i < w->steps.len; i++) {
        const struct step *step = &w->steps.at[i];
        uint32_t here = step->block;
        if (step->kind == LEAVE) continue;
        if (step->kind == ENTER) {
            m->r = random_next(&rng); /* whatever the register held before the call */
            do_op(m, plan->on[dag->entry_edge]);
        } else {
            struct fp_edge_ops ops = fp_plan_on_edge(plan, step->edge);
            uint32_t moved = plan->at_end[here];
            if (moved != FP_NONE) do_op(m, fp_plan_on_edge(plan, moved).first);
            if (moved != step->edge) do_op(m, ops.first);
            do_op(m, ops.then);
            here = dag->cfg->edges[step->edge].dst;
        }
        if (!fp_cfg_out_degree(dag->cfg, here)) do_op(m, plan->on[dag->exit_of[here]]);
    }
}

static bool never_ends(const struct walks *w)
{
    for (size_t i = 0; i < w->steps.len; i++)
        if (w->steps.at[i].kind == LEAVE) return true;
    return false;
}

static void check_walks(struct fp_arena *arena, const struct search *s,
                        const struct fp_numbering *n)
{
    struct walks w = random_walks(arena, s->cfg);
    bool endless = never_ends(&w);
    /* counts in front of a branch are right once the branch was taken */
    struct fp_plan_options how = {.branch_counts = !endless};
    struct fp_plan *plan = fp_plan_make(arena, n, NULL, &how);
    struct machine m = {0};
    struct rows ours = {.arena = arena}, theirs = {.arena = arena};
    fp_table_init(&m.counters, arena);
    run_plan(&m, plan, &w);
    size_t len = 0;
    uint64_t *ids = FP_NEW_ARRAY(arena, uint64_t, m.counters.len);
    uint64_t *counts = FP_NEW_ARRAY(arena, uint64_t, m.counters.len);
    for (size_t i = 0; fp_table_next(&m.counters, &i, &ids[len], &counts[len]);) len++;
    fp_recover(n, plan->at_end, ids, counts, len, NULL, 0);
    for (size_t i = 0; i < len; i++)
        if (counts[i]) keep_decoded(&ours, n, ids[i], counts[i]);
    cut_walks(s, &w, plan, &theirs);
    paths_walked += theirs.all.len;
    compare_rows(&ours, &theirs);
    graphs_in_loops += endless;
}

/* ---- one graph ---- */

static void check_graph(uint64_t index, uint64_t seed)
{
    struct fp_arena arena = {0};
    rng = seed * 0x9e3779b97f4a7c15u + index;
    random_next(&rng);
    struct fp_cfg *cfg = paper_cfg(&arena);
    struct search s = {.cfg = cfg};
    struct fp_truncation t;
    current = cfg;
    current_index = index;
    current_seed = seed;
    visit(&s, 0);
    check_back_edges(&s);
    fp_truncate(&arena, cfg, NULL, &(struct fp_limits){.no_laps = true}, &t);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        bool reached = s.state[cfg->edges[e].src] == DONE;
        MUST(t.order.fate[e] == (!reached    ? FP_FATE_DEAD
                                 : s.back[e] ? FP_FATE_TRUNCATED
                                             : FP_FATE_KEPT));
    }
    struct fp_numbering *n =
        fp_number(&arena, fp_dag_make(&arena, &t), FP_NUMBER_LARGEST_LAST, NULL);
    check_all_paths(&arena, &s, n);
    check_walks(&arena, &s, n);
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    each_graph(argc, argv, check_graph);
    printf("%" PRIu64 " reducible, %" PRIu64 " with all their paths compared, %" PRIu64
           " with walks that never end\n",
           graphs_reducible, graphs_enumerated, graphs_in_loops);
    printf("%" PRIu64 " paths walked, %" PRIu64 " different paths compared\n", paths_walked,
           rows_compared);
    return check_summary();
}
