/* Where a path of a difference parts from what the other side does: see diff.h. */
#include "paths/diff.h"

/* The edge that a path takes after its first n; FP_NONE where it leaves the function. */
static uint32_t edge_after(const struct fp_path *path, uint32_t n)
{
    return n < path->nedges ? path->edges[n] : path->end_edge;
}

bool fp_diff_parting(struct fp_arena *arena, const struct fp_diff_item *item,
                     struct fp_diff_parting *parting)
{
    const struct fp_function *mine = item->near_after ? item->a : item->b,
                             *other = item->near_after ? item->b : item->a;
    uint64_t id = item->near_after ? item->id : item->id_b;
    struct fp_path path, near;
    if (item->kind != FP_DIFF_PATH || item->reshaped || id == FP_NO_ID ||
        !fp_path_decode(arena, mine->paths.numbering, id, &path))
        return false;
    *parting = (struct fp_diff_parting){
        .function = mine, .edge = FP_NONE, .other_edge = FP_NONE, .block = path.first_block};
    if (item->near_id == FP_NO_ID ||
        !fp_path_decode(arena, other->paths.numbering, item->near_id, &near))
        return true;
    uint32_t n = 0;
    while (n < path.nedges && n < near.nedges && path.edges[n] == near.edges[n]) n++;
    parting->met = true;
    parting->shared = n;
    parting->edge = edge_after(&path, n);
    parting->other_edge = edge_after(&near, n);
    if (n) parting->block = mine->paths.cfg->edges[path.edges[n - 1]].dst;
    return true;
}
