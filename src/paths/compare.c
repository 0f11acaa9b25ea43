/* Comparing profiles: see compare.h. The first part puts two profiles side by side,
 * the second measures. */
#include "paths/compare.h"

#include "paths/match.h"

#include <math.h>
#include <stdlib.h>

/* ---- side by side ---- */

struct pairing {
    struct fp_arena *arena;
    struct fp_arena scratch; /* per function */
    struct fp_pair *pair;
    struct fp_error *error;
    bool actual_paths, estimate_paths;
};

struct branches {
    const struct fp_cfg *cfg;
    uint32_t count;
};

static void count_branch(uint32_t edge, void *context)
{
    struct branches *b = context;
    b->count += fp_cfg_out_degree(b->cfg, b->cfg->edges[edge].src) > 1;
}

static double flow_of(const struct fp_cfg *cfg, const struct fp_path *path, uint64_t count)
{
    struct branches b = {cfg, 0};
    fp_path_each_edge(cfg, path, count_branch, &b);
    return (double)count * b.count;
}

/* The paths of one function. by_id finds a path of the actual profile by its number; a path of
 * the estimate that has no number there is in the estimate alone. */
static void add_actual_paths(struct pairing *p, const struct fp_counts *counts,
                             struct fp_table *by_id)
{
    const struct fp_function *f = counts->function;
    struct fp_path path;
    for (size_t i = 0; i < counts->npaths; i++) {
        if (!fp_path_decode(&p->scratch, f->paths.numbering, counts->paths[i].id, &path)) continue;
        struct fp_pair_path both = {.actual = flow_of(f->paths.cfg, &path, counts->paths[i].count)};
        fp_vec_push(p->arena, &p->pair->paths, both);
        *fp_table_add(by_id, counts->paths[i].id) = p->pair->paths.len;
    }
}

static void add_estimate_paths(struct pairing *p, const struct fp_counts *counts,
                               const struct fp_function *actual, const struct fp_table *by_id)
{
    const struct fp_function *f = counts->function;
    struct fp_path path;
    for (size_t i = 0; i < counts->npaths; i++) {
        if (!fp_path_decode(&p->scratch, f->paths.numbering, counts->paths[i].id, &path)) continue;
        double flow = flow_of(f->paths.cfg, &path, counts->paths[i].count);
        uint64_t id = actual ? fp_path_encode(actual->paths.numbering, &path) : FP_NO_ID;
        const uint64_t *index = id == FP_NO_ID ? NULL : fp_table_find(by_id, id);
        if (index) {
            p->pair->paths.at[*index - 1].estimate += flow;
        } else {
            struct fp_pair_path alone = {.estimate = flow};
            fp_vec_push(p->arena, &p->pair->paths, alone);
        }
    }
}

/* edges: of each profile, or NULL if the function is not in it. */
static void add_branches(struct pairing *p, const struct fp_cfg *cfg,
                         const struct fp_edge_counts *actual, const struct fp_edge_counts *estimate)
{
    struct fp_pair *pair = p->pair;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        struct fp_pair_branch branch = {pair->actual.len, fp_cfg_out_degree(cfg, b)};
        if (branch.ways < 2) continue;
        fp_vec_push(p->arena, &pair->branches, branch);
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            fp_vec_push(p->arena, &pair->actual, actual ? (double)actual->edges[e] : 0);
            fp_vec_push(p->arena, &pair->estimate, estimate ? (double)estimate->edges[e] : 0);
        }
    }
}

static void add_edges(struct pairing *p, const struct fp_cfg *cfg,
                      const struct fp_edge_counts *actual, const struct fp_edge_counts *estimate)
{
    struct fp_pair_path body = {0, 0};
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        struct fp_pair_path edge = {actual ? (double)actual->edges[e] : 0,
                                    estimate ? (double)estimate->edges[e] : 0};
        body.actual += edge.actual;
        body.estimate += edge.estimate;
        fp_vec_push(p->arena, &p->pair->edges, edge);
    }
    fp_vec_push(p->arena, &p->pair->bodies, body);
}

static bool has_counts(const struct fp_function *f, const struct fp_edge_counts *edges)
{
    uint64_t sum = edges->entries;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) sum |= edges->edges[e];
    return sum != 0;
}

static bool counts_of(struct pairing *p, const struct fp_function_ref *ref,
                      struct fp_counts *counts, struct fp_edge_counts *edges)
{
    fp_profile_counts(&p->scratch, ref->module, ref->function, counts);
    return fp_edges_of(&p->scratch, counts, edges, p->error);
}

static bool pair_function(struct pairing *p, const struct fp_function_ref *actual,
                          const struct fp_function_ref *estimate)
{
    struct fp_counts a = {0}, b = {0};
    struct fp_edge_counts a_edges, b_edges;
    struct fp_table by_id;
    if (actual && !counts_of(p, actual, &a, &a_edges)) return false;
    if (estimate && !counts_of(p, estimate, &b, &b_edges)) return false;
    fp_table_init(&by_id, &p->scratch);
    if (actual) add_actual_paths(p, &a, &by_id);
    if (estimate) add_estimate_paths(p, &b, actual ? actual->function : NULL, &by_id);
    p->actual_paths |= a.npaths != 0;
    p->estimate_paths |= b.npaths != 0;
    const struct fp_function *f = actual ? actual->function : estimate->function;
    add_branches(p, f->paths.cfg, actual ? &a_edges : NULL, estimate ? &b_edges : NULL);
    add_edges(p, f->paths.cfg, actual ? &a_edges : NULL, estimate ? &b_edges : NULL);
    if (actual && estimate && (a.npaths || b.npaths))
        p->pair->redefined += fp_redefined(actual->function, estimate->function);
    if (actual && estimate)
        p->pair->functions++;
    else
        p->pair->unmatched += has_counts(f, actual ? &a_edges : &b_edges);
    fp_arena_free(&p->scratch);
    return true;
}

