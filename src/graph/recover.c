/* From counts as made to counts of paths, where some were made in front of a branch:
 * see plan.h.
 *
 * A count in front of the branch of block u for the edge e counts, for every way p to
 * u, the visits p. Those that go another way than e are paths through u with the
 * same beginning p:  n(p e) = counted(p e) - sum of n(q) over q = p f ..., f != e.
 * A path q goes on uncounted behind u, so if its own count was moved, then to a block
 * later in topological order: paths are taken from the last such block to the first,
 * after those that were counted where they should be.
 *
 * A lap counted so is counted on every visit of its last block; taken off are all
 * paths, and laps of loops around it, that pass that block another way. Nothing is
 * taken off paths for laps, so laps come behind all paths, wherever those were counted;
 * among laps the outer one, whose last block is later, comes first.
 */
#include "graph/plan.h"

#include "base/table.h"
#include "base/vec.h"

#include <stdlib.h>

struct unknown {
    uint32_t key; /* position of the block where it was counted, FP_NONE if not moved */
    bool lap;
    uint32_t index; /* in ids, or behind them in partials */
};

struct recovery {
    const struct fp_numbering *n;
    const uint32_t *at_end;
    void (*also)(uint64_t id, uint64_t count, void *context); /* a counter made as well */
    void *context;
    struct fp_table where; /* id -> 1 + index in counts */
    uint64_t *counts;
};

