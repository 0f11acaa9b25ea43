/* Dividing one function by an edge cut: see divide.h and p3/partition.h.
 *
 * Which cut is best depends on how hot its edges are: a cut all of whose traffic is on
 * one edge divides nothing. Cuts between any two neighbours in topological order are
 * tried (a sample of them in large functions); the crossing edges are distributed by
 * their counts, and what that really costs is found by labelling. */
#include "p3/divide.h"
#include "p3/distribute.h"
#include "p3/hits.h"
#include "p3/partition.h"
#include "graph/select.h"

#include <math.h>

double fp_cost_of_paths(const struct fp_function *f, const struct fp_bitset *edges,
                        const struct fp_bitset *laps, const double *weights,
                        const struct fp_flow_counts *counts)
{
    struct fp_arena scratch = {0};
    struct fp_selection *s =
        fp_select(&scratch, f->paths.numbering, edges, laps, weights, f->flags & FP_FUNCTION_EXITS);
    double cost = (double)fp_plan_hits(s->plan, counts);
    fp_arena_free(&scratch);
    return cost;
}

/* How often the paths that a dag edge is on were taken. */
static double times_of(const struct fp_function *f, const struct fp_flow_counts *counts, uint32_t d)
{
    const struct fp_dag_edge *edge = &f->paths.dag->edges[d];
    const struct fp_cfg *cfg = f->paths.cfg;
    uint64_t sum = 0;
    switch (edge->kind) {
    case FP_DAG_REAL:
    case FP_DAG_END: return (double)counts->edges[edge->cfg_edge];
    case FP_DAG_ENTRY: return (double)counts->entries;
    case FP_DAG_START:
        for (uint32_t k = cfg->first_in[edge->dst]; k < cfg->first_in[edge->dst + 1]; k++)
            if (f->paths.truncation->order.fate[cfg->in_edges[k]] == FP_FATE_TRUNCATED)
                sum += counts->edges[cfg->in_edges[k]];
        return (double)sum;
    case FP_DAG_EXIT:
        if (edge->src == 0) sum = counts->entries;
        for (uint32_t k = cfg->first_in[edge->src]; k < cfg->first_in[edge->src + 1]; k++)
            sum += counts->edges[cfg->in_edges[k]];
        return (double)sum;
    }
    return 0;
}

struct cutting {
    struct fp_arena *arena;
    struct fp_divided *d;
    const double *base;
    uint32_t ncopies;
};

/* One way to divide: fills edges, laps and costs, returns the largest load. */
static double try_cut(struct cutting *c, struct fp_arena *arena, uint32_t count,
                      struct fp_part *part, double *costs)
{
    const struct fp_function *f = c->d->function;
    const struct fp_flow_counts *counts = c->d->counts;
    uint32_t *crossing, n = fp_crossing_edges(arena, f->paths.dag, count, &crossing);
    if (n < 2) return INFINITY;
    double *estimates = FP_NEW_ARRAY(arena, double, n), total = 0;
    double *loads = FP_NEW_ARRAY(arena, double, c->ncopies);
    uint32_t *groups = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) total += estimates[i] = times_of(f, counts, crossing[i]);
    for (uint32_t i = 0; i < n; i++) estimates[i] *= total > 0 ? c->d->whole / total : 0;
    for (uint32_t i = 0; i < c->ncopies; i++) loads[i] = c->base[i];
    fp_distribute(estimates, n, c->ncopies, loads, groups);
    uint32_t nlaps = f->paths.truncation->laps.len;
    part->edges = FP_NEW_ARRAY(arena, struct fp_bitset, c->ncopies);
    part->laps = FP_NEW_ARRAY(arena, struct fp_bitset, c->ncopies);
    fp_partition_cut(arena, f->paths.dag, count, crossing, groups, n, part->edges, c->ncopies);
    for (uint32_t i = 0; i < c->ncopies; i++) {
        part->laps[i] = fp_bitset_new(arena, nlaps);
        costs[i] = fp_bitset_count(&part->edges[i])
                       ? fp_cost_of_paths(f, &part->edges[i], &part->laps[i], c->d->weights, counts)
                       : 0;
        loads[i] = c->base[i] + costs[i];
    }
    for (uint32_t i = 0; i < nlaps; i++) {
        uint32_t to = fp_least_loaded(loads, c->ncopies);
        double lap = (double)counts->edges[f->paths.truncation->laps.at[i].closing];
        fp_bitset_add(&part->laps[to], i);
        costs[to] += lap;
        loads[to] += lap;
    }
    return loads[fp_most_loaded(loads, c->ncopies)];
}

/* In large functions a sample; always the first and the last, which divide paths by
 * where they start and where they end. */
static uint32_t step_of(const struct fp_dag *dag)
{
    uint32_t cuts = dag->nedges > 2000 ? 8 : dag->nedges > 500 ? 24 : 64;
    return dag->norder / cuts + 1;
}

double fp_divide_by_cut(struct fp_arena *arena, struct fp_divided *d, const double *base,
                        uint32_t ncopies)
{
    const struct fp_dag *dag = d->function->paths.dag;
    struct cutting c = {arena, d, base, ncopies};
    struct fp_arena scratch = {0};
    double *costs = FP_NEW_ARRAY(arena, double, ncopies), best = INFINITY;
    uint32_t best_count = 0, step = step_of(dag);
    struct fp_part part = {0};
    for (uint32_t count = 1; count < dag->norder; count += step) {
        if (count + step >= dag->norder) count = dag->norder - 1;
        double load = try_cut(&c, &scratch, count, &part, costs);
        if (load < best) {
            best = load;
            best_count = count;
        }
        fp_arena_free(&scratch);
    }
    if (!best_count) return INFINITY;
    d->part.nedges = dag->nedges;
    d->part.nlaps = d->function->paths.truncation->laps.len;
    try_cut(&c, arena, best_count, &d->part, costs);
    d->costs = costs;
    return best;
}
