/* Dividing a whole program: see divide.h. fp_divide at the end is the list of steps. */
#include "p3/divide.h"

#include "paths/edges.h"
#include "paths/match.h"
#include "p3/distribute.h"
#include "p3/hits.h"
#include "p3/partition.h"
#include "graph/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dividing {
    struct fp_arena *arena;
    const struct fp_program *reference;
    const struct fp_divide_options *options;
    struct fp_divided *all;
    size_t len;
    struct fp_strtable calls; /* function name -> call sites */
    double *loads;
    uint32_t profitable;
};

/* ---- what each function costs ---- */

static bool is_divided(const struct fp_function *f)
{
    return f->flags & FP_FUNCTION_PATHS && !(f->flags & FP_FUNCTION_SKIPPED);
}

/* Counts of the guide; without one, each edge once, so that hits are operations. */
static struct fp_flow_counts *counts_of(struct fp_arena *arena, const struct fp_function *f,
                                        const struct fp_matcher *guide)
{
    struct fp_flow_counts *counts = FP_NEW(arena, struct fp_flow_counts);
    uint64_t *edges = FP_NEW_ARRAY(arena, uint64_t, f->paths.cfg->nedges);
    counts->edges = edges;
    if (!guide) {
        counts->entries = 1;
        for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) edges[e] = 1;
        return counts;
    }
    const struct fp_function_ref *ref = fp_matcher_find(guide, f);
    if (!ref) return counts;
    struct fp_arena scratch = {0};
    struct fp_counts found;
    struct fp_edge_counts derived;
    struct fp_error error = {0};
    fp_profile_counts(&scratch, ref->module, ref->function, &found);
    if (fp_edges_of(&scratch, &found, &derived, &error)) {
        counts->entries = derived.entries;
        memcpy(edges, derived.edges, f->paths.cfg->nedges * sizeof *edges);
    }
    fp_arena_free(&scratch);
    return counts;
}

/* Weights for placing labels. The plugin computes the same when it builds a copy. */
static const double *weights_of(struct fp_arena *arena, const struct fp_function *f,
                                const struct fp_part *part)
{
    double *weights = FP_NEW_ARRAY(arena, double, f->paths.cfg->nedges);
    if (part->nweights != f->paths.cfg->nedges) {
        struct fp_loops loops;
        fp_loops_find(arena, f->paths.cfg, &loops);
        return fp_weights_static(arena, f->paths.cfg, &f->paths.truncation->order, &loops);
    }
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) weights[e] = (double)part->weights[e];
    return weights;
}

static double cost_of_whole(const struct fp_function *f, const double *weights,
                            const struct fp_flow_counts *counts)
{
    struct fp_arena scratch = {0};
    struct fp_plan_options how = {.exits = f->flags & FP_FUNCTION_EXITS,
                                  .branch_counts = f->flags & FP_FUNCTION_EXITS && weights};
    struct fp_plan *plan = fp_plan_make(&scratch, f->paths.numbering, weights, &how);
    double cost = (double)fp_plan_hits(plan, counts);
    fp_arena_free(&scratch);
    return cost;
}

/* What turns cost a copy: one operation per call, and its share of the calls that it counts.
 * With few calls the largest share is more than 1 / ncopies. */
static double cost_of_turns(double whole, uint64_t entries, uint32_t ncopies)
{
    if (entries == 0) return whole / ncopies;
    uint64_t most = (entries + ncopies - 1) / ncopies;
    return (double)entries + whole * (double)most / (double)entries;
}

/* How many of n calls copy i counts, if copy `start` counts the first one. */
static uint64_t turns_of(uint64_t n, uint32_t i, uint32_t start, uint32_t ncopies)
{
    uint32_t first = (i + ncopies - start) % ncopies;
    return first < n ? (n - 1 - first) / ncopies + 1 : 0;
}

static bool was_executed(const struct fp_flow_counts *counts, const struct fp_cfg *cfg)
{
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (counts->edges[e]) return true;
    return counts->entries != 0;
}

static void make_work(struct dividing *d, struct fp_divided *w, const struct fp_function *f,
                      const struct fp_matcher *guide)
{
    w->function = f;
    w->part = (struct fp_part){.function = f->copy ? f->copy->reference : f->id, .name = f->name};
    w->counts = counts_of(d->arena, f, guide);
    if (guide && !d->options->plain_labels && was_executed(w->counts, f->paths.cfg)) {
        w->part.weights = (uint64_t *)w->counts->edges;
        w->part.nweights = f->paths.cfg->nedges;
    }
    if (!d->options->plain_labels) w->weights = weights_of(d->arena, f, &w->part);
    w->whole = cost_of_whole(f, w->weights, w->counts);
    w->turns = guide ? cost_of_turns(w->whole, w->counts->entries, d->options->ncopies)
                     : 1 + w->whole / d->options->ncopies;
}

