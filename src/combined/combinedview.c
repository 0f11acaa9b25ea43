/* Combined profiles as profiles: see combinedview.h. */
#include "combined/combinedview.h"

#include <stdlib.h>

static void free_view(void *owner)
{
    struct fp_combined_view *view = owner;
    fp_combined_free(view->combined);
    fp_combiner_free(view->combiner);
}

static int by_id(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void give_paths(struct fp_arena *arena, const struct fp_combined_function *cf,
                       struct fp_counts *counts)
{
    FP_VEC(struct fp_path_count) paths = {0};
    FP_VEC(struct fp_partial_path) partials = {0};
    for (size_t i = 0; i < cf->events.len; i++) {
        const struct fp_event *event = &cf->events.at[i];
        uint64_t count = event->distribution.count;
        if (event->kind == FP_EVENT_PATH && count &&
            event->id < counts->function->paths.numbering->num_ids)
            fp_vec_push(arena, &paths, (struct fp_path_count){event->id, count, 0});
        if (event->kind == FP_EVENT_PARTIAL && count &&
            event->block < counts->function->paths.cfg->nblocks)
            fp_vec_push(
                arena, &partials,
                (struct fp_partial_path){.block = event->block,
                                         .prefix = event->id,
                                         .count = count < INT64_MAX ? (int64_t)count : INT64_MAX});
    }
    if (paths.len) qsort(paths.at, paths.len, sizeof *paths.at, by_id);
    counts->paths = paths.at, counts->npaths = paths.len;
    counts->partials = partials.at, counts->npartials = partials.len;
}

static void give_flow(struct fp_arena *arena, const struct fp_combined_function *cf,
                      struct fp_counts *counts)
{
    const struct fp_flow *flow = counts->function->paths.flow;
    counts->flow = FP_NEW_ARRAY(arena, uint64_t, flow->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++) {
        bool entry = flow->edges[i].kind == FP_FLOW_ENTRY;
        if (!entry && flow->edges[i].kind != FP_FLOW_EDGE) continue;
        const struct fp_event *event = fp_combined_find(cf, entry ? FP_EVENT_ENTRY : FP_EVENT_EDGE,
                                                        0, entry ? 0 : flow->edges[i].cfg_edge);
        if (event) counts->flow[i] = event->distribution.count;
    }
}

void fp_combined_counts(struct fp_arena *arena, const struct fp_combined_function *cf,
                        const struct fp_function *f, struct fp_counts *counts)
{
    *counts = (struct fp_counts){.function = f};
    if (f->paths.numbering) give_paths(arena, cf, counts);
    if (f->flags & FP_FUNCTION_EDGES) give_flow(arena, cf, counts);
}

/* A function that several builds have in common is shown in the first alone. */
static void give_counts(struct fp_combined_view *view, struct fp_module *module,
                        struct fp_table *used)
{
    struct fp_arena *arena = &view->profile->arena;
    struct fp_counts *given = FP_NEW_ARRAY(arena, struct fp_counts, module->program.nfunctions);
    struct fp_combined_function *keys = fp_combine_keys(arena, &module->program);
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        given[i].function = &module->program.functions[i];
        const struct fp_function *f = given[i].function;
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        struct fp_combined_function *cf =
            keys[i].name ? fp_combined_lookup(view->combined, &keys[i]) : NULL;
        bool fresh = cf && !(*fp_table_add(used, (uintptr_t)cf))++;
        static const struct fp_combined_function nothing;
        fp_combined_counts(arena, fresh ? cf : &nothing, f, &given[i]);
        if (fresh) *fp_table_add(&view->of, (uintptr_t)f) = (uintptr_t)cf;
    }
    module->given = given;
}

static struct fp_module *add_module(struct fp_combined_view *view,
                                    const struct fp_combined_module *cm, struct fp_error *error)
{
    struct fp_arena *arena = &view->profile->arena;
    struct fp_module *module = FP_NEW(arena, struct fp_module);
    const struct fp_program *program = fp_combiner_program(view->combiner, cm, error);
    module->id = (struct fp_module_id){
        .path = cm->path, .build_id = cm->build_id, .build_id_len = cm->build_id_len};
    module->runs = cm->runs;
    module->have_program = program != NULL;
    if (program)
        module->program = *program;
    else
        module->problem = *error;
    struct fp_run about = {
        .runs = cm->runs, .host = "", .program = cm->path, .folder = "", .module = module->id};
    fp_vec_push(arena, &view->profile->modules, module);
    fp_vec_push(arena, &view->profile->runs, about);
    return module;
}

