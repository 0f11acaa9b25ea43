/* Ball-Larus numbering and its inverse: see number.h. */
#include "graph/number.h"

#include "base/checked.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static uint64_t successor_paths(const struct fp_numbering *n, uint32_t d)
{
    return n->npaths[n->dag->edges[d].dst];
}

/* Out-edges are ranked by key. An edge with no path behind it (into the part of
 * a lap from which only the lap goes on) comes first, so that its value is 0 and
 * no sum ever selects it. */
struct ranked_edge {
    uint32_t edge;
    double key;
};

static double rank_key(const struct fp_numbering *n, uint32_t d, const double *weights)
{
    uint64_t paths = successor_paths(n, d);
    if (paths == 0) return -INFINITY;
    return weights ? -weights[d] : (double)paths;
}

static int by_key(const void *a, const void *b)
{
    const struct ranked_edge *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

static void rank_out_edges(struct fp_numbering *n, uint32_t v, const double *weights,
                           struct ranked_edge *room)
{
    const struct fp_dag *dag = n->dag;
    uint32_t first = dag->first_out[v], count = dag->first_out[v + 1] - first;
    if (count == 1) {
        n->by_value[first] = first;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        room[i] = (struct ranked_edge){first + i, rank_key(n, first + i, weights)};
    if (count == 2) {
        bool swap = by_key(&room[0], &room[1]) > 0;
        n->by_value[first] = first + swap;
        n->by_value[first + 1] = first + !swap;
        return;
    }
    qsort(room, count, sizeof *room, by_key);
    for (uint32_t i = 0; i < count; i++) n->by_value[first + i] = room[i].edge;
}

static void number_vertex(struct fp_numbering *n, uint32_t v)
{
    const struct fp_dag *dag = n->dag;
    uint64_t sum = 0;
    for (uint32_t i = dag->first_out[v]; i < dag->first_out[v + 1]; i++) {
        uint32_t d = n->by_value[i];
        n->value[d] = sum;
        bool wrapped = fp_add_overflows(sum, successor_paths(n, d), &sum);
        assert(!wrapped); /* truncation keeps the total below FP_MAX_PATHS */
        (void)wrapped;
    }
    n->npaths[v] = v == dag->exit ? 1 : sum;
}

static struct fp_numbering *numbering_new(struct fp_arena *arena, const struct fp_dag *dag)
{
    struct fp_numbering *n = FP_NEW(arena, struct fp_numbering);
    n->dag = dag;
    n->npaths = FP_NEW_ARRAY(arena, uint64_t, dag->nverts);
    n->value = FP_NEW_ARRAY(arena, uint64_t, dag->nedges);
    n->by_value = FP_NEW_ARRAY(arena, uint32_t, dag->nedges);
    return n;
}

static void finish(struct fp_numbering *n)
{
    n->num_paths = n->npaths[n->dag->entry];
    n->num_ids = n->num_paths + n->dag->truncation->laps.len;
}

struct fp_numbering *fp_number(struct fp_arena *arena, const struct fp_dag *dag,
                               enum fp_numbering_order how, const double *weights)
{
    struct fp_arena scratch = {0};
    struct fp_numbering *n = numbering_new(arena, dag);
    uint32_t widest = 1;
    for (uint32_t v = 0; v < dag->nverts; v++) {
        uint32_t degree = dag->first_out[v + 1] - dag->first_out[v];
        if (degree > widest) widest = degree;
    }
    struct ranked_edge *room = FP_NEW_ARRAY(&scratch, struct ranked_edge, widest);
    if (how == FP_NUMBER_LARGEST_LAST) weights = NULL;
    for (uint32_t i = dag->norder; i-- > 0;) {
        uint32_t v = dag->order[i];
        if (dag->first_out[v] != dag->first_out[v + 1]) rank_out_edges(n, v, weights, room);
        number_vertex(n, v);
    }
    finish(n);
    fp_arena_free(&scratch);
    return n;
}

struct fp_numbering *fp_number_as_stored(struct fp_arena *arena, const struct fp_dag *dag,
                                         const uint32_t *by_value)
{
    struct fp_numbering *n = numbering_new(arena, dag);
    for (uint32_t d = 0; d < dag->nedges; d++) n->by_value[d] = by_value[d];
    for (uint32_t i = dag->norder; i-- > 0;) number_vertex(n, dag->order[i]);
    finish(n);
    return n;
}

static bool decode_lap(const struct fp_numbering *n, uint64_t k, struct fp_path *path)
{
    const struct fp_lap *lap = &n->dag->truncation->laps.at[k];
    const struct fp_edge *closing = &n->dag->cfg->edges[lap->closing];
    *path = (struct fp_path){
        .start = FP_STARTS_AT_EDGE,
        .end = FP_ENDS_AS_LAP,
        .first_block = closing->dst,
        .last_block = closing->src,
        .end_edge = lap->closing,
        .nedges = lap->nedges,
        .edges = lap->edges,
    };
    return true;
}

/* Walks from ENTRY; stops at EXIT, or in `stop` if the path comes through it.
 * Two walks: the first only measures. */
static bool walk(struct fp_arena *arena, const struct fp_numbering *n, uint64_t id, uint32_t stop,
                 struct fp_path *path)
{
    const struct fp_dag *dag = n->dag;
    *path = (struct fp_path){.end_edge = FP_NONE};
    for (int pass = 0; pass < 2; pass++) {
        uint64_t rem = id;
        uint32_t v = dag->entry, count = 0;
        if (pass) path->edges = FP_NEW_ARRAY(arena, uint32_t, path->nedges);
        while (v != dag->exit && v != stop) {
            uint32_t d = fp_number_edge(n, v, rem);
            const struct fp_dag_edge *edge = &dag->edges[d];
            rem -= n->value[d];
            switch (edge->kind) {
            case FP_DAG_ENTRY:
            case FP_DAG_START:
                path->start = edge->kind == FP_DAG_ENTRY ? FP_STARTS_AT_ENTRY : FP_STARTS_AT_EDGE;
                path->first_block = edge->dst;
                break;
            case FP_DAG_REAL:
                if (pass) path->edges[count] = edge->cfg_edge;
                count++;
                break;
            case FP_DAG_EXIT: path->end = FP_ENDS_AT_EXIT; break;
            case FP_DAG_END:
                path->end = FP_ENDS_AT_EDGE;
                path->end_edge = edge->cfg_edge;
                break;
            }
            if (edge->dst != dag->exit) path->last_block = edge->dst;
            v = edge->dst;
        }
        path->nedges = count;
        if (rem) return false;
        if (stop != FP_NONE && v != stop) return false;
    }
    if (stop != FP_NONE) path->end = FP_ENDS_INSIDE;
    return true;
}

bool fp_path_decode(struct fp_arena *arena, const struct fp_numbering *n, uint64_t id,
                    struct fp_path *path)
{
    if (id >= n->num_ids) return false;
    if (id >= n->num_paths) return decode_lap(n, id - n->num_paths, path);
    return walk(arena, n, id, FP_NONE, path);
}

bool fp_path_decode_partial(struct fp_arena *arena, const struct fp_numbering *n, uint32_t block,
                            uint64_t prefix, struct fp_path *path)
{
    const struct fp_dag *dag = n->dag;
    if (prefix >= n->num_paths || block >= dag->cfg->nblocks) return false;
    /* In the closing part of a lap no path goes on; the way there, from the last
     * block where one does, is the only one. */
    uint32_t stop = block, tail = 0;
    for (; n->npaths[stop] == 0; tail++) {
        if (dag->first_in[stop + 1] - dag->first_in[stop] != 1 || tail > dag->nverts) return false;
        stop = dag->edges[dag->in_edges[dag->first_in[stop]]].src;
        if (stop >= dag->cfg->nblocks) return false;
    }
    if (!walk(arena, n, prefix, stop, path)) return false;
    if (tail == 0) return true;
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, (size_t)path->nedges + tail);
    for (uint32_t i = 0; i < path->nedges; i++) edges[i] = path->edges[i];
    path->edges = edges;
    path->nedges += tail;
    path->last_block = block;
    for (uint32_t i = path->nedges, v = block; tail--; v = dag->cfg->edges[edges[i]].src)
        edges[--i] = dag->edges[dag->in_edges[dag->first_in[v]]].cfg_edge;
    return true;
}

uint64_t fp_path_encode(const struct fp_numbering *n, const struct fp_path *path)
{
    const struct fp_dag *dag = n->dag;
    if (path->end == FP_ENDS_AS_LAP) {
        for (uint32_t k = 0; k < dag->truncation->laps.len; k++)
            if (dag->truncation->laps.at[k].closing == path->end_edge)
                return n->num_paths + fp_lap_number(&dag->truncation->laps, k);
        return FP_NO_ID;
    }
    uint32_t start =
        path->start == FP_STARTS_AT_ENTRY ? dag->entry_edge : dag->start_of[path->first_block];
    if (start == FP_NONE) return FP_NO_ID;
    uint64_t sum = n->value[start];
    for (uint32_t i = 0; i < path->nedges; i++) {
        uint32_t d = dag->of_edge[path->edges[i]];
        if (d == FP_NONE || dag->edges[d].kind != FP_DAG_REAL) return FP_NO_ID;
        sum += n->value[d];
    }
    uint32_t end = FP_NONE;
    switch (path->end) {
    case FP_ENDS_AT_EXIT: end = dag->exit_of[path->last_block]; break;
    case FP_ENDS_AT_EDGE: end = dag->of_edge[path->end_edge]; break;
    case FP_ENDS_INSIDE: return sum;
    case FP_ENDS_AS_LAP: break;
    }
    /* another dag may go on where this path ends */
    if (end == FP_NONE || dag->edges[end].dst != dag->exit) return FP_NO_ID;
    return sum + n->value[end];
}
