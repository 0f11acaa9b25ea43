/* The report model: see model.h. */
#include "report/model.h"

#include "report/json.h"

#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *name, char *room, size_t *len, int *status);

const char *fp_demangle(struct fp_arena *arena, const char *name)
{
    int status = 0;
    if (strncmp(name, "_Z", 2)) return name;
    char *text = __cxa_demangle(name, NULL, NULL, &status);
    const char *result = text && status == 0 ? fp_arena_strdup(arena, text) : name;
    free(text);
    return result;
}

const char *fp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- costs of paths ---- */

struct measure {
    const struct fp_function *f;
    uint32_t instructions, branches;
};

static void measure_block(struct measure *m, uint32_t block)
{
    m->instructions += m->f->blocks[block].instructions;
}

static void measure_edge(struct measure *m, uint32_t edge)
{
    m->branches += fp_cfg_out_degree(m->f->cfg, m->f->cfg->edges[edge].src) > 1;
}

static void measure_path(const struct fp_function *f, const struct fp_path *path,
                         struct fp_report_path *out)
{
    struct measure m = {.f = f};
    measure_block(&m, path->first_block);
    for (uint32_t i = 0; i < path->nedges; i++) {
        measure_edge(&m, path->edges[i]);
        measure_block(&m, f->cfg->edges[path->edges[i]].dst);
    }
    if (path->end_edge != FP_NONE) measure_edge(&m, path->end_edge);
    out->instructions = m.instructions;
    out->branches = m.branches;
}

/* ---- functions ---- */

struct maker {
    struct fp_report *report;
    const struct fp_report_options *options;
    struct fp_arena scratch;
    FP_VEC(struct fp_report_function) functions;
    FP_VEC(struct fp_report_path) paths;
};

static void add_path(struct maker *m, struct fp_report_function *rf, struct fp_report_path path,
                     const struct fp_path *decoded)
{
    measure_path(rf->function, decoded, &path);
    path.cost = path.cycles ? (double)path.cycles : (double)path.count * path.instructions;
    rf->cost += path.cost;
    rf->path_count += path.count;
    if (decoded->start == FP_STARTS_AT_ENTRY) rf->calls += path.count;
    fp_vec_push(m->report->arena, &m->paths, path);
}

static void add_paths(struct maker *m, struct fp_report_function *rf, const struct fp_counts *counts)
{
    struct fp_path decoded;
    uint32_t index = (uint32_t)m->functions.len;
    rf->first_path = m->paths.len;
    for (size_t i = 0; i < counts->npaths; i++) {
        const struct fp_path_count *one = &counts->paths[i];
        struct fp_report_path path = {.function = index, .id = one->id, .stop = FP_NONE,
                                      .count = one->count, .cycles = one->cycles};
        if (fp_path_decode(&m->scratch, rf->function->numbering, one->id, &decoded))
            add_path(m, rf, path, &decoded);
        if (m->scratch.total > 1 << 20) fp_arena_free(&m->scratch);
    }
    for (size_t i = 0; i < counts->npartials; i++) {
        const struct fp_partial_path *one = &counts->partials[i];
        struct fp_report_path path = {.function = index, .id = FP_NO_ID, .stop = one->block,
                                      .prefix = one->prefix, .count = (uint64_t)one->count};
        if (one->count > 0 && fp_path_decode_partial(&m->scratch, rf->function->numbering, one->block,
                                                     one->prefix, &decoded))
            add_path(m, rf, path, &decoded);
    }
    rf->executed_paths = counts->npaths;
    rf->npaths = m->paths.len - rf->first_path;
}

/* Without paths the cost is that of the blocks. */
static void add_block_costs(struct fp_report_function *rf)
{
    const struct fp_function *f = rf->function;
    rf->calls = rf->edges.entries;
    for (uint32_t b = 0; b < f->cfg->nblocks; b++)
        rf->cost += (double)rf->edges.blocks[b] * f->blocks[b].instructions;
}

