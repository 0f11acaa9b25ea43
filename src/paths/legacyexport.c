/* Counts to legacy packets. */
#include "paths/legacyexport.h"

#include "paths/edges.h"
#include "profile/legacy.h"
#include "profile/splitruns.h"

static bool legacy_edges(struct fp_arena *arena, const struct fp_module *module,
                         struct fp_writer *out, struct fp_error *error)
{
    size_t count;
    const struct fp_function **order = fp_legacy_order(arena, &module->program, &count);
    FP_VEC(uint64_t) all = {0};
    for (size_t i = 0; i < count; i++) {
        struct fp_counts counts;
        struct fp_edge_counts edges;
        size_t n;
        fp_profile_counts(arena, module, order[i], &counts);
        if (!fp_edges_of(arena, &counts, &edges, error)) return false;
        uint32_t *list = fp_legacy_edges(arena, order[i], &n);
        for (size_t k = 0; k < n; k++)
            fp_vec_push(arena, &all, list[k] == FP_NONE ? edges.entries : edges.edges[list[k]]);
    }
    fp_legacy_write_counts(out, FP_LEGACY_EDGES, all.at, all.len);
    return true;
}

static bool legacy_paths(struct fp_arena *arena, const struct fp_module *module,
                         struct fp_writer *out, struct fp_error *error)
{
    size_t count;
    const struct fp_function **order = fp_legacy_order(arena, &module->program, &count);
    FP_VEC(struct fp_legacy_function_paths) functions = {0};
    for (size_t i = 0; i < count; i++) {
        struct fp_counts counts;
        fp_profile_counts(arena, module, order[i], &counts);
        if (!counts.npaths) continue;
        struct fp_legacy_path_entry *entries =
            FP_NEW_ARRAY(arena, struct fp_legacy_path_entry, counts.npaths);
        for (size_t k = 0; k < counts.npaths; k++)
            entries[k] = (struct fp_legacy_path_entry){counts.paths[k].id, counts.paths[k].count};
        struct fp_legacy_function_paths one = {(uint32_t)i + 1, entries, counts.npaths};
        fp_vec_push(arena, &functions, one);
    }
    return fp_legacy_write_paths(out, functions.at, functions.len, error);
}

/* One set of packets. Without a run, or of several that were summed, there are no arguments that
 * the counts belong to. */
static bool export_set(const struct fp_profile *profile, bool paths, struct fp_writer *out,
                       struct fp_error *error)
{
    struct fp_arena arena = {0};
    const struct fp_module *module = profile->modules.at[0];
    const struct fp_run *run = profile->runs.len == 1 ? &profile->runs.at[0] : NULL;
    size_t name = run && run->runs == 1 && run->nargs; /* the program's name differs by build */
    bool known = run && run->runs == 1;
    if (profile->runs.len)
        fp_legacy_write_arguments(out, known ? run->args + name : NULL,
                                  known ? run->nargs - name : 0);
    bool ok =
        paths ? legacy_paths(&arena, module, out, error) : legacy_edges(&arena, module, out, error);
    fp_arena_free(&arena);
    return ok;
}

bool fp_legacy_export(const struct fp_profile *profile, bool paths, struct fp_writer *out,
                      struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_split split;
    if (profile->modules.len != 1)
        return fp_fail(error, NULL, "the legacy format holds one module, this profile has %zu",
                       profile->modules.len);
    fp_profile_split(&arena, profile, SIZE_MAX, &split);
    bool ok = true, apart = split.complete && split.runs.len > 1;
    for (size_t i = 0; ok && apart && i < split.runs.len; i++)
        ok = export_set(split.runs.at[i], paths, out, error);
    if (!apart) ok = export_set(profile, paths, out, error);
    fp_split_free(&split);
    fp_arena_free(&arena);
    return ok;
}
