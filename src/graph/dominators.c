/* Dominators by the SEMI-NCA algorithm (Georgiadis: Linear-Time Algorithms for
 * Dominators and Related Problems, 2005): semidominators by path compression,
 * then the nearest common ancestor walk. Near linear, which a function of a
 * million blocks needs. */
#include "graph/dominators.h"

#include <string.h>

struct semi_nca {
    uint32_t n;       /* reached vertices; everything below is by preorder number */
    uint32_t *vertex; /* number -> vertex */
    uint32_t *number; /* vertex -> number, or FP_NONE */
    uint32_t *parent, *semi, *label, *ancestor, *idom;
    uint32_t *stack;
};

static void number_vertices(struct semi_nca *s, struct fp_arena *scratch,
                            const struct fp_digraph *graph, uint32_t root)
{
    uint32_t *next = FP_NEW_ARRAY(scratch, uint32_t, graph->nverts);
    uint32_t depth = 0;
    for (uint32_t v = 0; v < graph->nverts; v++) s->number[v] = FP_NONE;
    s->stack[depth++] = root;
    s->number[root] = s->n;
    s->vertex[s->n++] = root;
    next[root] = graph->first[root];
    while (depth) {
        uint32_t v = s->stack[depth - 1];
        if (next[v] == graph->first[v + 1]) {
            depth--;
            continue;
        }
        uint32_t w = graph->to[next[v]++];
        if (s->number[w] != FP_NONE) continue;
        s->parent[s->n] = s->number[v];
        s->number[w] = s->n;
        s->vertex[s->n++] = w;
        next[w] = graph->first[w];
        s->stack[depth++] = w;
    }
}

/* The vertex of smallest semidominator on the compressed path above v. */
static uint32_t best_above(struct semi_nca *s, uint32_t v)
{
    if (s->ancestor[v] == FP_NONE) return v;
    uint32_t depth = 0;
    for (uint32_t u = v; s->ancestor[s->ancestor[u]] != FP_NONE; u = s->ancestor[u])
        s->stack[depth++] = u;
    while (depth) {
        uint32_t u = s->stack[--depth], above = s->ancestor[u];
        if (s->semi[s->label[above]] < s->semi[s->label[u]]) s->label[u] = s->label[above];
        s->ancestor[u] = s->ancestor[above];
    }
    return s->label[v];
}

static void find_semidominators(struct semi_nca *s, const uint32_t *first_in, const uint32_t *from)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->semi[i] = s->label[i] = i;
        s->ancestor[i] = FP_NONE;
    }
    for (uint32_t i = s->n; i-- > 1;) {
        uint32_t v = s->vertex[i];
        for (uint32_t k = first_in[v]; k < first_in[v + 1]; k++) {
            uint32_t u = s->number[from[k]];
            if (u == FP_NONE) continue;
            uint32_t semi = s->semi[best_above(s, u)];
            if (semi < s->semi[i]) s->semi[i] = semi;
        }
        s->ancestor[i] = s->parent[i];
    }
}

static void find_dominators(struct semi_nca *s)
{
    s->idom[0] = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        uint32_t d = s->parent[i];
        while (d > s->semi[i]) d = s->idom[d];
        s->idom[i] = d;
    }
}

static void reverse_graph(struct fp_arena *scratch, const struct fp_digraph *graph,
                          uint32_t **first_in, uint32_t **from)
{
    uint32_t n = graph->nverts, m = graph->first[n];
    uint32_t *first = FP_NEW_ARRAY(scratch, uint32_t, (size_t)n + 1);
    uint32_t *next = FP_NEW_ARRAY(scratch, uint32_t, (size_t)n + 1);
    *from = FP_NEW_ARRAY(scratch, uint32_t, m);
    for (uint32_t k = 0; k < m; k++) first[graph->to[k] + 1]++;
    for (uint32_t v = 0; v < n; v++) next[v + 1] = first[v + 1] += first[v];
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t k = graph->first[v]; k < graph->first[v + 1]; k++)
            (*from)[next[graph->to[k]]++] = v;
    *first_in = first;
}

