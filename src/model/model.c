/* The report model: see model.h. */
#include "model/model.h"

#include "base/checked.h"
#include "graph/measure.h"
#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

/* ---- costs of paths ---- */

struct measure {
    const struct fp_function *f;
    uint32_t instructions, branches;
};

static void measure_block(struct measure *m, uint32_t block)
{
    m->instructions += m->f->source.blocks[block].instructions;
}

static void measure_edge(struct measure *m, uint32_t edge)
{
    m->branches += fp_cfg_out_degree(m->f->paths.cfg, m->f->paths.cfg->edges[edge].src) > 1;
}

static void measure_path(const struct fp_function *f, const struct fp_path *path,
                         struct footpath_path *out)
{
    struct measure m = {.f = f};
    measure_block(&m, path->first_block);
    for (uint32_t i = 0; i < path->nedges; i++) {
        measure_edge(&m, path->edges[i]);
        measure_block(&m, f->paths.cfg->edges[path->edges[i]].dst);
    }
    if (path->end_edge != FP_NONE) measure_edge(&m, path->end_edge);
    out->instructions = m.instructions;
    out->branches = m.branches;
}

/* ---- functions ---- */

struct model_maker {
    struct fp_report *report;
    struct fp_arena *arena; /* the report's */
    const struct fp_report_options *options;
    struct fp_arena counts;  /* of one function */
    struct fp_arena scratch; /* of one path, or a few */
    FP_VEC(struct fp_report_function) functions;
    FP_VEC(struct footpath_path) paths;
    double most; /* the greatest cost of a function */
    bool any, unmeasured_calls, ir_costs;
};

static void add_path(struct model_maker *m, struct fp_report_function *rf,
                     struct footpath_path path, bool at_entry)
{
    /* laps and paths that never ended took no cycles of their own: those are in the path around */
    bool cycles = rf->function->flags & FP_FUNCTION_CYCLES;
    path.cost = cycles ? (double)path.cycles : (double)path.count * path.instructions;
    rf->cost += path.cost;
    rf->path_count = fp_add_saturated(rf->path_count, path.count);
    if (at_entry) rf->calls = fp_add_saturated(rf->calls, path.count);
    fp_vec_push(m->arena, &m->paths, path);
}

