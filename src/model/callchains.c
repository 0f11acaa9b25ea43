/* Chains of calls: see callchains.h. */
#include "model/callchains.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 4000, MOST_DEPTH = 250 };
static const double SMALLEST_SHARE = 0.0005;

struct chain_maker {
    const struct fp_report *report;
    const struct fp_call_graph *graph;
    struct fp_arena arena;
    double least; /* frames below are folded */
    FP_VEC(struct fp_chain_frame) frames;
};

/* A callee, or a function that is called from elsewhere, and its cost in a frame. */
struct chain_part {
    uint32_t function;
    double cost;
};

static int by_cost(const void *x, const void *y)
{
    const struct chain_part *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return (a->function > b->function) - (a->function < b->function);
}

static void add_function(struct chain_maker *m, uint32_t parent, struct chain_part part,
                         unsigned depth);

/* The frames above one frame: each large one, and one for all small ones. */
static void add_parts(struct chain_maker *m, uint32_t parent, struct chain_part *parts, size_t n,
                      unsigned depth)
{
    struct fp_chain_frame rest = {.parent = parent, .function = FP_NONE};
    if (n) qsort(parts, n, sizeof *parts, by_cost);
    for (size_t i = 0; i < n && m->frames.len <= MOST_FRAMES; i++) {
        if (parts[i].cost >= m->least && depth < MOST_DEPTH) {
            add_function(m, parent, parts[i], depth + 1);
        } else if (parts[i].cost > 0) {
            rest.cost += parts[i].cost;
            rest.folded++;
        }
    }
    if (rest.cost >= m->least) fp_vec_push(&m->arena, &m->frames, rest);
}

static void add_function(struct chain_maker *m, uint32_t parent, struct chain_part part,
                         unsigned depth)
{
    const struct fp_call_graph *g = m->graph;
    uint32_t f = part.function, me = (uint32_t)m->frames.len;
    size_t first = g->first_out[f], n = g->first_out[f + 1] - first, nparts = 0;
    double scale = g->inclusive[f] > 0 ? part.cost / g->inclusive[f] : 0, below = 0;
    struct chain_part *parts = FP_NEW_ARRAY(&m->arena, struct chain_part, n);
    for (size_t i = 0; i < n; i++) {
        const struct fp_call_edge *edge = &g->edges[first + i];
        if (edge->callee == FP_NONE || edge->recursive) continue;
        parts[nparts++] = (struct chain_part){edge->callee, edge->cost * scale};
        below += edge->cost * scale;
    }
    /* Measured inclusive costs need not add up. */
    for (size_t i = 0; below > part.cost && i < nparts; i++) parts[i].cost *= part.cost / below;
    struct fp_chain_frame frame = {parent, f, 0, part.cost,
                                   below < part.cost ? part.cost - below : 0};
    fp_vec_push(&m->arena, &m->frames, frame);
    add_parts(m, me, parts, nparts, depth);
}

/* Where calls were measured, what is called through pointers is in its caller's frame, too, as cost
 * of no function above it. The roots then are more than the whole program: all but main() are made
 * smaller. */
static void scale_roots(const struct chain_maker *m, struct chain_part *roots, size_t n,
                        double *sum)
{
    const struct fp_report *report = m->report;
    double main_cost = 0;
    if (report->inclusive || *sum <= report->cost * (1 + 1e-9)) return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(report->functions[roots[i].function].function->name, "main"))
            main_cost += roots[i].cost;
    double room = report->cost > main_cost ? report->cost - main_cost : 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(report->functions[roots[i].function].function->name, "main"))
            roots[i].cost *= room / (*sum - main_cost);
    *sum = main_cost + room;
}

/* Functions that nobody in the graph calls, for the part of their cost that has no caller. */
static void add_roots(struct chain_maker *m)
{
    const struct fp_call_graph *g = m->graph;
    size_t n = m->report->nfunctions, nroots = 0;
    struct chain_part *roots = FP_NEW_ARRAY(&m->arena, struct chain_part, n);
    struct fp_chain_frame all = {.parent = FP_NONE, .function = FP_NONE};
    for (uint32_t f = 0; f < n; f++) {
        double rest = g->inclusive[f];
        for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++)
            rest -= g->edges[g->by_callee[k]].cost;
        if (rest <= 1e-9 * g->inclusive[f]) continue;
        roots[nroots++] = (struct chain_part){f, rest};
        all.cost += rest;
    }
    scale_roots(m, roots, nroots, &all.cost);
    fp_vec_push(&m->arena, &m->frames, all);
    if (m->least < all.cost * SMALLEST_SHARE) m->least = all.cost * SMALLEST_SHARE;
    add_parts(m, 0, roots, nroots, 0);
}

void fp_call_chains(struct fp_arena *arena, const struct fp_report *report,
                    const struct fp_call_graph *graph, struct fp_chains *chains)
{
    struct chain_maker m = {0};
    double least = 0;
    do {
        fp_arena_free(&m.arena);
        m = (struct chain_maker){.report = report, .graph = graph, .least = least};
        add_roots(&m);
        least = m.least * 2;
    } while (m.frames.len > MOST_FRAMES);
    chains->frames = FP_NEW_ARRAY(arena, struct fp_chain_frame, m.frames.len);
    memcpy(chains->frames, m.frames.at, m.frames.len * sizeof *chains->frames);
    chains->len = m.frames.len;
    chains->least = m.least;
    fp_arena_free(&m.arena);
}
