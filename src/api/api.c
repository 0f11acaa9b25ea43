/* libfootpath, opening and functions: see footpath/footpath.h. */
#include "api/handle.h"

#include "base/checked.h"
#include "base/names.h"
#include "base/table.h"
#include "combined/combinedview.h"

#include <stdlib.h>
#include <string.h>

int footpath_api_version(void)
{
    return FOOTPATH_API_VERSION;
}

static struct footpath *new_handle(const struct footpath_options *options)
{
    struct footpath *fp = calloc(1, sizeof *fp);
    if (!fp) abort();
    if (options->function) fp->filter = fp_arena_strdup(&fp->arena, options->function);
    fp->edges = options->edges;
    return fp;
}

void footpath_close(struct footpath *fp)
{
    if (!fp) return;
    fp_load_free(&fp->load);
    if (!fp->borrowed) {
        fp_profile_free(fp->profile);
        fp_combined_free(fp->combined);
        fp_combiner_free(fp->combiner);
    }
    fp_arena_free(&fp->scratch);
    fp_sources_free(&fp->sources);
    fp_arena_free(&fp->arena);
    free(fp);
}

/* ---- messages ---- */

static const char *text_of(struct footpath *fp, const struct fp_error *error)
{
    char text[1024];
    fp_error_text(error, text, sizeof text);
    return fp_arena_strdup(&fp->arena, text);
}

enum footpath_result footpath_status(const struct footpath *fp)
{
    return fp->load.result;
}

const char *footpath_error(const struct footpath *fp)
{
    return fp->load.error;
}

const struct footpath_warning *footpath_warnings(const struct footpath *fp, size_t *count)
{
    *count = fp->load.warnings.len;
    return fp->load.warnings.at;
}

/* ---- profiles of runs ---- */

static void add_module(struct footpath *fp, size_t i, const struct fp_module_id *id, uint64_t runs,
                       const struct fp_error *problem)
{
    fp->modules[i] = (struct footpath_module){.path = id->path,
                                              .build_id = id->build_id,
                                              .build_id_size = id->build_id_len,
                                              .runs = runs,
                                              .problem = problem ? text_of(fp, problem) : NULL};
}

static void add_modules(struct footpath *fp)
{
    const struct fp_profile *profile = fp->profile;
    fp->nmodules = profile->modules.len;
    fp->modules = FP_NEW_ARRAY(&fp->arena, struct footpath_module, fp->nmodules);
    for (size_t i = 0; i < fp->nmodules; i++) {
        const struct fp_module *module = profile->modules.at[i];
        add_module(fp, i, &module->id, module->runs,
                   module->have_program ? NULL : &module->problem);
    }
}

static const struct footpath_module *module_of(const struct footpath *fp,
                                               const struct fp_module *module)
{
    for (size_t i = 0; i < fp->nmodules; i++)
        if (fp->profile->modules.at[i] == module) return &fp->modules[i];
    return NULL;
}

/* What the map says of a function. */
static struct footpath_function described(const struct fp_function *f)
{
    return (struct footpath_function){
        .linkage_name = f->name,
        .file = f->file,
        .line = f->line,
        .address = f->source.address,
        .not_measured = f->flags & FP_FUNCTION_SKIPPED ? f->skipped : NULL,
        .has_paths = !!(f->flags & FP_FUNCTION_PATHS),
        .has_lines = f->source.npositions != 0,
        .nblocks = f->paths.cfg ? f->paths.cfg->nblocks : 0,
        .nedges = f->paths.cfg ? f->paths.cfg->nedges : 0,
        .cuts = f->paths.truncation ? f->paths.truncation->ncuts : 0,
        .doors = f->paths.truncation ? f->paths.truncation->ndoors : 0,
        .laps = f->paths.truncation ? f->paths.truncation->laps.len : 0,
        .possible_paths = f->paths.numbering ? f->paths.numbering->num_ids : 0};
}

static void add_function(struct footpath *fp, size_t i)
{
    const struct fp_report_function *rf = &fp->report->functions[i];
    struct footpath_function *f = &fp->shown[i];
    *f = described(rf->function);
    f->index = (uint32_t)i;
    f->module = module_of(fp, rf->module);
    f->calls = rf->calls;
    f->executed_paths = rf->executed_paths;
    f->path_count = rf->path_count;
    f->cost = rf->cost;
    fp->functions[i] = (struct fp_handle_function){
        .function = rf->function, .name = rf->name, .problem = rf->problem, .counts = rf->edges};
}