static void make_all(struct dividing *d)
{
    struct fp_matcher matcher;
    const struct fp_program *p = d->reference;
    if (d->options->guide) fp_matcher_init(&matcher, d->arena, d->options->guide);
    d->all = FP_NEW_ARRAY(d->arena, struct fp_divided, p->nfunctions);
    d->loads = FP_NEW_ARRAY(d->arena, double, d->options->ncopies);
    for (size_t i = 0; i < p->nfunctions; i++)
        if (is_divided(&p->functions[i]))
            make_work(d, &d->all[d->len++], &p->functions[i], d->options->guide ? &matcher : NULL);
}

/* ---- which functions may be divided ---- */

/* With --fp-exits, a path that ends in mid-block is decoded from its sum so far. The sums of
 * labels that serve some paths only do not tell such prefixes apart. */
static bool may_divide_paths(const struct fp_function *f)
{
    if (f->paths.numbering->num_paths < 2) return false;
    for (uint32_t b = 0; f->flags & FP_FUNCTION_EXITS && b < f->paths.cfg->nblocks; b++)
        if (f->paths.cfg->flags[b] & FP_BLOCK_LEAVES) return false;
    return true;
}

static bool may_take_turns(const struct fp_function *f)
{
    if (f->flags & FP_FUNCTION_ONE_BODY) return false;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++)
        if (f->paths.cfg->edges[e].kind == FP_EDGE_INDIRECT ||
            f->paths.cfg->edges[e].kind == FP_EDGE_TWICE)
            return false;
    return true;
}

static void count_calls(struct dividing *d)
{
    fp_strtable_init(&d->calls, d->arena);
    for (size_t i = 0; i < d->reference->nfunctions; i++)
        for (uint32_t k = 0; k < d->reference->functions[i].source.ncallees; k++)
            ++*fp_strtable_add(&d->calls, d->reference->functions[i].source.callees[k]);
}

static bool has_one_call(const struct fp_strtable *calls, const struct fp_function *f)
{
    const uint64_t *count = fp_strtable_find(calls, f->name);
    return !count || *count <= 1;
}

/* ---- distribution ---- */

/* The guide saw at most one call: the copy whose turn is first does it all. */
static bool is_single_turn(const struct dividing *d, const struct fp_divided *w)
{
    return d->options->guide && w->part.kind == FP_PART_TURNS && w->counts->entries <= 1;
}

/* Sums up the loads of the functions that are divided, then gives each other function to
 * one copy. `without` is left out, or NULL; with it nothing but the loads is set. */
static void distribute(struct dividing *d, const struct fp_divided *without, double *loads)
{
    struct fp_arena scratch = {0};
    uint32_t ncopies = d->options->ncopies, *copy = FP_NEW_ARRAY(&scratch, uint32_t, d->len);
    double *costs = FP_NEW_ARRAY(&scratch, double, d->len);
    struct fp_divided **whole = FP_NEW_ARRAY(&scratch, struct fp_divided *, d->len);
    size_t n = 0;
    for (uint32_t i = 0; i < ncopies; i++) loads[i] = 0;
    for (size_t k = 0; k < d->len; k++) {
        struct fp_divided *w = &d->all[k];
        bool one_copy = w->part.kind == FP_PART_WHOLE || is_single_turn(d, w);
        for (uint32_t i = 0; i < ncopies && !one_copy; i++)
            loads[i] += w->part.kind == FP_PART_TURNS ? w->turns : w->costs[i];
        if (!one_copy || w == without) continue;
        /* functions that the guide never saw are spread out as well */
        costs[n] = w->whole + 1e-6 * (1 + (double)w->function->paths.cfg->nedges);
        whole[n++] = w;
    }
    fp_distribute(costs, n, ncopies, loads, copy);
    for (size_t i = 0; i < n && !without; i++) whole[i]->part.copy = copy[i];
    fp_arena_free(&scratch);
}

static double distribute_all(struct dividing *d)
{
    distribute(d, NULL, d->loads);
    return d->loads[fp_most_loaded(d->loads, d->options->ncopies)];
}

/* ---- the paper's p3 ---- */

