/* Coverage: see coverage.h. */
#include "paths/coverage.h"

#include "base/bitset.h"
#include "base/checked.h"

double fp_covered_percent(struct fp_covered covered)
{
    return covered.all ? 100 * (double)covered.done / (double)covered.all : 100;
}

static void add_covered(struct fp_covered *a, struct fp_covered b)
{
    a->done = fp_add_saturated(a->done, b.done);
    a->all = fp_add_saturated(a->all, b.all);
}

void fp_coverage_add(struct fp_coverage *a, const struct fp_coverage *b)
{
    a->measured |= b->measured;
    a->paths_known |= b->paths_known;
    a->at_least |= b->at_least;
    a->calls = fp_add_saturated(a->calls, b->calls);
    add_covered(&a->functions, b->functions);
    add_covered(&a->lines, b->lines);
    add_covered(&a->blocks, b->blocks);
    add_covered(&a->edges, b->edges);
    add_covered(&a->paths, b->paths);
    a->within = fp_add_saturated(a->within, b->within);
    a->cuts += b->cuts;
    a->doors += b->doors;
    add_covered(&a->basis, b->basis);
}

/* ---- paths within the edges that ran ---- */

/* How often control left the function from a block, not counting frames that were left in
 * mid-block. */
static bool leaves(const struct fp_function *f, const struct fp_edge_counts *edges, uint32_t block)
{
    return fp_cfg_out_degree(f->paths.cfg, block) == 0 && edges->blocks[block];
}

static bool starts(const struct fp_function *f, const struct fp_edge_counts *edges, uint32_t block)
{
    for (uint32_t i = f->paths.cfg->first_in[block]; i < f->paths.cfg->first_in[block + 1]; i++) {
        uint32_t e = f->paths.cfg->in_edges[i];
        if (f->paths.truncation->order.fate[e] == FP_FATE_TRUNCATED && edges->edges[e]) return true;
    }
    return false;
}

static bool ran(const struct fp_function *f, const struct fp_edge_counts *edges, uint32_t d)
{
    const struct fp_dag_edge *edge = &f->paths.dag->edges[d];
    switch (edge->kind) {
    case FP_DAG_REAL:
    case FP_DAG_END: return edges->edges[edge->cfg_edge] != 0;
    case FP_DAG_ENTRY: return edges->entries != 0;
    case FP_DAG_EXIT: return leaves(f, edges, edge->src);
    case FP_DAG_START: return starts(f, edges, edge->dst);
    }
    return false;
}

static uint64_t count_within(struct fp_arena *scratch, const struct fp_function *f,
                             const struct fp_edge_counts *edges)
{
    const struct fp_dag *dag = f->paths.dag;
    uint64_t *from = FP_NEW_ARRAY(scratch, uint64_t, dag->nverts);
    from[dag->exit] = 1;
    for (uint32_t i = dag->norder; i-- > 0;) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
            if (ran(f, edges, d)) from[v] = fp_add_saturated(from[v], from[dag->edges[d].dst]);
    }
    uint64_t within = from[dag->entry];
    for (uint32_t k = 0; k < f->paths.truncation->laps.len; k++)
        within += edges->edges[f->paths.truncation->laps.at[k].closing] != 0;
    return within;
}

/* ---- independent paths ---- */

/* Gauss elimination over bits, one row at a time. */
struct elimination {
    struct fp_arena arena;
    size_t bits, words;
    uint64_t **pivot; /* per bit: the row whose first bit it is */
    uint64_t *row;
    uint64_t rank, work;
};

static bool reduce(struct elimination *e)
{
    for (size_t w = 0; w < e->words; w++) {
        while (e->row[w]) {
            size_t bit = w * 64 + (size_t)__builtin_ctzll(e->row[w]);
            const uint64_t *other = e->pivot[bit];
            if (!other) {
                uint64_t *kept = FP_NEW_ARRAY(&e->arena, uint64_t, e->words);
                memcpy(kept, e->row, e->words * sizeof *kept);
                e->pivot[bit] = kept;
                return true;
            }
            for (size_t i = w; i < e->words; i++) e->row[i] ^= other[i];
            e->work += e->words - w;
        }
    }
    return false;
}

static void set_bit(struct elimination *e, uint32_t d)
{
    if (d != FP_NONE) e->row[d / 64] |= (uint64_t)1 << (d % 64);
}

