/* Verification: see verify.h. */
#include "paths/verify.h"

#include "paths/match.h"

struct verifier {
    struct fp_arena *arena;
    struct fp_arena scratch; /* per function */
    struct fp_verification *result;
    FP_VEC(struct fp_difference) differences;
};

static void differ(struct verifier *v, const struct fp_function *f, uint32_t edge,
                   uint64_t from_paths, uint64_t counted, const char *what)
{
    v->result->different++;
    if (v->differences.len == FP_MOST_DIFFERENCES) return;
    struct fp_difference difference = {f, edge, from_paths, counted, what};
    if (what) difference.what = fp_arena_strdup(v->arena, what);
    fp_vec_push(v->arena, &v->differences, difference);
}

static void compare(struct verifier *v, const struct fp_counts *paths,
                    const struct fp_counts *counters)
{
    const struct fp_function *f = paths->function;
    struct fp_edge_counts derived, counted;
    struct fp_error error = {0};
    v->result->functions++;
    if (!fp_edges_from_paths(&v->scratch, paths, &derived, &error) ||
        !fp_edges_from_counters(&v->scratch, counters, &counted, &error)) {
        differ(v, f, FP_NONE, 0, 0, error.what);
        return;
    }
    if (derived.entries != counted.entries)
        differ(v, f, FP_NONE, derived.entries, counted.entries, NULL);
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        if (f->paths.truncation->order.fate[e] == FP_FATE_DEAD) continue;
        v->result->edges++;
        if (derived.edges[e] != counted.edges[e])
            differ(v, f, e, derived.edges[e], counted.edges[e], NULL);
    }
}

static void verify_function(struct verifier *v, const struct fp_module *module,
                            const struct fp_function *f, const struct fp_matcher *others)
{
    struct fp_counts paths, counters;
    fp_profile_counts(&v->scratch, module, f, &paths);
    if (others) {
        const struct fp_function_ref *other = fp_matcher_find(others, f);
        if (!other || !(other->function->flags & FP_FUNCTION_EDGES)) {
            v->result->unmatched += paths.npaths != 0;
            return;
        }
        fp_profile_counts(&v->scratch, other->module, other->function, &counters);
    } else {
        if (!(f->flags & FP_FUNCTION_EDGES)) return;
        counters = paths;
    }
    compare(v, &paths, &counters);
}

bool fp_verify(struct fp_arena *arena, struct fp_profile *paths, struct fp_profile *edges,
               struct fp_verification *result, struct fp_error *error)
{
    struct verifier v = {.arena = arena, .result = result};
    *result = (struct fp_verification){0};
    for (size_t m = 0; m < paths->modules.len; m++) {
        const struct fp_module *module = paths->modules.at[m];
        struct fp_matcher matcher;
        if (edges != paths) fp_matcher_init_for(&matcher, arena, edges, module);
        for (size_t i = 0; i < module->program.nfunctions; i++) {
            const struct fp_function *f = &module->program.functions[i];
            /* sampled paths (pep) are not all paths: nothing to verify */
            if (!(f->flags & FP_FUNCTION_PATHS) || f->flags & FP_FUNCTION_SAMPLED) continue;
            verify_function(&v, module, f, edges != paths ? &matcher : NULL);
            fp_arena_free(&v.scratch);
        }
    }
    result->differences = v.differences.at;
    result->ndifferences = v.differences.len;
    if (result->functions) return true;
    const char *file = paths->files.len ? paths->files.at[0] : NULL;
    if (edges == paths)
        return fp_fail(error, file,
                       "no function has both path and edge counters; build with "
                       "--fp-mode=check, or give a path and an edge profile");
    return fp_fail(error, file,
                   "the two profiles have no function in common; are they of one program?");
}
