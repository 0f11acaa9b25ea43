/* Stale profiles: see staleguide.h. */
#include "guide/staleguide.h"

#include "base/table.h"

#include <stdlib.h>

/* The least share of the executions that must find a place. */
static const double enough = 0.5;

struct translating {
    struct fp_arena *arena;
    const struct fp_function *f;
    const struct fp_guide_function *old;
    uint32_t *old_of, *old_edges; /* per block and edge of f */
    uint32_t *now_of, *now_edges; /* the other way round */
};

static void match_version(struct translating *t, const struct fp_block_mark *marks)
{
    const struct fp_guide_version *v = &t->old->version;
    const struct fp_cfg *cfg = t->f->paths.cfg;
    struct fp_version old = {v->cfg, v->marks}, now = {cfg, marks};
    t->old_of = fp_match_blocks(t->arena, &old, &now);
    t->old_edges = fp_match_edges(t->arena, v->cfg, cfg, t->old_of);
    t->now_of = fp_match_turned(t->arena, t->old_of, cfg->nblocks, v->cfg->nblocks);
    t->now_edges = fp_match_turned(t->arena, t->old_edges, cfg->nedges, v->cfg->nedges);
}

/* ---- paths: those of which every edge is still there ---- */

static bool translate_path(const struct translating *t, const struct fp_guide_path *old,
                           struct fp_guide_path *now)
{
    *now = *old;
    now->first_block = t->now_of[old->first_block];
    now->edges = FP_NEW_ARRAY(t->arena, uint32_t, old->nedges);
    if (now->first_block == FP_NONE) return false;
    if (old->end_edge != FP_NONE) now->end_edge = t->now_edges[old->end_edge];
    if (old->end_edge != FP_NONE && now->end_edge == FP_NONE) return false;
    for (uint32_t i = 0; i < old->nedges; i++) {
        now->edges[i] = t->now_edges[old->edges[i]];
        if (now->edges[i] == FP_NONE) return false;
    }
    return true;
}

static void translate_paths(const struct translating *t, struct fp_guide_function *found)
{
    found->npaths = 0;
    found->paths = FP_NEW_ARRAY(t->arena, struct fp_guide_path, t->old->npaths);
    for (uint32_t i = 0; i < t->old->npaths; i++)
        found->npaths += translate_path(t, &t->old->paths[i], &found->paths[found->npaths]);
}

/* ---- values: by the place of the call among those of its block ---- */

static uint32_t rank_in_block(const struct fp_value_sites *sites, uint32_t site)
{
    uint32_t rank = 0;
    for (uint32_t i = site; i-- && sites->blocks[i] == sites->blocks[site];) rank++;
    return rank;
}

static uint32_t site_at(const struct fp_value_sites *sites, uint32_t block, uint32_t rank)
{
    for (uint32_t i = 0; i < sites->n; i++)
        if (sites->blocks[i] == block && rank-- == 0) return i;
    return FP_NONE;
}

static uint32_t translate_site(const struct translating *t, enum fp_value_kind kind, uint32_t site)
{
    const struct fp_value_sites *old = &t->old->version.sites[kind];
    if (site >= old->n || t->now_of[old->blocks[site]] == FP_NONE) return FP_NONE;
    return site_at(&t->f->sites[kind], t->now_of[old->blocks[site]], rank_in_block(old, site));
}

static int by_site(const void *a, const void *b)
{
    const struct fp_guide_value *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return (x->count < y->count) - (x->count > y->count);
}

static void translate_values(const struct translating *t, struct fp_guide_function *found)
{
    found->nvalues = 0;
    found->values = FP_NEW_ARRAY(t->arena, struct fp_guide_value, t->old->nvalues);
    for (uint32_t i = 0; i < t->old->nvalues; i++) {
        struct fp_guide_value value = t->old->values[i];
        value.site = translate_site(t, value.kind, value.site);
        if (value.site != FP_NONE) found->values[found->nvalues++] = value;
    }
    if (found->nvalues) qsort(found->values, found->nvalues, sizeof *found->values, by_site);
}

/* ---- one version ---- */

