/* Guides from distributions over runs: see makeguide.h.
 *
 * The runs are combined first (combine.h), so that plain and combined profiles take the same
 * way. The frequency of a path is relative to the calls of its function. By the mean every
 * run weighs the same, however long it was. By the worst case a path counts as often per
 * call as in the run that took it most. Functions without path counters use the raw counts
 * of their edges. */
#include "combined/combine.h"
#include "paths/edges.h"
#include "guide/guidemaker.h"
#include "base/checked.h"

#include <stdlib.h>

/* Counts are scaled up: a function may be called less than once in the mean run. */
static const double SCALE = 1000;

struct averaging {
    struct fp_arena *arena;
    enum fp_guide_by by;
    const struct fp_function *f;
    struct fp_guide_function *out;
    uint64_t count;
};

static double frequency_of(const struct averaging *a, const struct fp_distribution *d)
{
    return a->by == FP_GUIDE_BY_WORST ? d->max : fp_distribution_mean(d);
}

static void add_edge(uint32_t edge, void *context)
{
    struct averaging *a = context;
    a->out->edges[edge] = fp_add_saturated(a->out->edges[edge], a->count);
}

static void add_path(struct averaging *a, const struct fp_event *event, double entries)
{
    struct fp_path path;
    if (!fp_path_decode(a->arena, a->f->paths.numbering, event->id, &path)) return;
    a->count = fp_count_from(frequency_of(a, &event->distribution) * entries);
    if (!a->count) return;
    fp_path_each_edge(a->f->paths.cfg, &path, add_edge, a);
    a->out->paths[a->out->npaths++] = (struct fp_guide_path){
        a->count,    path.start == FP_STARTS_AT_ENTRY,    path.first_block, path.end_edge,
        path.nedges, fp_guide_path_edges(a->arena, &path)};
}

static void add_raw_edge(struct averaging *a, const struct fp_event *event)
{
    const struct fp_distribution *d = &event->distribution;
    double count = a->by == FP_GUIDE_BY_WORST
                       ? (double)d->most
                       : (double)d->count / (double)(d->trials ? d->trials : 1);
    if (event->id < a->out->nedges) a->out->edges[event->id] = fp_count_from(count * SCALE);
}

static int more_frequent(const void *x, const void *y)
{
    uint64_t a = ((const struct fp_guide_path *)x)->count,
             b = ((const struct fp_guide_path *)y)->count;
    return (a < b) - (a > b);
}

static struct fp_guide_function average(struct fp_arena *arena, const struct fp_function *f,
                                        const struct fp_combined_function *from,
                                        enum fp_guide_by by)
{
    struct fp_guide_function out = fp_guide_identify(f);
    struct averaging a = {.arena = arena, .by = by, .f = f, .out = &out};
    double entries = 0;
    bool paths = f->flags & FP_FUNCTION_PATHS;
    out.edges = FP_NEW_ARRAY(arena, uint64_t, out.nedges);
    out.paths = FP_NEW_ARRAY(arena, struct fp_guide_path, from->events.len);
    for (size_t i = 0; i < from->events.len; i++)
        if (from->events.at[i].kind == FP_EVENT_ENTRY)
            entries = frequency_of(&a, &from->events.at[i].distribution) * SCALE;
    out.entries = fp_count_from(entries);
    for (size_t i = 0; i < from->events.len; i++) {
        const struct fp_event *event = &from->events.at[i];
        if (paths && event->kind == FP_EVENT_PATH) add_path(&a, event, entries);
        if (!paths && event->kind == FP_EVENT_EDGE) add_raw_edge(&a, event);
    }
    if (out.npaths) qsort(out.paths, out.npaths, sizeof *out.paths, more_frequent);
    if (out.npaths > FP_GUIDE_MOST_PATHS) out.npaths = FP_GUIDE_MOST_PATHS;
    return out;
}

static bool add_module(struct fp_guide_maker *m, struct fp_combiner *combiner,
                       const struct fp_combined *combined, const struct fp_combined_module *module,
                       enum fp_guide_by by, struct fp_error *error)
{
    const struct fp_program *program = fp_combiner_program(combiner, module, error);
    if (!program) return false;
    struct fp_combined_function *keys = fp_combine_keys(m->arena, program);
    for (size_t i = 0; i < program->nfunctions; i++) {
        if (!keys[i].name) continue;
        const struct fp_combined_function *from = fp_combined_lookup(combined, &keys[i]);
        struct fp_combined_function never = {0};
        fp_guide_maker_add(m, &program->functions[i],
                           average(m->arena, &program->functions[i], from ? from : &never, by));
    }
    return true;
}

bool fp_guide_make_by_runs(struct fp_arena *arena, const char *const *files, size_t nfiles,
                           const char *binary, enum fp_guide_by by, struct fp_new_guide *made,
                           struct fp_error *error)
{
    struct fp_combiner *combiner = fp_combiner_new(&binary, binary != NULL);
    struct fp_combined *combined = fp_combined_new(FP_DEFAULT_BINS);
    struct fp_guide_maker m = {.arena = arena, .made = made};
    struct fp_combine_notes notes;
    bool ok = true;
    *made = (struct fp_new_guide){0};
    for (size_t i = 0; ok && i < nfiles; i++)
        ok = fp_combine_file(combiner, combined, files[i], NULL, &notes, error);
    if (ok) fp_combined_settle(combined);
    for (size_t i = 0; ok && i < combined->modules.len; i++)
        ok = add_module(&m, combiner, combined, &combined->modules.at[i], by, error);
    if (ok) fp_guide_maker_finish(&m);
    fp_combined_free(combined);
    fp_combiner_free(combiner);
    return ok;
}