static void add_function(struct maker *m, const struct fp_module *module, const struct fp_function *f)
{
    struct fp_report *report = m->report;
    struct fp_report_function rf = {.module = module, .function = f,
                                    .name = fp_plain(report->arena, fp_demangle(report->arena, f->name))};
    if (m->options->function && !strstr(rf.name, m->options->function)) return;
    if (!(f->flags & FP_FUNCTION_SKIPPED)) {
        struct fp_counts counts;
        struct fp_error error = {0};
        fp_profile_counts(&m->scratch, module, f, &counts);
        bool paths = f->flags & FP_FUNCTION_PATHS;
        if (f->flags & FP_FUNCTION_CYCLES) report->cycles = true;
        if (m->options->edges || !paths) {
            if (!fp_edges_of(report->arena, &counts, &rf.edges, &error))
                rf.problem = fp_arena_strdup(report->arena, error.what);
        }
        if (paths)
            add_paths(m, &rf, &counts);
        else
            add_block_costs(&rf);
        report->have_paths |= paths;
        fp_arena_free(&m->scratch);
    }
    report->cost += rf.cost;
    report->count += rf.path_count;
    fp_vec_push(report->arena, &m->functions, rf);
}

/* ---- order ---- */

static int more_costly(double a, double b)
{
    return (a < b) - (a > b);
}

static int paths_by_cost(const void *a, const void *b)
{
    const struct fp_report_path *x = a, *y = b;
    int order = more_costly(x->cost, y->cost);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int functions_by_cost(const void *a, const void *b)
{
    const struct fp_report_function *x = a, *y = b;
    int order = more_costly(x->cost, y->cost);
    if (!order) order = (x->calls < y->calls) - (x->calls > y->calls);
    return order ? order : strcmp(x->name, y->name);
}

static const struct fp_report_path *sorting; /* for by_cost: qsort has no context */

static int indexes_by_cost(const void *a, const void *b)
{
    const struct fp_report_path *x = &sorting[*(const uint32_t *)a], *y = &sorting[*(const uint32_t *)b];
    int order = more_costly(x->cost, y->cost);
    if (!order) order = (x->function > y->function) - (x->function < y->function);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void sort_all(struct fp_report *report)
{
    if (report->nfunctions)
        qsort(report->functions, report->nfunctions, sizeof *report->functions, functions_by_cost);
    for (size_t i = 0; i < report->nfunctions; i++) {
        struct fp_report_function *rf = &report->functions[i];
        if (rf->npaths)
            qsort(report->paths + rf->first_path, rf->npaths, sizeof *report->paths, paths_by_cost);
        for (size_t k = 0; k < rf->npaths; k++)
            report->paths[rf->first_path + k].function = (uint32_t)i;
    }
    report->by_cost = FP_NEW_ARRAY(report->arena, uint32_t, report->npaths);
    for (size_t i = 0; i < report->npaths; i++) report->by_cost[i] = (uint32_t)i;
    sorting = report->paths;
    if (report->npaths)
        qsort(report->by_cost, report->npaths, sizeof *report->by_cost, indexes_by_cost);
}

struct fp_report *fp_report_make(struct fp_arena *arena, struct fp_profile *profile,
                                 const struct fp_report_options *options)
{
    struct fp_report *report = FP_NEW(arena, struct fp_report);
    report->arena = arena;
    report->profile = profile;
    struct maker m = {.report = report, .options = options};
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_module *module = profile->modules.at[i];
        for (size_t k = 0; k < module->program.nfunctions; k++)
            add_function(&m, module, &module->program.functions[k]);
    }
    report->functions = m.functions.at;
    report->nfunctions = m.functions.len;
    report->paths = m.paths.at;
    report->npaths = m.paths.len;
    sort_all(report);
    fp_arena_free(&m.scratch);
    return report;
}

bool fp_report_decode(struct fp_arena *arena, const struct fp_report *report,
                      const struct fp_report_path *path, struct fp_path *decoded)
{
    const struct fp_numbering *n = report->functions[path->function].function->numbering;
    if (path->id != FP_NO_ID) return fp_path_decode(arena, n, path->id, decoded);
    return fp_path_decode_partial(arena, n, path->stop, path->prefix, decoded);
}