static void add_profile(struct footpath *fp)
{
    struct fp_report_options options = {
        .function = fp->filter, .edges = fp->edges, .unordered = true};
    fp->report = fp_report_make(&fp->arena, fp->profile, &options);
    add_modules(fp);
    fp->nfunctions = fp->report->nfunctions;
    fp->shown = FP_NEW_ARRAY(&fp->arena, struct footpath_function, fp->nfunctions);
    fp->functions = FP_NEW_ARRAY(&fp->arena, struct fp_handle_function, fp->nfunctions);
    for (size_t i = 0; i < fp->nfunctions; i++) add_function(fp, i);
}

struct footpath *fp_handle_of_profile(struct fp_profile *profile,
                                      const struct footpath_options *options)
{
    struct footpath *fp = new_handle(options);
    fp->borrowed = true;
    fp->profile = profile;
    add_profile(fp);
    return fp;
}

/* ---- combined profiles ---- */

static bool is_wanted(struct footpath *fp, const struct fp_combined_function *sum)
{
    return !fp->filter || strstr(sum->name, fp->filter) ||
           strstr(fp_demangle(&fp->scratch, sum->name), fp->filter);
}

static void add_up_events(const struct fp_combined_function *sum, struct footpath_function *shown)
{
    for (size_t i = 0; i < sum->events.len; i++) {
        const struct fp_event *event = &sum->events.at[i];
        if (event->kind == FP_EVENT_ENTRY) shown->calls = event->distribution.count;
        if (event->kind == FP_EVENT_PATH) shown->executed_paths++;
        if (event->kind == FP_EVENT_PATH || event->kind == FP_EVENT_PARTIAL)
            shown->path_count = fp_add_saturated(shown->path_count, event->distribution.count);
    }
}

static void add_combined(struct footpath *fp, const struct fp_function *const *functions)
{
    const struct fp_combined *c = fp->combined;
    struct fp_combined_function **sorted = fp_combined_sorted(&fp->arena, c);
    fp->shown = FP_NEW_ARRAY(&fp->arena, struct footpath_function, c->functions.len);
    fp->functions = FP_NEW_ARRAY(&fp->arena, struct fp_handle_function, c->functions.len);
    fp->place = FP_NEW_ARRAY(&fp->arena, uint32_t, c->functions.len);
    for (size_t i = 0; i < c->functions.len; i++) {
        const struct fp_combined_function *sum = sorted[i];
        const struct fp_function *f = functions[sum->index];
        fp->place[sum->index] = FP_NONE;
        if (!is_wanted(fp, sum)) continue;
        size_t at = fp->nfunctions++;
        struct footpath_function *shown = &fp->shown[at];
        if (f) *shown = described(f);
        shown->linkage_name = sum->name, shown->file = sum->file, shown->line = sum->line;
        shown->index = fp->place[sum->index] = (uint32_t)at;
        add_up_events(sum, shown);
        shown->has_paths = sum->trials[FP_TRIALS_PATHS] != 0;
        shown->possible_paths = sum->num_ids;
        fp->functions[at] = (struct fp_handle_function){.function = f, .sum = sum};
    }
    fp_arena_free(&fp->scratch);
}

static bool open_combined(struct footpath *fp)
{
    struct fp_load *load = &fp->load;
    fp->combiner = fp_combiner_new(&load->binary, load->binary != NULL);
    fp->combined =
        fp_load_combined(load, fp->combiner, fp_combined_bins(load->names, load->nnames));
    if (!fp->combined) return false;
    const struct fp_combined *c = fp->combined;
    struct fp_error *missing = FP_NEW_ARRAY(&fp->arena, struct fp_error, c->modules.len);
    const struct fp_function **functions =
        fp_combined_functions(&fp->arena, c, fp->combiner, missing);
    fp->files = FP_NEW_ARRAY(&fp->arena, const char *, load->nnames);
    for (size_t i = 0; i < load->nnames; i++)
        fp->files[i] = fp_arena_strdup(&fp->arena, load->names[i]);
    fp->nmodules = c->modules.len;
    fp->modules = FP_NEW_ARRAY(&fp->arena, struct footpath_module, fp->nmodules);
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_combined_module *m = &c->modules.at[i];
        struct fp_module_id id = {
            .path = m->path, .build_id = m->build_id, .build_id_len = m->build_id_len};
        add_module(fp, i, &id, m->runs, missing[i].set ? &missing[i] : NULL);
        if (missing[i].set) fp_load_warn(load, FOOTPATH_WARNING_NO_PROGRAM, &missing[i]);
    }
    add_combined(fp, functions);
    return true;
}

struct footpath *fp_handle_of_combined(struct fp_combined *combined,
                                       const struct fp_function *const *functions)
{
    struct footpath *fp = new_handle(&(struct footpath_options){0});
    fp->borrowed = true;
    fp->combined = combined;
    add_combined(fp, functions);
    return fp;
}