static bool place(struct fp_arena *arena, const struct fp_function *f,
                  const struct fp_guide_function *old, const struct fp_block_mark *marks,
                  struct fp_guide_function *found, struct fp_guide_placed *placed)
{
    struct translating t = {.arena = arena, .f = f, .old = old};
    struct fp_placed out;
    match_version(&t, marks);
    struct fp_placement in = {old->version.cfg, f->paths.cfg, t.old_of,
                              t.old_edges,      old->entries, old->edges};
    if (!fp_place_counts(arena, &in, &out)) return false;
    placed->total = out.total;
    placed->placed = out.placed;
    *found = *old;
    found->nedges = f->paths.cfg->nedges;
    found->entries = out.entries;
    found->edges = out.edges;
    found->guessed = out.guessed;
    translate_paths(&t, found);
    translate_values(&t, found);
    return true;
}

/* It never ran under this name. */
static void never_ran(struct fp_arena *arena, const struct fp_function *f,
                      const struct fp_guide_function *old, struct fp_guide_function *found)
{
    *found = *old;
    found->nedges = f->paths.cfg->nedges;
    found->edges = FP_NEW_ARRAY(arena, uint64_t, found->nedges);
}

/* ---- searching ---- */

/* Of several versions the one with the most counts that find a place. */
static bool find_by_name(struct fp_arena *arena, const struct fp_guide *guide,
                         const struct fp_function *f, struct fp_guide_function *found,
                         struct fp_guide_placed *placed)
{
    uint64_t key = fp_name_key(f->name, f->file);
    struct fp_block_mark *marks = fp_function_marks(arena, f);
    bool some = false;
    for (size_t i = fp_guide_first(guide, key);
         i < guide->nfunctions && guide->functions[i].key == key; i++) {
        struct fp_guide_function old, here;
        struct fp_guide_placed at = {0};
        if (!(guide->functions[i].flags & FP_FUNCTION_EARLY)) continue;
        switch (fp_guide_read(arena, guide, i, &old)) {
        case FP_GUIDE_NO_VERSION: continue;
        case FP_GUIDE_NEVER_RAN:
            if (!some) never_ran(arena, f, &old, found);
            break;
        case FP_GUIDE_VERSION:
            if (!place(arena, f, &old, marks, &here, &at)) continue;
            if (at.placed >= placed->placed) *found = here, *placed = at;
            break;
        }
        some = true;
    }
    return some;
}

/* The one function of this content, wherever it was. */
static size_t find_content(const struct fp_guide *guide, const struct fp_function *f,
                           const struct fp_block_mark *marks)
{
    uint64_t content = fp_function_content(f, marks);
    size_t found = guide->nfunctions;
    for (size_t i = 0; content && i < guide->nfunctions; i++) {
        if (guide->functions[i].content != content) continue;
        if (found < guide->nfunctions) return guide->nfunctions;
        found = i;
    }
    return found;
}

static bool find_by_content(struct fp_arena *arena, const struct fp_guide *guide,
                            const struct fp_function *f, struct fp_guide_function *found,
                            struct fp_guide_placed *placed)
{
    struct fp_block_mark *marks = fp_function_marks(arena, f);
    struct fp_guide_function old;
    size_t index = find_content(guide, f, marks);
    placed->moved = true;
    return index < guide->nfunctions &&
           fp_guide_read(arena, guide, index, &old) == FP_GUIDE_VERSION &&
           place(arena, f, &old, marks, found, placed);
}

bool fp_guide_find_stale(struct fp_arena *arena, const struct fp_guide *guide,
                         const struct fp_function *f, enum fp_guide_match match,
                         struct fp_guide_function *found, struct fp_guide_placed *placed)
{
    bool some = false;
    *placed = (struct fp_guide_placed){0};
    switch (match) {
    case FP_GUIDE_FOUND: break;
    case FP_GUIDE_ABSENT: some = find_by_content(arena, guide, f, found, placed); break;
    case FP_GUIDE_STALE: some = find_by_name(arena, guide, f, found, placed); break;
    }
    return some && placed->placed >= enough * placed->total;
}
