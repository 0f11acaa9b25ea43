/* Precise selective path profiling: see pspp.h. */
#include "graph/pspp.h"

#include "base/checked.h"

#include <assert.h>
#include <stdlib.h>

#define INFINITE UINT64_MAX

/* Keeps of `wanted` what lies on a path made of wanted edges only. */
static struct fp_bitset on_whole_paths(struct fp_arena *arena, const struct fp_dag *dag,
                                       const struct fp_bitset *wanted)
{
    struct fp_arena scratch = {0};
    struct fp_bitset result = fp_bitset_new(arena, dag->nedges);
    bool *reached = FP_NEW_ARRAY(&scratch, bool, dag->nverts);
    bool *reaches = FP_NEW_ARRAY(&scratch, bool, dag->nverts);
    reached[dag->entry] = reaches[dag->exit] = true;
    for (uint32_t i = 0; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; reached[v] && d < dag->first_out[v + 1]; d++)
            if (fp_bitset_has(wanted, d)) reached[dag->edges[d].dst] = true;
    }
    for (uint32_t i = dag->norder; i-- > 0;) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
            if (fp_bitset_has(wanted, d) && reaches[dag->edges[d].dst]) reaches[v] = true;
    }
    for (uint32_t d = 0; d < dag->nedges; d++)
        if (fp_bitset_has(wanted, d) && reached[dag->edges[d].src] && reaches[dag->edges[d].dst])
            fp_bitset_add(&result, d);
    fp_arena_free(&scratch);
    return result;
}

struct pspp_candidate {
    uint32_t edge;
    uint64_t min;
    double weight;
};

/* Decreasing minimum, then hotter first, then as in the graph. */
static int by_minimum(const void *a, const void *b)
{
    const struct pspp_candidate *x = a, *y = b;
    if (x->min != y->min) return x->min > y->min ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    bool wrapped = fp_add_overflows(a, b, &a);
    assert(!wrapped); /* bounded by the number of paths */
    (void)wrapped;
    return a;
}

static void number_one(struct fp_pspp *p, uint32_t v, uint64_t *range, uint64_t *min,
                       const double *weights, struct pspp_candidate *room)
{
    const struct fp_dag *dag = p->dag;
    uint32_t count = 0;
    range[v] = v == dag->exit ? 1 : 0;
    min[v] = v == dag->exit ? 0 : INFINITE;
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
        uint32_t w = dag->edges[d].dst;
        if (fp_bitset_has(&p->interesting, d))
            room[count++] = (struct pspp_candidate){d, min[w], weights ? weights[d] : 0};
        else if (range[w] > range[v])
            range[v] = range[w];
    }
    qsort(room, count, sizeof *room, by_minimum);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = room[i].edge, w = dag->edges[d].dst;
        p->initial[d] = range[v];
        range[v] = sum_of(range[v], range[w]);
        if (min[w] != INFINITE && min[w] + p->initial[d] < min[v]) min[v] = min[w] + p->initial[d];
    }
}

/* Moves the value of an only in-edge to the out-edges; EXIT keeps its in-edges. */
static void push_down(struct fp_pspp *p)
{
    const struct fp_dag *dag = p->dag;
    for (uint32_t d = 0; d < dag->nedges; d++) p->value[d] = p->initial[d];
    for (uint32_t i = 1; i + 1 < dag->norder; i++) {
        uint32_t v = dag->order[i];
        if (dag->first_in[v + 1] - dag->first_in[v] != 1) continue;
        uint32_t in = dag->in_edges[dag->first_in[v]];
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
            p->value[d] = sum_of(p->value[d], p->value[in]);
        if (dag->first_out[v] != dag->first_out[v + 1]) p->value[in] = 0;
    }
    for (uint32_t d = 0; d < dag->nedges; d++) {
        if (!fp_bitset_has(&p->interesting, d)) p->value[d] = 0;
        p->nprobes += p->value[d] != 0;
    }
}

struct fp_pspp *fp_pspp_number(struct fp_arena *arena, const struct fp_dag *dag,
                               const struct fp_bitset *wanted, const double *weights)
{
    struct fp_arena scratch = {0};
    struct fp_pspp *p = FP_NEW(arena, struct fp_pspp);
    p->dag = dag;
    p->interesting = on_whole_paths(arena, dag, wanted);
    p->initial = FP_NEW_ARRAY(arena, uint64_t, dag->nedges);
    p->value = FP_NEW_ARRAY(arena, uint64_t, dag->nedges);
    uint64_t *range = FP_NEW_ARRAY(&scratch, uint64_t, dag->nverts);
    uint64_t *min = FP_NEW_ARRAY(&scratch, uint64_t, dag->nverts);
    struct pspp_candidate *room = FP_NEW_ARRAY(&scratch, struct pspp_candidate, dag->nedges);
    for (uint32_t i = dag->norder; i-- > 0;)
        number_one(p, dag->order[i], range, min, weights, room);
    p->num_ids = range[dag->entry];
    push_down(p);
    fp_arena_free(&scratch);
    return p;
}

/* The interesting out-edge of v with the largest initial value not above rem. */
static uint32_t interesting_edge_for(const struct fp_pspp *p, uint32_t v, uint64_t rem)
{
    const struct fp_dag *dag = p->dag;
    uint32_t best = FP_NONE;
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
        if (fp_bitset_has(&p->interesting, d) && p->initial[d] <= rem &&
            (best == FP_NONE || p->initial[d] > p->initial[best]))
            best = d;
    return best;
}

bool fp_pspp_decode(struct fp_arena *arena, const struct fp_pspp *p, uint64_t id, uint32_t **edges,
                    uint32_t *nedges)
{
    const struct fp_dag *dag = p->dag;
    uint32_t *found = FP_NEW_ARRAY(arena, uint32_t, dag->norder), count = 0;
    for (uint32_t v = dag->entry; v != dag->exit;) {
        uint32_t d = interesting_edge_for(p, v, id);
        if (d == FP_NONE) return false;
        id -= p->initial[d];
        found[count++] = d;
        v = dag->edges[d].dst;
    }
    if (id) return false;
    *edges = found;
    *nedges = count;
    return true;
}