/* ---- opening ---- */

/* Names and binary stay the caller's. They are not looked at after opening. */
struct footpath *footpath_open(const struct footpath_options *options)
{
    struct footpath *fp = new_handle(options);
    struct fp_load *load = &fp->load;
    *load = (struct fp_load){.names = options->profiles,
                             .binary = options->binary,
                             .program = options->program,
                             .all_builds = options->all_programs,
                             .strict = options->strict};
    while (options->profiles && options->profiles[load->nnames]) load->nnames++;
    if (load->nnames && fp_is_combined(load->names[0]))
        open_combined(fp);
    else if ((fp->profile = fp_load_profile(load)))
        add_profile(fp);
    return fp;
}

const char *const *footpath_files(const struct footpath *fp, size_t *count)
{
    *count = fp->files ? fp->load.nnames : fp->report ? fp->profile->files.len : 0;
    return fp->files ? fp->files : fp->report ? fp->profile->files.at : NULL;
}

const struct footpath_module *footpath_modules(const struct footpath *fp, size_t *count)
{
    *count = fp->nmodules;
    return fp->modules;
}

static void summarize_combined(const struct fp_combined *c, struct footpath_summary *s)
{
    s->combined = 1;
    s->functions = c->functions.len;
    s->runs = c->runs;
    s->program = c->modules.len ? c->modules.at[0].path : NULL;
    s->bins = c->bins;
    s->left_out = c->left_out;
    s->left_out_why = c->left_out_why;
    for (size_t i = 0; i < c->functions.len; i++) {
        s->has_paths |= c->functions.at[i]->trials[FP_TRIALS_PATHS] != 0;
        for (size_t k = 0; k < c->functions.at[i]->events.len; k++)
            s->events[c->functions.at[i]->events.at[k].kind]++;
    }
}

/* By name: a program may have run in many folders. */
static uint64_t count_programs(const struct fp_profile *profile)
{
    struct fp_arena scratch = {0};
    struct fp_table seen;
    uint64_t count = 0;
    fp_table_init(&seen, &scratch);
    for (size_t i = 0; i < profile->runs.len; i++) {
        const char *program = profile->runs.at[i].program;
        uint64_t *known =
            program ? fp_table_add(&seen, fp_hash_string(fp_base_name(program))) : NULL;
        if (!known || *known) continue;
        *known = 1;
        count++;
    }
    fp_arena_free(&scratch);
    return count;
}

void footpath_summarize(struct footpath *fp, struct footpath_summary *s)
{
    *s = (struct footpath_summary){.files = fp->load.read, .files_skipped = fp->load.skipped};
    if (fp->combined) summarize_combined(fp->combined, s);
    if (!fp->report) return;
    for (size_t i = 0; i < fp->profile->modules.len; i++)
        s->functions += fp->profile->modules.at[i]->program.nfunctions;
    s->runs = fp_profile_run_count(fp->profile);
    s->program = fp->profile->runs.len ? fp->profile->runs.at[0].program : NULL;
    s->programs = count_programs(fp->profile);
    s->has_paths = fp->report->have_paths;
    s->cycles = fp->report->cycles;
    s->inclusive = fp->report->inclusive;
    s->call_costs = fp->report->call_costs;
    s->cost = fp->report->cost;
    s->path_count = fp->report->count;
}

/* ---- functions ---- */

const struct footpath_function *footpath_functions(const struct footpath *fp, size_t *count)
{
    *count = fp->nfunctions;
    return fp->shown;
}

int footpath_find(const struct footpath *fp, const char *linkage_name, const char *file,
                  const struct footpath_function **function)
{
    for (size_t i = 0; i < fp->nfunctions; i++) {
        const struct footpath_function *f = &fp->shown[i];
        if (strcmp(f->linkage_name, linkage_name)) continue;
        if (file && strcmp(fp_base_name(f->file), fp_base_name(file))) continue;
        *function = f;
        return 1;
    }
    return 0;
}

const char *footpath_name(struct footpath *fp, const struct footpath_function *function)
{
    struct fp_handle_function *f = &fp->functions[function->index];
    if (!f->name) f->name = fp_demangle(&fp->arena, function->linkage_name);
    return f->name;
}

uint64_t footpath_shape(const struct footpath *fp, const struct footpath_function *function)
{
    const struct fp_handle_function *f = &fp->functions[function->index];
    if (f->sum) return f->sum->shape;
    return f->function->paths.cfg ? fp_cfg_hash(f->function->paths.cfg) : 0;
}
