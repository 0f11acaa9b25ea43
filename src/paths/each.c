/* Every measured function: see each.h. */
#include "paths/each.h"

static void measure(const struct fp_module *module, const struct fp_function *f,
                    struct fp_arena *scratch, fp_measured_callback *call, void *context)
{
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    fp_profile_counts(scratch, module, f, &counts);
    bool ok = fp_edges_of(scratch, &counts, &edges, &error);
    struct fp_measured measured = {module, f, &counts, ok ? &edges : NULL, ok ? NULL : error.what};
    call(&measured, scratch, context);
}

void fp_each_measured(const struct fp_profile *profile, fp_measured_callback *call, void *context)
{
    struct fp_arena scratch = {0};
    for (size_t m = 0; m < profile->modules.len; m++) {
        const struct fp_module *module = profile->modules.at[m];
        for (size_t i = 0; i < module->program.nfunctions; i++) {
            const struct fp_function *f = &module->program.functions[i];
            if (f->flags & FP_FUNCTION_SKIPPED) continue;
            measure(module, f, &scratch, call, context);
            fp_arena_free(&scratch);
        }
    }
}