uint32_t *fp_dominators(struct fp_arena *arena, const struct fp_digraph *graph, uint32_t root)
{
    struct fp_arena scratch = {0};
    uint32_t n = graph->nverts;
    uint32_t *arrays = FP_NEW_ARRAY(&scratch, uint32_t, (size_t)n * 8);
    struct semi_nca s = {
        .vertex = arrays,
        .number = arrays + n,
        .parent = arrays + 2 * (size_t)n,
        .semi = arrays + 3 * (size_t)n,
        .label = arrays + 4 * (size_t)n,
        .ancestor = arrays + 5 * (size_t)n,
        .idom = arrays + 6 * (size_t)n,
        .stack = arrays + 7 * (size_t)n,
    };
    uint32_t *first_in, *from;
    reverse_graph(&scratch, graph, &first_in, &from);
    number_vertices(&s, &scratch, graph, root);
    find_semidominators(&s, first_in, from);
    find_dominators(&s);
    uint32_t *idom = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t v = 0; v < n; v++)
        idom[v] = s.number[v] == FP_NONE ? FP_NONE : s.vertex[s.idom[s.number[v]]];
    fp_arena_free(&scratch);
    return idom;
}

uint32_t *fp_cfg_dominators(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct fp_arena scratch = {0};
    uint32_t *to = FP_NEW_ARRAY(&scratch, uint32_t, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) to[e] = cfg->edges[e].dst;
    struct fp_digraph graph = {cfg->nblocks, cfg->first_out, to};
    uint32_t *idom = fp_dominators(arena, &graph, 0);
    fp_arena_free(&scratch);
    return idom;
}

/* Puts a vertex on every edge: blocks keep their numbers, edge e is vertex nblocks + e. */
uint32_t *fp_place_dominators(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct fp_arena scratch = {0};
    uint32_t n = cfg->nblocks, m = cfg->nedges;
    uint32_t *first = FP_NEW_ARRAY(&scratch, uint32_t, (size_t)n + m + 1);
    uint32_t *to = FP_NEW_ARRAY(&scratch, uint32_t, 2 * (size_t)m);
    for (uint32_t b = 0; b <= n; b++) first[b] = cfg->first_out[b];
    for (uint32_t e = 0; e < m; e++) {
        to[e] = n + e;
        to[m + e] = cfg->edges[e].dst;
        first[n + e + 1] = m + e + 1;
    }
    struct fp_digraph graph = {n + m, first, to};
    uint32_t *idom = fp_dominators(arena, &graph, 0);
    fp_arena_free(&scratch);
    return idom;
}

/* The nearest edge up the tree is the answer. */
uint32_t *fp_edge_dominators(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct fp_arena scratch = {0};
    uint32_t n = cfg->nblocks, m = cfg->nedges;
    uint32_t *idom = fp_place_dominators(&scratch, cfg);
    uint32_t *nearest = FP_NEW_ARRAY(arena, uint32_t, m);
    uint32_t *known = FP_NEW_ARRAY(&scratch, uint32_t, n); /* block -> 2 + answer, 0 unknown */
    uint32_t *chain = FP_NEW_ARRAY(&scratch, uint32_t, n);
    for (uint32_t e = 0; e < m; e++) {
        if (idom[n + e] == FP_NONE) {
            nearest[e] = FP_NONE;
            continue;
        }
        /* climb to an edge-vertex, the root or a block whose answer is known */
        uint32_t v = idom[n + e], len = 0;
        for (; v && v < n && !known[v]; v = idom[v]) chain[len++] = v;
        uint32_t answer = v >= n ? v - n : v && known[v] ? known[v] - 2 : FP_NONE;
        while (len) known[chain[--len]] = answer + 2; /* FP_NONE + 2 wraps to 1 */
        nearest[e] = answer;
    }
    fp_arena_free(&scratch);
    return nearest;
}