static void make_sets(struct dividing *d, struct fp_divided *w)
{
    const struct fp_function *f = w->function;
    w->part.kind = FP_PART_PATHS;
    w->part.nedges = f->paths.dag->nedges;
    w->part.nlaps = f->paths.truncation->laps.len;
    w->part.edges = FP_NEW_ARRAY(d->arena, struct fp_bitset, d->options->ncopies);
    w->part.laps = FP_NEW_ARRAY(d->arena, struct fp_bitset, d->options->ncopies);
    for (uint32_t i = 0; i < d->options->ncopies; i++) {
        w->part.edges[i] = fp_bitset_new(d->arena, w->part.nedges);
        w->part.laps[i] = fp_bitset_new(d->arena, w->part.nlaps);
    }
}

static void unite(struct fp_bitset *into, const struct fp_bitset *set)
{
    for (size_t i = 0; i <= set->bits / 64; i++) into->words[i] |= set->words[i];
}

struct p3_task {
    struct fp_divided *w;
    const struct fp_bitset *edges; /* NULL: the whole function */
    double cost;
};

/* Algorithm 2, line 20: one copy with all tasks of a function profiles it as a whole. */
static void keep_together(struct dividing *d, struct fp_divided *w)
{
    uint32_t sharers = 0, last = 0;
    for (uint32_t i = 0; i < d->options->ncopies; i++)
        if (fp_part_concerns(&w->part, i)) {
            sharers++;
            last = i;
        }
    if (sharers > 1) return;
    w->part.kind = FP_PART_WHOLE;
    w->part.copy = last;
}

static void take_tasks(struct dividing *d, const struct p3_task *tasks, const uint32_t *copy,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fp_divided *w = tasks[i].w;
        if (!tasks[i].edges) {
            w->part.copy = copy[i];
            continue;
        }
        if (w->part.kind == FP_PART_WHOLE) {
            make_sets(d, w);
            /* the paper has no laps; they go with the function's first task */
            for (uint32_t k = 0; k < w->part.nlaps; k++) fp_bitset_add(&w->part.laps[copy[i]], k);
        }
        unite(&w->part.edges[copy[i]], tasks[i].edges);
    }
    for (size_t k = 0; k < d->len; k++)
        if (d->all[k].part.kind == FP_PART_PATHS) keep_together(d, &d->all[k]);
}

static void divide_p3(struct dividing *d)
{
    FP_VEC(struct p3_task) tasks = {0};
    for (size_t k = 0; k < d->len; k++) {
        struct fp_divided *w = &d->all[k];
        struct fp_tasks found = {{0}};
        if (has_one_call(&d->calls, w->function) && may_divide_paths(w->function))
            fp_partition_reduced(d->arena, w->function->paths.dag, d->options->ncopies, &found);
        struct p3_task task = {w, NULL, w->whole};
        if (found.sets.len < 2) fp_vec_push(d->arena, &tasks, task);
        d->profitable += found.sets.len > 1;
        struct fp_bitset none = fp_bitset_new(d->arena, w->function->paths.truncation->laps.len);
        for (size_t i = 0; found.sets.len > 1 && i < found.sets.len; i++) {
            task.edges = &found.sets.at[i];
            task.cost = fp_cost_of_paths(w->function, task.edges, &none, w->weights, w->counts);
            fp_vec_push(d->arena, &tasks, task);
        }
    }
    double *costs = FP_NEW_ARRAY(d->arena, double, tasks.len);
    uint32_t *copy = FP_NEW_ARRAY(d->arena, uint32_t, tasks.len);
    for (size_t i = 0; i < tasks.len; i++) costs[i] = tasks.at[i].cost;
    fp_distribute(costs, tasks.len, d->options->ncopies, d->loads, copy);
    take_tasks(d, tasks.at, copy, tasks.len);
}

/* ---- cuts ---- */

/* The costliest function of the slowest copy that was not tried yet. */
static struct fp_divided *worst(struct dividing *d)
{
    uint32_t slowest = fp_most_loaded(d->loads, d->options->ncopies);
    struct fp_divided *found = NULL;
    for (size_t k = 0; k < d->len; k++) {
        struct fp_divided *w = &d->all[k];
        if (w->part.kind != FP_PART_WHOLE || w->part.copy != slowest || w->tried) continue;
        if (!found || w->whole > found->whole) found = w;
    }
    return found && found->whole > 0.02 * d->loads[slowest] ? found : NULL;
}

