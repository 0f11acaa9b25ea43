/* Counts of a first profile: see exeguide.h. */
#include "exe/exeguide.h"

#include "base/table.h"
#include "paths/edges.h"
#include "profile/profile.h"

struct guided {
    const struct fp_module *module;
    const struct fp_function *function;
};

struct fp_exe_guide {
    struct fp_profile *profile;
    struct fp_table at; /* key_of -> 1 + index of `functions` */
    FP_VEC(struct guided) functions;
};

static uint64_t key_of(const char *name, uint64_t address, const struct fp_cfg *cfg)
{
    return fp_hash64(fp_hash_string(name) ^ fp_hash64(address)) ^ fp_cfg_hash(cfg);
}

static void add_module(struct fp_arena *arena, struct fp_exe_guide *g, const struct fp_module *m)
{
    for (size_t i = 0; m->have_program && i < m->program.nfunctions; i++) {
        const struct fp_function *f = &m->program.functions[i];
        if (!(f->flags & FP_FUNCTION_CODE) || f->flags & FP_FUNCTION_SKIPPED) continue;
        fp_vec_push(arena, &g->functions, (struct guided){m, f});
        *fp_table_add(&g->at, key_of(f->name, f->source.address, f->paths.cfg)) = g->functions.len;
    }
}

struct fp_exe_guide *fp_exe_guide_open(struct fp_arena *arena, const char *path,
                                       struct fp_error *error)
{
    struct fp_exe_guide *g = FP_NEW(arena, struct fp_exe_guide);
    g->profile = fp_profile_new();
    fp_table_init(&g->at, arena);
    bool ok = fp_profile_add(g->profile, path, error);
    if (ok) fp_profile_load_maps(g->profile, NULL);
    for (size_t i = 0; ok && i < g->profile->modules.len; i++)
        add_module(arena, g, g->profile->modules.at[i]);
    if (ok && !g->functions.len)
        ok = fp_fail(error, path, "is no profile of a program that footpath exe made");
    if (ok) return g;
    fp_exe_guide_close(g);
    return NULL;
}

void fp_exe_guide_close(struct fp_exe_guide *g)
{
    fp_profile_free(g->profile);
}

uint64_t *fp_exe_guide_edges(struct fp_arena *arena, const struct fp_exe_guide *g,
                             const struct fp_machine_function *m, uint64_t *calls)
{
    const uint64_t *index =
        fp_table_find(&g->at, key_of(m->symbol->name, m->symbol->address, m->cfg));
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    struct fp_counts counts;
    if (!index) return NULL;
    const struct guided *found = &g->functions.at[*index - 1];
    fp_profile_counts(arena, found->module, found->function, &counts);
    if (!counts.npaths && !counts.npartials) return NULL;
    if (!fp_edges_of(arena, &counts, &edges, &error)) return NULL;
    *calls = edges.entries;
    return edges.edges;
}