struct fp_combined_view *fp_combined_view_make(struct fp_combiner *combiner,
                                               struct fp_combined *combined, struct fp_error *error)
{
    struct fp_profile *profile = fp_profile_new();
    struct fp_combined_view *view = FP_NEW(&profile->arena, struct fp_combined_view);
    struct fp_arena scratch = {0};
    struct fp_table used;
    size_t found = 0;
    *view =
        (struct fp_combined_view){.profile = profile, .combined = combined, .combiner = combiner};
    profile->owner = view, profile->free_owner = free_view;
    fp_table_init(&view->of, &profile->arena);
    fp_table_init(&used, &scratch);
    for (size_t i = 0; i < combined->modules.len; i++) {
        struct fp_error why = {0};
        struct fp_module *module = add_module(view, &combined->modules.at[i], &why);
        if (module->have_program) give_counts(view, module, &used);
        if (!module->have_program && !error->set) *error = why;
        found += module->have_program;
    }
    fp_arena_free(&scratch);
    if (found) return view;
    if (!combined->modules.len) fp_fail(error, NULL, "the combined profile is of no program");
    fp_profile_free(profile);
    return NULL;
}

/* ---- functions of a combined profile ---- */

static void match_module(const struct fp_combined *c, const struct fp_program *program,
                         struct fp_arena *arena, const struct fp_function **functions)
{
    struct fp_combined_function *keys = fp_combine_keys(arena, program);
    for (size_t i = 0; i < program->nfunctions; i++) {
        if (!keys[i].name) continue;
        const struct fp_combined_function *f = fp_combined_lookup(c, &keys[i]);
        if (!f || (f->numbering && f->numbering != keys[i].numbering && keys[i].numbering))
            continue;
        const struct fp_function **slot = &functions[f->index];
        /* one that can decode paths is the better one */
        if (!*slot || !((*slot)->flags & FP_FUNCTION_PATHS)) *slot = &program->functions[i];
    }
}

const struct fp_function **fp_combined_functions(struct fp_arena *arena,
                                                 const struct fp_combined *c,
                                                 struct fp_combiner *combiner,
                                                 struct fp_error *missing)
{
    const struct fp_function **functions =
        FP_NEW_ARRAY(arena, const struct fp_function *, c->functions.len);
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_program *program =
            fp_combiner_program(combiner, &c->modules.at[i], &missing[i]);
        if (program) match_module(c, program, arena, functions);
    }
    return functions;
}

/* ---- distributions ---- */

const struct fp_distribution *fp_combined_view_path(const struct fp_combined_view *view,
                                                    const struct fp_function *f, uint64_t id)
{
    const uint64_t *cf = fp_table_find(&view->of, (uintptr_t)f);
    if (!cf) return NULL;
    const struct fp_event *event =
        fp_combined_find((const struct fp_combined_function *)(uintptr_t)*cf, FP_EVENT_PATH, 0, id);
    return event ? &event->distribution : NULL;
}

/* The paper's sum of squared deviations, back to one of squares. */
struct fp_spread fp_combined_view_spread(const void *context, const struct fp_function *f,
                                         uint64_t id)
{
    const struct fp_combined_view *view = context;
    const struct fp_distribution *d = fp_combined_view_path(view, f, id);
    const uint64_t *cf = fp_table_find(&view->of, (uintptr_t)f);
    if (!cf) return (struct fp_spread){0};
    uint64_t trials =
        ((const struct fp_combined_function *)(uintptr_t)*cf)->trials[FP_TRIALS_PATHS];
    if (!d) return (struct fp_spread){.n = (double)trials};
    double n = (double)d->trials;
    return (struct fp_spread){n, d->sum, n > 0 ? d->squares + d->sum * d->sum / n : 0};
}