static void refine_by_cuts(struct dividing *d)
{
    enum { ROUNDS = 32 };
    double *base = FP_NEW_ARRAY(d->arena, double, d->options->ncopies);
    double most = distribute_all(d);
    struct fp_divided *w;
    for (int i = 0; i < ROUNDS && (w = worst(d)); i++) {
        w->tried = true;
        if (!may_divide_paths(w->function)) continue;
        struct fp_part before = w->part;
        distribute(d, w, base);
        double load = fp_divide_by_cut(d->arena, w, base, d->options->ncopies);
        /* prefer turns where possible: they still help if another input makes more calls */
        bool turns = d->options->strategy == FP_STRATEGY_INVOCATIONS && may_take_turns(w->function);
        if (load < (turns ? 0.75 : 0.99) * most) {
            w->part.kind = FP_PART_PATHS;
            d->profitable++;
        } else {
            w->part = before;
        }
        most = distribute_all(d);
    }
}

/* ---- turns ---- */

static int by_whole(const void *a, const void *b)
{
    const struct fp_divided *x = *(struct fp_divided *const *)a,
                            *y = *(struct fp_divided *const *)b;
    if (x->whole != y->whole) return x->whole > y->whole ? -1 : 1;
    return (x > y) - (x < y);
}

/* Turns cost one operation per call in every copy, so they are for functions that make a
 * copy slow. Of the functions that gain by turns, sorted by cost, takes as many as lower the
 * largest load. Without a guide the hot functions are not known, and all of them take
 * turns. */
static void choose_turns(struct dividing *d)
{
    enum { MOST = 256 };
    struct fp_divided **list = FP_NEW_ARRAY(d->arena, struct fp_divided *, d->len);
    size_t n = 0, best = 0;
    for (size_t k = 0; k < d->len; k++)
        if (may_take_turns(d->all[k].function) && d->all[k].turns < 0.8 * d->all[k].whole)
            list[n++] = &d->all[k];
    if (n) qsort(list, n, sizeof *list, by_whole);
    if (n > MOST && d->options->guide) n = MOST;
    double least = distribute_all(d);
    for (size_t i = 0; i < n; i++) {
        list[i]->part.kind = FP_PART_TURNS;
        double most = d->options->guide ? distribute_all(d) : 0;
        if (most < least || !d->options->guide) {
            least = most;
            best = i + 1;
        }
    }
    for (size_t i = best; i < n; i++) list[i]->part.kind = FP_PART_WHOLE;
}

/* Operations of one call, by static weights. */
static double static_cost(const struct fp_function *f)
{
    struct fp_arena scratch = {0};
    const struct fp_part none = {0};
    const double *weights = weights_of(&scratch, f, &none);
    struct fp_plan *plan =
        fp_plan_make(&scratch, f->paths.numbering, weights, &(struct fp_plan_options){0});
    double cost = fp_plan_cost(plan, weights);
    fp_arena_free(&scratch);
    return cost;
}

/* The guide has seen one input. Functions that it found cold, or that do much in few calls,
 * take turns too: that costs little, and if another input makes them hot, the work is
 * shared. */
static void hedge(struct dividing *d)
{
    double most = d->loads[fp_most_loaded(d->loads, d->options->ncopies)];
    for (size_t k = 0; k < d->len; k++) {
        struct fp_divided *w = &d->all[k];
        double calls = (double)w->counts->entries;
        if (w->part.kind != FP_PART_WHOLE || !may_take_turns(w->function)) continue;
        if (calls > 0.0002 * most && calls > 0.01 * w->whole) continue;
        double cost = static_cost(w->function);
        if (1 + cost / d->options->ncopies < 0.7 * cost) w->part.kind = FP_PART_TURNS;
    }
}

/* The first calls of different functions are counted by different copies. */
static void stagger_turns(struct dividing *d)
{
    for (size_t k = 0; k < d->len; k++)
        if (d->all[k].part.kind == FP_PART_TURNS)
            d->all[k].part.copy = (uint32_t)k % d->options->ncopies;
}

/* ---- the whole program ---- */

static bool check_reference(const struct fp_program *p, const struct fp_divide_options *options,
                            struct fp_error *error)
{
    bool some = false, callees = false;
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct fp_function *f = &p->functions[i];
        if (f->flags & FP_FUNCTION_COPY)
            return fp_fail(error, p->path,
                           "is itself a copy of a division; divide the ordinary build");
        if (f->flags & FP_FUNCTION_CYCLES)
            return fp_fail(error, p->path, "measures cycles; build it with --fp-metric=count");
        some |= is_divided(f);
        callees |= (f->flags & FP_FUNCTION_CALLEES) != 0;
    }
    if (!some) return fp_fail(error, p->path, "has no path counters; build it with --fp-mode=path");
    if (options->strategy == FP_STRATEGY_P3 && !callees)
        return fp_fail(error, p->path,
                       "does not list its calls, which the strategy p3 asks about; "
                       "build it with --fp-callees");
    return true;
}

