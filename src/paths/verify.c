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

static void compare(struct verifier *v, const struct fp_function *f,
                    const struct fp_edge_counts *derived, const struct fp_edge_counts *counted)
{
    if (derived->entries != counted->entries)
        differ(v, f, FP_NONE, derived->entries, counted->entries, NULL);
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) {
        if (f->paths.truncation->order.fate[e] == FP_FATE_DEAD) continue;
        v->result->edges++;
        if (derived->edges[e] != counted->edges[e])
            differ(v, f, e, derived->edges[e], counted->edges[e], NULL);
    }
}

typedef bool edges_from(struct fp_arena *, const struct fp_counts *, struct fp_edge_counts *,
                        struct fp_error *);

static bool add_counts(struct verifier *v, edges_from *from, const struct fp_counts *counts,
                       struct fp_edge_counts *sum)
{
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    uint32_t nedges = counts->function->paths.cfg->nedges;
    if (!from(&v->scratch, counts, &edges, &error)) {
        differ(v, counts->function, FP_NONE, 0, 0, error.what);
        return false;
    }
    if (!sum->edges) sum->edges = FP_NEW_ARRAY(&v->scratch, uint64_t, nedges);
    sum->entries += edges.entries;
    for (uint32_t e = 0; e < nedges; e++) sum->edges[e] += edges.edges[e];
    return true;
}

static bool counts_paths(const struct fp_function *f)
{
    /* sampled paths (pep) are not all paths: nothing to verify */
    return f->flags & FP_FUNCTION_PATHS && !(f->flags & FP_FUNCTION_SAMPLED);
}

/* ---- a check build ---- */

static void verify_function(struct verifier *v, const struct fp_module *module,
                            const struct fp_function *f)
{
    struct fp_counts counts;
    struct fp_edge_counts derived = {0}, counted = {0};
    if (!counts_paths(f) || !(f->flags & FP_FUNCTION_EDGES)) return;
    fp_profile_counts(&v->scratch, module, f, &counts);
    v->result->functions++;
    if (add_counts(v, fp_edges_from_paths, &counts, &derived) &&
        add_counts(v, fp_edges_from_counters, &counts, &counted))
        compare(v, f, &derived, &counted);
    fp_arena_free(&v->scratch);
}

/* ---- two builds ---- */

/* Those of one name, file and shape together: a static function of a header is there once for each
 * source file, and nothing tells which is which in the other build. */
static void verify_functions(struct verifier *v, const struct fp_matcher *own,
                             const struct fp_matcher *others, const struct fp_function *first)
{
    struct fp_edge_counts derived = {0}, counted = {0};
    struct fp_counts counts;
    bool ok = true;
    size_t functions = 0, taken = 0;
    const struct fp_function_ref *ref = fp_matcher_first(own, first);
    if (ref->function != first) return; /* was looked at with the first one */
    for (; ref; ref = fp_matcher_next(own, ref)) {
        if (!counts_paths(ref->function)) continue;
        fp_profile_counts(&v->scratch, ref->module, ref->function, &counts);
        functions++;
        taken += counts.npaths != 0;
        ok = add_counts(v, fp_edges_from_paths, &counts, &derived) && ok;
    }
    for (ref = fp_matcher_first(others, first); ref; ref = fp_matcher_next(others, ref)) {
        if (!(ref->function->flags & FP_FUNCTION_EDGES)) continue;
        fp_profile_counts(&v->scratch, ref->module, ref->function, &counts);
        ok = add_counts(v, fp_edges_from_counters, &counts, &counted) && ok;
    }
    if (ok && derived.edges && !counted.edges) {
        v->result->unmatched += taken;
    } else {
        v->result->functions += functions;
        if (ok && derived.edges) compare(v, first, &derived, &counted);
    }
    fp_arena_free(&v->scratch);
}

static void verify_module(struct verifier *v, const struct fp_profile *edges,
                          const struct fp_module *module)
{
    struct fp_matcher own, others;
    fp_matcher_init_of(&own, v->arena, module);
    fp_matcher_init_for(&others, v->arena, edges, module);
    for (size_t i = 0; i < own.refs.len; i++)
        verify_functions(v, &own, &others, own.refs.at[i].function);
}

bool fp_verify(struct fp_arena *arena, struct fp_profile *paths, struct fp_profile *edges,
               struct fp_verification *result, struct fp_error *error)
{
    struct verifier v = {.arena = arena, .result = result};
    *result = (struct fp_verification){0};
    for (size_t m = 0; m < paths->modules.len; m++) {
        const struct fp_module *module = paths->modules.at[m];
        if (edges != paths) verify_module(&v, edges, module);
        for (size_t i = 0; edges == paths && i < module->program.nfunctions; i++)
            verify_function(&v, module, &module->program.functions[i]);
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
