/* Paths that ended at cuts and doors: see pathends.h. */
#include "paths/pathends.h"

#include "base/checked.h"

static void add_function(struct fp_arena *scratch, const struct fp_counts *counts,
                         struct fp_path_ends *ends)
{
    const struct fp_paths *paths = &counts->function->paths;
    const struct fp_truncation *t = paths->truncation;
    enum fp_cause *causes = fp_truncation_causes(scratch, paths->cfg, &t->order);
    for (size_t i = 0; i < counts->npaths; i++) {
        struct fp_path path;
        uint64_t count = counts->paths[i].count;
        ends->taken = fp_add_saturated(ends->taken, count);
        if (!t->ncuts && !t->ndoors) continue;
        if (!fp_path_decode(scratch, paths->numbering, counts->paths[i].id, &path)) continue;
        if (path.end != FP_ENDS_AT_EDGE) continue;
        enum fp_cause cause = causes[path.end_edge];
        if (cause == FP_CAUSE_CUT) ends->at_cuts = fp_add_saturated(ends->at_cuts, count);
        if (cause == FP_CAUSE_DOOR) ends->at_doors = fp_add_saturated(ends->at_doors, count);
    }
}

void fp_path_ends_of(const struct fp_module *module, struct fp_path_ends *ends)
{
    struct fp_arena scratch = {0};
    *ends = (struct fp_path_ends){0};
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        const struct fp_function *f = &module->program.functions[i];
        struct fp_counts counts;
        if (f->flags & FP_FUNCTION_SKIPPED || !(f->flags & FP_FUNCTION_PATHS)) continue;
        fp_profile_counts(&scratch, module, f, &counts);
        add_function(&scratch, &counts, ends);
        fp_arena_free(&scratch);
    }
}