bool fp_divide(struct fp_arena *arena, const struct fp_program *reference,
               const struct fp_divide_options *options, struct fp_division *division,
               struct fp_error *error)
{
    struct dividing d = {.arena = arena, .reference = reference, .options = options};
    if (!check_reference(reference, options, error)) return false;
    make_all(&d);
    count_calls(&d);
    switch (options->strategy) {
    case FP_STRATEGY_P3: divide_p3(&d); break;
    case FP_STRATEGY_CUTS: refine_by_cuts(&d); break;
    case FP_STRATEGY_PROCEDURES: distribute_all(&d); break;
    case FP_STRATEGY_INVOCATIONS:
        choose_turns(&d);
        refine_by_cuts(&d);
        if (options->guide) hedge(&d);
        stagger_turns(&d);
        distribute_all(&d);
        break;
    }
    *division = (struct fp_division){
        .ncopies = options->ncopies,
        .strategy = options->strategy,
        .plain_labels = options->plain_labels,
        .profitable = d.profitable,
        .program = reference->path,
        .build_id = reference->build_id,
        .build_id_len = reference->build_id_len,
    };
    fp_table_init(&division->by_function, arena);
    for (size_t k = 0; k < d.len; k++) {
        fp_vec_push(arena, &division->parts, d.all[k].part);
        *fp_table_add(&division->by_function, d.all[k].part.function) = division->parts.len;
    }
    return true;
}

/* ---- what it costs ---- */

static double measured_turns(double whole, uint64_t entries, uint32_t start, uint32_t copy,
                             const struct fp_division *division)
{
    if (!entries) return 0;
    double mine = (double)turns_of(entries, copy, start, division->ncopies);
    return (double)entries + whole * mine / (double)entries;
}

static void add_part(struct fp_arena *scratch, const struct fp_function *f,
                     const struct fp_part *part, const struct fp_division *division,
                     const struct fp_flow_counts *counts, bool measured,
                     struct fp_division_cost *cost)
{
    const double *by_weights = weights_of(scratch, f, part);
    const double *weights = division->plain_labels ? NULL : by_weights;
    double plain = cost_of_whole(f, NULL, counts), weighted = cost_of_whole(f, by_weights, counts);
    double whole = weights ? weighted : plain;
    uint32_t sharers = 0;
    cost->plain += plain;
    cost->weighted += weighted;
    for (uint32_t i = 0; i < division->ncopies; i++) {
        if (!fp_part_concerns(part, i)) continue;
        sharers++;
        switch (part->kind) {
        case FP_PART_WHOLE: cost->loads[i] += whole; break;
        case FP_PART_TURNS:
            cost->loads[i] += measured
                                  ? measured_turns(whole, counts->entries, part->copy, i, division)
                                  : 1 + whole / division->ncopies;
            break;
        case FP_PART_PATHS:
            cost->loads[i] += fp_cost_of_paths(f, &part->edges[i], &part->laps[i], weights, counts);
            break;
        }
    }
    cost->divided += part->kind == FP_PART_PATHS && sharers > 1;
    cost->turns += part->kind == FP_PART_TURNS;
}

void fp_division_cost(struct fp_arena *arena, const struct fp_program *reference,
                      const struct fp_division *division, const struct fp_profile *measure,
                      struct fp_division_cost *cost)
{
    struct fp_arena scratch = {0};
    struct fp_matcher matcher;
    struct dividing d = {.arena = arena, .reference = reference};
    count_calls(&d);
    *cost = (struct fp_division_cost){.loads = FP_NEW_ARRAY(arena, double, division->ncopies)};
    if (measure) fp_matcher_init(&matcher, arena, measure);
    for (size_t i = 0; i < reference->nfunctions; i++) {
        const struct fp_function *f = &reference->functions[i];
        const struct fp_part *part =
            is_divided(f) ? fp_division_find(division, f->copy ? f->copy->reference : f->id) : NULL;
        if (!part) continue;
        cost->functions++;
        cost->candidates += has_one_call(&d.calls, f);
        add_part(&scratch, f, part, division, counts_of(&scratch, f, measure ? &matcher : NULL),
                 measure != NULL, cost);
        fp_arena_free(&scratch);
    }
}