static void add_whole_paths(struct model_maker *m, struct fp_report_function *rf,
                            const struct fp_counts *counts)
{
    const struct fp_function *f = rf->function;
    struct fp_path_measure *measures =
        FP_NEW_ARRAY(&m->scratch, struct fp_path_measure, counts->npaths);
    uint64_t *ids = FP_NEW_ARRAY(&m->scratch, uint64_t, counts->npaths);
    uint32_t *weights = FP_NEW_ARRAY(&m->scratch, uint32_t, f->paths.cfg->nblocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        weights[b] = f->source.blocks[b].instructions;
    for (size_t i = 0; i < counts->npaths; i++) ids[i] = counts->paths[i].id;
    fp_measure_paths(f->paths.numbering, weights, ids, counts->npaths, measures);
    fp_vec_reserve(m->arena, &m->paths, m->paths.len + counts->npaths);
    for (size_t i = 0; i < counts->npaths; i++) {
        const struct fp_path_count *one = &counts->paths[i];
        struct footpath_path path = {.function = (uint32_t)m->functions.len,
                                     .id = one->id,
                                     .stop = FP_NONE,
                                     .count = one->count,
                                     .cycles = one->cycles,
                                     .instructions = measures[i].weight,
                                     .branches = measures[i].branches};
        if (measures[i].known) add_path(m, rf, path, measures[i].at_entry);
    }
}

static void add_paths(struct model_maker *m, struct fp_report_function *rf,
                      const struct fp_counts *counts)
{
    struct fp_path decoded;
    uint64_t before_fork = 0; /* calls that are their parents', of paths that ended in children */
    rf->first_path = m->paths.len;
    add_whole_paths(m, rf, counts);
    for (size_t i = 0; i < counts->npartials; i++) {
        const struct fp_partial_path *one = &counts->partials[i];
        struct footpath_path path = {.function = (uint32_t)m->functions.len,
                                     .id = FP_NO_ID,
                                     .stop = one->block,
                                     .prefix = one->prefix,
                                     .count = (uint64_t)one->count};
        if (!fp_path_decode_partial(&m->scratch, rf->function->paths.numbering, one->block,
                                    one->prefix, &decoded))
            continue;
        bool at_entry = decoded.start == FP_STARTS_AT_ENTRY;
        if (one->count < 0 && at_entry) before_fork += 0 - (uint64_t)one->count;
        if (one->count <= 0) continue;
        measure_path(rf->function, &decoded, &path);
        add_path(m, rf, path, at_entry);
    }
    rf->calls -= before_fork < rf->calls ? before_fork : rf->calls;
    rf->executed_paths = counts->npaths;
    rf->npaths = m->paths.len - rf->first_path;
}

struct footpath_path *fp_report_paths_of(struct fp_arena *arena, const struct fp_counts *counts,
                                         uint32_t function, size_t *npaths)
{
    struct model_maker m = {.arena = arena};
    struct fp_report_function rf = {.function = counts->function};
    add_paths(&m, &rf, counts);
    for (size_t i = 0; i < m.paths.len; i++) m.paths.at[i].function = function;
    fp_arena_free(&m.scratch);
    *npaths = m.paths.len;
    return m.paths.at;
}

/* Without paths the cost is that of the blocks. */
static void add_block_costs(struct fp_report_function *rf)
{
    const struct fp_function *f = rf->function;
    rf->calls = rf->edges.entries;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        rf->cost += (double)rf->edges.blocks[b] * f->source.blocks[b].instructions;
}

/* The counts and the costs of a function. Its edges, if asked for, live in `arena`. */
static void measure_function(struct model_maker *m, struct fp_arena *arena,
                             struct fp_report_function *rf, bool edges)
{
    const struct fp_function *f = rf->function;
    struct fp_counts counts;
    struct fp_error error = {0};
    fp_profile_counts(&m->counts, rf->module, f, &counts);
    bool paths = f->flags & FP_FUNCTION_PATHS;
    if ((edges || !paths) && !fp_edges_of(arena, &counts, &rf->edges, &error))
        rf->problem = fp_arena_strdup(arena, error.what);
    if (paths)
        add_paths(m, rf, &counts);
    else
        add_block_costs(rf);
}

/* A function that is not asked for has a share of the cost, too: 100% is the whole program. */
static void add_function(struct model_maker *m, const struct fp_module *module,
                         const struct fp_function *f)
{
    struct fp_report *report = m->report;
    size_t npaths = m->paths.len;
    struct fp_report_function rf = {
        .module = module,
        .function = f,
        .name = fp_plain(report->arena, fp_demangle(report->arena, f->name))};
    bool wanted = !m->options->function || strstr(rf.name, m->options->function);
    if (!(f->flags & FP_FUNCTION_SKIPPED)) {
        measure_function(m, wanted ? report->arena : &m->scratch, &rf, wanted && m->options->edges);
        bool cycles = f->flags & FP_FUNCTION_CYCLES;
        report->cycles |= cycles;
        report->inclusive |= cycles && !(f->flags & FP_FUNCTION_OWN_CYCLES);
        if (!(f->flags & FP_FUNCTION_CALL_COSTS)) m->unmeasured_calls = true;
        if (!(f->flags & FP_FUNCTION_MACHINE)) m->ir_costs = true;
        m->any = true;
        report->have_paths |= wanted && f->flags & FP_FUNCTION_PATHS;
        fp_arena_free(&m->counts);
        fp_arena_free(&m->scratch);
    }
    if (rf.cost > m->most) m->most = rf.cost;
    report->cost += rf.cost;
    if (!wanted) {
        m->paths.len = npaths;
        return;
    }
    report->count = fp_add_saturated(report->count, rf.path_count);
    fp_vec_push(report->arena, &m->functions, rf);
}

void fp_report_edges(struct fp_report *report, struct fp_report_function *rf)
{
    struct fp_arena scratch = {0};
    struct fp_counts counts;
    struct fp_error error = {0};
    if (rf->edges.edges || rf->problem || rf->function->flags & FP_FUNCTION_SKIPPED) return;
    fp_profile_counts(&scratch, rf->module, rf->function, &counts);
    if (!fp_edges_of(report->arena, &counts, &rf->edges, &error))
        rf->problem = fp_arena_strdup(report->arena, error.what);
    fp_arena_free(&scratch);
}

/* ---- order ---- */

static int more_costly(double a, double b)
{
    return (a < b) - (a > b);
}

int fp_path_order(const struct footpath_path *a, const struct footpath_path *b)
{
    int order = more_costly(a->cost, b->cost);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int paths_by_cost(const void *a, const void *b)
{
    return fp_path_order(a, b);
}

static int functions_by_cost(const void *a, const void *b)
{
    const struct fp_report_function *x = a, *y = b;
    int order = more_costly(x->cost, y->cost);
    if (!order) order = (x->calls < y->calls) - (x->calls > y->calls);
    return order ? order : strcmp(x->name, y->name);
}

/* Of all paths: the cost beside the index, so that comparing does not reach for it. */
struct ranked_path {
    double cost;
    uint32_t function, index;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked_path *x = a, *y = b;
    int order = more_costly(x->cost, y->cost);
    if (!order) order = (x->function > y->function) - (x->function < y->function);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Puts the `keep` first in front, in any order: quickselect. */
static void select_first(struct ranked_path *all, size_t n, size_t keep)
{
    while (n > keep && n > 1) {
        /* not the last one, so that neither part is empty */
        struct ranked_path pivot = all[(n - 1) / 2];
        size_t low = 0, high = n;
        for (;; low++) {
            while (by_rank(&all[low], &pivot) < 0) low++;
            do high--;
            while (by_rank(&all[high], &pivot) > 0);
            if (low >= high) break;
            struct ranked_path swap = all[low];
            all[low] = all[high];
            all[high] = swap;
        }
        size_t left = high + 1; /* none of these comes behind the rest */
        if (keep < left) {
            n = left;
        } else {
            all += left;
            n -= left;
            keep -= left;
        }
        if (!keep) return;
    }
}

void fp_report_rank(struct fp_report *report, size_t top)
{
    struct fp_arena scratch = {0};
    struct ranked_path *all = FP_NEW_ARRAY(&scratch, struct ranked_path, report->npaths);
    size_t n = report->npaths, kept = top && top < n ? top : n;
    for (size_t i = 0; i < n; i++)
        all[i] =
            (struct ranked_path){report->paths[i].cost, report->paths[i].function, (uint32_t)i};
    if (kept < n) select_first(all, n, kept);
    if (kept) qsort(all, kept, sizeof *all, by_rank);
    report->by_cost = FP_NEW_ARRAY(report->arena, uint32_t, kept);
    report->nby_cost = kept;
    for (size_t i = 0; i < kept; i++) report->by_cost[i] = all[i].index;
    fp_arena_free(&scratch);
}

static void sort_all(struct fp_report *report, const struct fp_report_options *options)
{
    if (report->nfunctions)
        qsort(report->functions, report->nfunctions, sizeof *report->functions, functions_by_cost);
    for (size_t i = 0; i < report->nfunctions; i++) {
        struct fp_report_function *rf = &report->functions[i];
        if (rf->npaths && !options->unordered)
            qsort(report->paths + rf->first_path, rf->npaths, sizeof *report->paths, paths_by_cost);
        for (size_t k = 0; k < rf->npaths; k++)
            report->paths[rf->first_path + k].function = (uint32_t)i;
    }
    if (!options->unordered) fp_report_rank(report, 0);
}

struct fp_source_version fp_report_version(const struct fp_report *report, uint64_t sum)
{
    struct fp_source_version version = {.sum = sum};
    for (size_t i = 0; i < report->profile->modules.len; i++) {
        uint64_t start = report->profile->modules.at[i]->about.start_ns;
        if (start && (!version.ran_ns || start < version.ran_ns)) version.ran_ns = start;
    }
    return version;
}

struct fp_report *fp_report_make(struct fp_arena *arena, struct fp_profile *profile,
                                 const struct fp_report_options *options)
{
    struct fp_report *report = FP_NEW(arena, struct fp_report);
    report->arena = arena;
    report->profile = profile;
    report->sources = options->sources;
    struct model_maker m = {.report = report, .arena = arena, .options = options};
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_module *module = profile->modules.at[i];
        for (size_t k = 0; k < module->program.nfunctions; k++)
            add_function(&m, module, &module->program.functions[k]);
    }
    /* callees are in their callers: the whole is the most costly function, not the sum */
    if (report->inclusive) report->cost = m.most;
    report->machine = m.any && !m.ir_costs;
    report->call_costs = m.any && !m.unmeasured_calls;
    report->functions = m.functions.at;
    report->nfunctions = m.functions.len;
    report->paths = m.paths.at;
    report->npaths = m.paths.len;
    sort_all(report, options);
    fp_arena_free(&m.scratch);
    return report;
}

bool fp_path_decode_any(struct fp_arena *arena, const struct fp_numbering *numbering,
                        const struct footpath_path *path, struct fp_path *decoded)
{
    if (path->id != FP_NO_ID) return fp_path_decode(arena, numbering, path->id, decoded);
    return fp_path_decode_partial(arena, numbering, path->stop, path->prefix, decoded);
}

bool fp_report_decode(struct fp_arena *arena, const struct fp_report *report,
                      const struct footpath_path *path, struct fp_path *decoded)
{
    return fp_path_decode_any(arena, report->functions[path->function].function->paths.numbering,
                              path, decoded);
}
