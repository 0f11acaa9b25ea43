/* Versions of a function: see versions.h. */
#include "paths/versions.h"

#include "count/blockmarks.h"

bool fp_versions_match(struct fp_arena *arena, const struct fp_function *a,
                       const struct fp_function *b, struct fp_versions *versions)
{
    const struct fp_cfg *old = a->paths.cfg, *now = b->paths.cfg;
    if (!(a->flags & b->flags & FP_FUNCTION_CALLS)) return false;
    struct fp_version x = {old, fp_function_marks(arena, a)},
                      y = {now, fp_function_marks(arena, b)};
    struct fp_counterparts *of_a = &versions->of_a, *of_b = &versions->of_b;
    of_b->blocks = fp_match_blocks(arena, &x, &y);
    of_b->edges = fp_match_edges(arena, old, now, of_b->blocks);
    of_a->blocks = fp_match_turned(arena, of_b->blocks, now->nblocks, old->nblocks);
    of_a->edges = fp_match_turned(arena, of_b->edges, now->nedges, old->nedges);
    return true;
}

bool fp_versions_path(struct fp_arena *arena, const struct fp_counterparts *parts,
                      const struct fp_path *path, struct fp_path *other)
{
    *other = *path;
    other->first_block = parts->blocks[path->first_block];
    other->last_block = parts->blocks[path->last_block];
    if (other->first_block == FP_NONE || other->last_block == FP_NONE) return false;
    if (path->end_edge != FP_NONE) other->end_edge = parts->edges[path->end_edge];
    if (path->end_edge != FP_NONE && other->end_edge == FP_NONE) return false;
    other->edges = FP_NEW_ARRAY(arena, uint32_t, path->nedges);
    for (uint32_t i = 0; i < path->nedges; i++) {
        other->edges[i] = parts->edges[path->edges[i]];
        if (other->edges[i] == FP_NONE) return false;
    }
    return true;
}