static int by_key(const void *a, const void *b)
{
    const struct unknown *x = a, *y = b;
    if (x->lap != y->lap) return x->lap ? 1 : -1;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void subtract(uint64_t id, uint64_t count, void *context)
{
    struct recovery *r = context;
    const uint64_t *index = fp_table_find(&r->where, id);
    if (index) r->counts[*index - 1] -= count;
}

/* The path leaves block u by `taken`: not by the edge counted there. */
static void pass(struct recovery *r, uint32_t block, uint32_t taken, uint64_t prefix,
                 uint64_t count)
{
    uint32_t e = r->at_end[block];
    const struct fp_dag *dag = r->n->dag;
    if (e == FP_NONE || e == taken) return;
    if (dag->truncation->order.fate[e] == FP_FATE_LAP) {
        const struct fp_laps *laps = &dag->truncation->laps;
        for (uint32_t k = 0; k < laps->len; k++)
            if (laps->at[k].closing == e) r->also(r->n->num_paths + k, count, r->context);
        return;
    }
    /* the path p e goes on, if it does, by the only way there is, which adds 0 */
    r->also(prefix + r->n->value[dag->of_edge[e]], count, r->context);
}

/* Takes a path's count off the paths that branch off it. Of a lap's beginning nothing
 * is known, but on its way round only laps are counted in front of a branch. behind: of a path
 * that ends inside its last block, whether it had passed the count there. */
static void take_off(struct recovery *r, const struct fp_path *path, uint64_t count, bool behind)
{
    const struct fp_dag *dag = r->n->dag;
    bool lap = path->end == FP_ENDS_AS_LAP;
    uint64_t prefix = 0;
    if (!lap) {
        uint32_t start =
            path->start == FP_STARTS_AT_ENTRY ? dag->entry_edge : dag->start_of[path->first_block];
        prefix = r->n->value[start];
    }
    uint32_t block = path->first_block;
    for (uint32_t i = 0; i < path->nedges; i++) {
        uint32_t e = path->edges[i];
        pass(r, block, e, prefix, count);
        if (!lap) prefix += r->n->value[dag->of_edge[e]];
        block = dag->cfg->edges[e].dst;
    }
    if (path->end != FP_ENDS_INSIDE)
        pass(r, block, path->end_edge, prefix, count);
    else if (behind)
        pass(r, block, FP_NONE, prefix, count);
}

static bool is_moved(const struct recovery *r, uint32_t e)
{
    return e != FP_NONE && r->at_end[r->n->dag->cfg->edges[e].src] == e;
}

static uint32_t key_of(struct fp_arena *scratch, const struct recovery *r, uint64_t id)
{
    const struct fp_dag *dag = r->n->dag;
    struct fp_path path;
    if (!fp_path_decode(scratch, r->n, id, &path)) return FP_NONE;
    if (is_moved(r, path.end_edge)) return dag->truncation->order.position[path.last_block];
    for (uint32_t i = 0; path.end != FP_ENDS_AS_LAP && i < path.nedges; i++)
        if (is_moved(r, path.edges[i]))
            return dag->truncation->order.position[dag->cfg->edges[path.edges[i]].src];
    return FP_NONE;
}

static bool any_at_end(const struct fp_numbering *n, const uint32_t *at_end)
{
    for (uint32_t b = 0; b < n->dag->cfg->nblocks; b++)
        if (at_end[b] != FP_NONE) return true;
    return false;
}

static void take_off_item(struct recovery *r, struct fp_arena *scratch, uint32_t index,
                          const uint64_t *ids, size_t n, const struct fp_partial_path *partials)
{
    struct fp_path path;
    if (index >= n) {
        const struct fp_partial_path *partial = &partials[index - n];
        if (fp_path_decode_partial(scratch, r->n, partial->block, partial->prefix, &path))
            take_off(r, &path, (uint64_t)partial->count, partial->behind);
        return;
    }
    if ((int64_t)r->counts[index] < 0) r->counts[index] = 0;
    if (r->counts[index] && fp_path_decode(scratch, r->n, ids[index], &path))
        take_off(r, &path, r->counts[index], false);
}

void fp_recover(const struct fp_numbering *numbering, const uint32_t *at_end, const uint64_t *ids,
                uint64_t *counts, size_t n, const struct fp_partial_path *partials,
                size_t npartials)
{
    if (!any_at_end(numbering, at_end)) return;
    struct fp_arena arena = {0}, scratch = {0};
    struct recovery r = {.n = numbering, .at_end = at_end, .also = subtract, .counts = counts};
    r.context = &r;
    struct unknown *items = FP_NEW_ARRAY(&arena, struct unknown, n + npartials);
    fp_table_init(&r.where, &arena);
    for (size_t i = 0; i < n + npartials; i++) {
        if (i < n) *fp_table_add(&r.where, ids[i]) = i + 1;
        bool lap = i < n && ids[i] >= numbering->num_paths;
        items[i] =
            (struct unknown){i < n ? key_of(&scratch, &r, ids[i]) : FP_NONE, lap, (uint32_t)i};
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    if (n + npartials) qsort(items, n + npartials, sizeof *items, by_key);
    for (size_t i = 0; i < n + npartials; i++) {
        take_off_item(&r, &scratch, items[i].index, ids, n, partials);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_arena_free(&scratch);
    fp_arena_free(&arena);
}

void fp_unrecover(const struct fp_numbering *numbering, const uint32_t *at_end, uint64_t id,
                  uint64_t count, void (*add)(uint64_t, uint64_t, void *), void *context)
{
    struct fp_arena scratch = {0};
    struct fp_path path;
    struct recovery r = {.n = numbering, .at_end = at_end, .also = add, .context = context};
    if (fp_path_decode(&scratch, numbering, id, &path)) take_off(&r, &path, count, false);
    fp_arena_free(&scratch);
}

void fp_unrecover_partial(const struct fp_numbering *numbering, const uint32_t *at_end,
                          const struct fp_partial_path *partial,
                          void (*add)(uint64_t, uint64_t, void *), void *context)
{
    struct fp_arena scratch = {0};
    struct fp_path path;
    struct recovery r = {.n = numbering, .at_end = at_end, .also = add, .context = context};
    if (fp_path_decode_partial(&scratch, numbering, partial->block, partial->prefix, &path))
        take_off(&r, &path, (uint64_t)partial->count, partial->behind);
    fp_arena_free(&scratch);
}