static void set_path(struct elimination *e, const struct fp_function *f, const struct fp_path *path)
{
    const struct fp_dag *dag = f->paths.dag;
    memset(e->row, 0, e->words * sizeof *e->row);
    set_bit(e,
            path->start == FP_STARTS_AT_ENTRY ? dag->entry_edge : dag->start_of[path->first_block]);
    for (uint32_t i = 0; i < path->nedges; i++) set_bit(e, dag->of_edge[path->edges[i]]);
    if (path->end == FP_ENDS_AT_EXIT) set_bit(e, dag->exit_of[path->last_block]);
    if (path->end == FP_ENDS_AT_EDGE) set_bit(e, dag->of_edge[path->end_edge]);
}

/* Edges and vertices on some path from ENTRY to EXIT. */
static uint64_t dimension(struct fp_arena *scratch, const struct fp_function *f)
{
    const struct fp_dag *dag = f->paths.dag;
    bool *reached = FP_NEW_ARRAY(scratch, bool, dag->nverts);
    uint64_t edges = 0, vertices = 0;
    reached[dag->entry] = true;
    for (uint32_t i = 0; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        bool goes_on = v == dag->exit || f->paths.numbering->npaths[v];
        if (!reached[v] || !goes_on) continue;
        vertices++;
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
            uint32_t to = dag->edges[d].dst;
            if (to != dag->exit && !f->paths.numbering->npaths[to]) continue;
            reached[to] = true;
            edges++;
        }
    }
    return (edges + 2 > vertices ? edges + 2 - vertices : 0) + f->paths.truncation->laps.len;
}

static void count_independent(struct fp_arena *scratch, const struct fp_measured *m,
                              struct fp_coverage *coverage)
{
    const struct fp_function *f = m->function;
    struct elimination e = {.bits = f->paths.dag->nedges, .words = f->paths.dag->nedges / 64 + 1};
    struct fp_arena decoding = {0};
    uint64_t laps = 0;
    coverage->basis.all = dimension(scratch, f);
    e.pivot = FP_NEW_ARRAY(&e.arena, uint64_t *, e.words * 64);
    e.row = FP_NEW_ARRAY(&e.arena, uint64_t, e.words);
    uint64_t most = coverage->basis.all - f->paths.truncation->laps.len;
    for (size_t i = 0; i < m->counts->npaths; i++) {
        struct fp_path path;
        uint64_t id = m->counts->paths[i].id;
        laps += id >= f->paths.numbering->num_paths;
        if (e.rank == most || coverage->at_least || id >= f->paths.numbering->num_paths) continue;
        if (!fp_path_decode(&decoding, f->paths.numbering, id, &path)) continue;
        set_path(&e, f, &path);
        e.rank += reduce(&e);
        coverage->at_least = e.work > FP_COVERAGE_WORK;
        if (decoding.total > 1 << 20) fp_arena_free(&decoding);
    }
    coverage->basis.done = e.rank + laps;
    fp_arena_free(&decoding);
    fp_arena_free(&e.arena);
}

/* ---- one function ---- */

static void count_edges(const struct fp_measured *m, struct fp_coverage *coverage)
{
    const struct fp_function *f = m->function;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        if (f->paths.truncation->order.position[b] == FP_NONE) continue;
        coverage->blocks.all++;
        coverage->blocks.done += m->edges->blocks[b] != 0;
    }
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        if (f->paths.truncation->order.fate[e] == FP_FATE_DEAD) continue;
        coverage->edges.all++;
        coverage->edges.done += m->edges->edges[e] != 0;
    }
}

void fp_coverage_of(const struct fp_measured *m, struct fp_coverage *coverage)
{
    *coverage = (struct fp_coverage){.functions = {0, 1}};
    if (!m->edges) return;
    struct fp_arena scratch = {0};
    coverage->measured = true;
    coverage->calls = m->edges->entries;
    coverage->functions.done = m->edges->entries != 0;
    count_edges(m, coverage);
    if (m->function->flags & FP_FUNCTION_PATHS) {
        coverage->paths_known = true;
        coverage->cuts = m->function->paths.truncation->ncuts;
        coverage->doors = m->function->paths.truncation->ndoors;
        coverage->paths =
            (struct fp_covered){m->counts->npaths, m->function->paths.numbering->num_ids};
        coverage->within = count_within(&scratch, m->function, m->edges);
        count_independent(&scratch, m, coverage);
    }
    fp_arena_free(&scratch);
}
