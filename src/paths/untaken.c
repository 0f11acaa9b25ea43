/* Paths never taken: see untaken.h. */
#include "paths/untaken.h"

#include <stdlib.h>

#define IDLE 1e-12 /* the chance of an edge that never ran; used for sorting only */

/* A prefix of a path: the edges that led to it, and a bound for all paths that continue it. */
struct taken_prefix {
    uint32_t before; /* index of the prefix it extends, or FP_NONE */
    uint32_t vertex;
    uint64_t sum;  /* of values */
    double chance; /* of coming here */
    double bound;  /* chance of the likeliest path with this prefix */
    uint32_t idle;
};

struct untaken_search {
    struct fp_arena arena;
    const struct fp_function *f;
    const struct fp_edge_counts *edges;
    double *net;    /* per cfg edge: its count without laps, which are paths of their own */
    double *chance; /* per dag edge */
    double *best;   /* per vertex: chance of the likeliest way to EXIT */
    bool *idle;     /* per dag edge */
    double flow;    /* of all paths */
    FP_VEC(struct taken_prefix) all;
    FP_VEC(uint32_t) heap; /* largest bound on top */
};

static double start_flow(const struct untaken_search *s, uint32_t block)
{
    const struct fp_cfg *cfg = s->f->paths.cfg;
    double sum = 0;
    for (uint32_t i = cfg->first_in[block]; i < cfg->first_in[block + 1]; i++)
        if (s->f->paths.truncation->order.fate[cfg->in_edges[i]] == FP_FATE_TRUNCATED)
            sum += s->net[cfg->in_edges[i]];
    return sum;
}

static double flow_of(const struct untaken_search *s, uint32_t d)
{
    const struct fp_dag_edge *edge = &s->f->paths.dag->edges[d];
    switch (edge->kind) {
    case FP_DAG_REAL:
    case FP_DAG_END: return s->net[edge->cfg_edge];
    case FP_DAG_ENTRY: return (double)s->edges->entries;
    case FP_DAG_EXIT: return (double)s->edges->blocks[edge->src];
    case FP_DAG_START: return start_flow(s, edge->dst);
    }
    return 0;
}

static bool goes_on(const struct untaken_search *s, uint32_t d)
{
    uint32_t to = s->f->paths.dag->edges[d].dst;
    return to == s->f->paths.dag->exit || s->f->paths.numbering->npaths[to];
}

/* If a vertex never ran, all its ways out are taken as equally likely. */
static void give_chances(struct untaken_search *s, uint32_t v)
{
    const struct fp_dag *dag = s->f->paths.dag;
    double sum = 0;
    uint32_t ways = 0;
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
        if (!goes_on(s, d)) continue;
        sum += flow_of(s, d);
        ways++;
    }
    if (v == dag->entry) s->flow = sum;
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
        if (!goes_on(s, d)) continue;
        double flow = flow_of(s, d);
        s->idle[d] = sum > 0 && flow <= 0;
        s->chance[d] = sum <= 0 ? 1.0 / ways : flow > 0 ? flow / sum : IDLE;
        double through = s->chance[d] * s->best[dag->edges[d].dst];
        if (through > s->best[v]) s->best[v] = through;
    }
}

static void take_off_laps(struct untaken_search *s)
{
    const struct fp_laps *laps = &s->f->paths.truncation->laps;
    s->net = FP_NEW_ARRAY(&s->arena, double, s->f->paths.cfg->nedges);
    for (uint32_t e = 0; e < s->f->paths.cfg->nedges; e++) s->net[e] = (double)s->edges->edges[e];
    for (uint32_t k = 0; k < laps->len; k++) {
        double times = (double)s->edges->edges[laps->at[k].closing];
        for (uint32_t i = 0; i < laps->at[k].nedges; i++) s->net[laps->at[k].edges[i]] -= times;
    }
}