bool fp_pair_make(struct fp_arena *arena, struct fp_profile *actual, struct fp_profile *estimate,
                  struct fp_pair *pair, struct fp_error *error)
{
    struct pairing p = {.arena = arena, .pair = pair, .error = error};
    struct fp_matcher a, b;
    *pair = (struct fp_pair){0};
    fp_matcher_init(&a, arena, actual);
    fp_matcher_init(&b, arena, estimate);
    bool ok = true;
    for (size_t i = 0; ok && i < a.refs.len; i++)
        ok = pair_function(&p, &a.refs.at[i], fp_matcher_find(&b, a.refs.at[i].function));
    for (size_t i = 0; ok && i < b.refs.len; i++)
        if (!fp_matcher_find(&a, b.refs.at[i].function))
            ok = pair_function(&p, NULL, &b.refs.at[i]);
    fp_arena_free(&p.scratch);
    pair->have_paths = p.actual_paths && p.estimate_paths;
    if (!ok || pair->functions) return ok;
    const char *file = estimate->files.len ? estimate->files.at[0] : NULL;
    return fp_fail(error, file,
                   "the two profiles have no function in common; are they of one program?");
}

/* ---- measures ---- */

static int hotter_in_estimate(const void *a, const void *b)
{
    const struct fp_pair_path *x = a, *y = b;
    if (x->estimate != y->estimate) return x->estimate < y->estimate ? 1 : -1;
    /* paths with equal estimates must not be sorted by their actual counts */
    return (x->actual > y->actual) - (x->actual < y->actual);
}

double fp_wall_match(const struct fp_pair *pair, const struct fp_metric_options *options)
{
    size_t n = pair->paths.len, hot = 0;
    double total = 0, hot_flow = 0, found = 0;
    for (size_t i = 0; i < n; i++) total += pair->paths.at[i].actual;
    double least = total * options->hot;
    for (size_t i = 0; i < n; i++) {
        if (pair->paths.at[i].actual <= least) continue;
        hot++;
        hot_flow += pair->paths.at[i].actual;
    }
    if (!hot) return 1;
    struct fp_arena scratch = {0};
    struct fp_pair_path *sorted = FP_NEW_ARRAY(&scratch, struct fp_pair_path, n);
    for (size_t i = 0; i < n; i++) sorted[i] = pair->paths.at[i];
    qsort(sorted, n, sizeof *sorted, hotter_in_estimate);
    for (size_t i = 0; i < hot; i++)
        if (sorted[i].actual > least && sorted[i].estimate > 0) found += sorted[i].actual;
    fp_arena_free(&scratch);
    return found / hot_flow;
}

static double sum_of(const double *counts, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += counts[i];
    return sum;
}

/* 1 minus half the distance between the two distributions. For a branch with two ways that is 1
 * minus the difference of how often it is taken. */
static double branch_accuracy(const double *actual, const double *estimate, uint32_t ways)
{
    double a = sum_of(actual, ways), b = sum_of(estimate, ways), distance = 0;
    if (b == 0) return 0;
    for (uint32_t i = 0; i < ways; i++) distance += fabs(actual[i] / a - estimate[i] / b);
    return 1 - distance / 2;
}

double fp_relative_overlap(const struct fp_pair *pair, const struct fp_metric_options *options)
{
    (void)options;
    double sum = 0, weights = 0;
    for (size_t i = 0; i < pair->branches.len; i++) {
        const struct fp_pair_branch *branch = &pair->branches.at[i];
        const double *actual = pair->actual.at + branch->first;
        double weight = sum_of(actual, branch->ways);
        if (weight == 0) continue;
        sum += weight * branch_accuracy(actual, pair->estimate.at + branch->first, branch->ways);
        weights += weight;
    }
    return weights > 0 ? sum / weights : 1;
}

double fp_absolute_overlap(const struct fp_pair *pair, const struct fp_metric_options *options)
{
    (void)options;
    double a = sum_of(pair->actual.at, pair->actual.len), common = 0;
    double b = sum_of(pair->estimate.at, pair->estimate.len);
    if (a == 0 || b == 0) return a == b;
    for (size_t i = 0; i < pair->actual.len; i++)
        common += fmin(pair->actual.at[i] / a, pair->estimate.at[i] / b);
    return common;
}

static double degree_of_overlap(const struct fp_pair_path *weights, size_t n)
{
    double a = 0, b = 0, common = 0;
    for (size_t i = 0; i < n; i++) a += weights[i].actual, b += weights[i].estimate;
    if (a == 0 || b == 0) return a == b;
    for (size_t i = 0; i < n; i++) common += fmin(weights[i].actual / a, weights[i].estimate / b);
    return common;
}

double fp_edge_overlap(const struct fp_pair *pair, const struct fp_metric_options *options)
{
    (void)options;
    return degree_of_overlap(pair->edges.at, pair->edges.len);
}

double fp_function_overlap(const struct fp_pair *pair, const struct fp_metric_options *options)
{
    (void)options;
    return degree_of_overlap(pair->bodies.at, pair->bodies.len);
}

const struct fp_metric fp_metrics[] = {
    {"wall", "hot paths found, by flow (Wall weight matching)", true, fp_wall_match},
    {"relative", "branch biases, by frequency (relative overlap)", false, fp_relative_overlap},
    {"absolute", "branch frequencies (absolute overlap)", false, fp_absolute_overlap},
    {"overlap", "frequencies of all edges (degree of overlap)", false, fp_edge_overlap},
    {"function", "edges by function: what no inference within functions exceeds", false,
     fp_function_overlap},
    {NULL, NULL, false, NULL},
};