static void prepare(struct untaken_search *s)
{
    const struct fp_dag *dag = s->f->paths.dag;
    take_off_laps(s);
    s->chance = FP_NEW_ARRAY(&s->arena, double, dag->nedges);
    s->idle = FP_NEW_ARRAY(&s->arena, bool, dag->nedges);
    s->best = FP_NEW_ARRAY(&s->arena, double, dag->nverts);
    s->best[dag->exit] = 1;
    for (uint32_t i = dag->norder; i-- > 0;)
        if (dag->order[i] != dag->exit) give_chances(s, dag->order[i]);
}

/* ---- the heap ---- */

static double bound_at(const struct untaken_search *s, size_t i)
{
    return s->all.at[s->heap.at[i]].bound;
}

static void swap(struct untaken_search *s, size_t a, size_t b)
{
    uint32_t keep = s->heap.at[a];
    s->heap.at[a] = s->heap.at[b];
    s->heap.at[b] = keep;
}

static void push(struct untaken_search *s, struct taken_prefix prefix)
{
    fp_vec_push(&s->arena, &s->all, prefix);
    fp_vec_push(&s->arena, &s->heap, (uint32_t)s->all.len - 1);
    for (size_t i = s->heap.len - 1; i && bound_at(s, (i - 1) / 2) < bound_at(s, i);
         i = (i - 1) / 2)
        swap(s, i, (i - 1) / 2);
}

static uint32_t pop(struct untaken_search *s)
{
    uint32_t top = s->heap.at[0];
    s->heap.at[0] = s->heap.at[--s->heap.len];
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1, largest = i;
        if (child < s->heap.len && bound_at(s, child) > bound_at(s, largest)) largest = child;
        if (child + 1 < s->heap.len && bound_at(s, child + 1) > bound_at(s, largest))
            largest = child + 1;
        if (largest == i) return top;
        swap(s, i, largest);
        i = largest;
    }
}

static void extend(struct untaken_search *s, uint32_t index)
{
    const struct fp_dag *dag = s->f->paths.dag;
    struct taken_prefix from = s->all.at[index];
    for (uint32_t d = dag->first_out[from.vertex]; d < dag->first_out[from.vertex + 1]; d++) {
        if (!goes_on(s, d)) continue;
        struct taken_prefix next = {.before = index,
                                    .vertex = dag->edges[d].dst,
                                    .sum = from.sum + s->f->paths.numbering->value[d],
                                    .chance = from.chance * s->chance[d],
                                    .idle = from.idle + s->idle[d]};
        next.bound = next.chance * s->best[next.vertex];
        push(s, next);
    }
}

static int by_id(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static bool was_taken(const struct fp_counts *counts, uint64_t id)
{
    struct fp_path_count wanted = {.id = id};
    return counts->npaths && bsearch(&wanted, counts->paths, counts->npaths, sizeof wanted, by_id);
}

struct fp_untaken *fp_untaken_find(struct fp_arena *arena, const struct fp_measured *m, size_t want,
                                   size_t steps, size_t *found, uint64_t *total, bool *gave_up)
{
    const struct fp_numbering *n = m->function->paths.numbering;
    struct untaken_search s = {.f = m->function, .edges = m->edges};
    struct fp_untaken *out = FP_NEW_ARRAY(arena, struct fp_untaken, want);
    *found = 0, *gave_up = false;
    *total = n->num_ids - m->counts->npaths;
    prepare(&s);
    push(&s,
         (struct taken_prefix){
             .before = FP_NONE, .vertex = m->function->paths.dag->entry, .chance = 1, .bound = 1});
    for (size_t left = steps ? steps : 20000; s.heap.len && *found < want; left--) {
        if (!left) {
            *gave_up = true;
            break;
        }
        uint32_t index = pop(&s);
        const struct taken_prefix *p = &s.all.at[index];
        if (p->vertex != m->function->paths.dag->exit)
            extend(&s, index);
        else if (!was_taken(m->counts, p->sum))
            out[(*found)++] =
                (struct fp_untaken){p->sum, p->idle ? 0 : s.flow * p->chance, p->idle};
    }
    for (uint64_t id = n->num_paths; id < n->num_ids && *found < want && !*gave_up; id++)
        if (!was_taken(m->counts, id)) out[(*found)++] = (struct fp_untaken){id, 0, 1};
    fp_arena_free(&s.arena);
    return out;
}
