/* Functions that changed: see diffchanged.h. */
#include "paths/diffchanged.h"

#include "paths/edges.h"

bool fp_changed_pair_match(struct fp_arena *scratch, struct fp_changed_pair *p)
{
    if (!fp_versions_match(scratch, p->a, p->b, &p->versions)) return false;
    for (uint32_t b = 0; b < p->a->paths.cfg->nblocks; b++) {
        double count = (double)p->edges_a->blocks[b];
        p->total += count;
        if (p->versions.of_a.blocks[b] != FP_NONE) p->placed += count;
    }
    return true;
}

static double cost_of(const struct fp_function *f, const struct fp_path *path, uint64_t count)
{
    return (double)count * fp_path_instructions(f, path);
}

/* ---- paths ---- */

/* The path's id in the other version; FP_NO_ID where it is none there. */
static uint64_t id_in(struct fp_arena *scratch, const struct fp_function *other,
                      const struct fp_counterparts *parts, const struct fp_path *path,
                      struct fp_path *there)
{
    if (!fp_versions_path(scratch, parts, path, there)) return FP_NO_ID;
    return fp_path_encode(other->paths.numbering, there);
}

void fp_changed_pair_paths(struct fp_arena *scratch, struct fp_changed_pair *p,
                           void (*add)(void *context, const struct fp_diff_item *), void *context)
{
    struct fp_table of_b;
    struct fp_path path, there;
    fp_table_init(&of_b, scratch);
    for (size_t i = 0; i < p->counts_b->npaths; i++)
        *fp_table_add(&of_b, p->counts_b->paths[i].id) = p->counts_b->paths[i].count;
    struct fp_diff_item item = {.kind = FP_DIFF_PATH,
                                .a = p->a,
                                .b = p->b,
                                .near_id = FP_NO_ID,
                                .reshaped = true,
                                .confidence = -1};
    for (size_t i = 0; i < p->counts_a->npaths; i++) {
        const struct fp_path_count *one = &p->counts_a->paths[i];
        if (!fp_path_decode(scratch, p->a->paths.numbering, one->id, &path)) continue;
        item.id = one->id;
        item.id_b = id_in(scratch, p->b, &p->versions.of_a, &path, &there);
        item.cost_a = cost_of(p->a, &path, item.count_a = one->count);
        if (item.id_b == FP_NO_ID) {
            p->rest_a += item.cost_a;
            continue;
        }
        uint64_t *other = fp_table_find(&of_b, item.id_b);
        item.cost_b = cost_of(p->b, &there, item.count_b = other ? *other : 0);
        if (other) *other = 0;
        add(context, &item);
    }
    for (size_t i = 0; i < p->counts_b->npaths; i++) {
        item.id_b = p->counts_b->paths[i].id;
        item.count_b = *fp_table_find(&of_b, item.id_b);
        if (!item.count_b || !fp_path_decode(scratch, p->b->paths.numbering, item.id_b, &path))
            continue;
        item.cost_b = cost_of(p->b, &path, item.count_b);
        item.id = id_in(scratch, p->a, &p->versions.of_b, &path, &there);
        if (item.id == FP_NO_ID) {
            p->rest_b += item.cost_b;
            continue;
        }
        item.count_a = 0, item.cost_a = 0;
        add(context, &item);
    }
}

/* ---- edges ---- */

void fp_changed_pair_edges(struct fp_changed_pair *p,
                           void (*add)(void *context, const struct fp_diff_item *), void *context)
{
    for (uint32_t e = 0; e < p->a->paths.cfg->nedges; e++) {
        uint32_t other = p->versions.of_a.edges[e];
        if (other == FP_NONE) continue;
        uint64_t a = p->edges_a->edges[e], b = p->edges_b->edges[other];
        if (!a && !b) continue;
        struct fp_diff_item item = {.kind = FP_DIFF_EDGE,
                                    .a = p->a,
                                    .b = p->b,
                                    .edge = e,
                                    .count_a = a,
                                    .count_b = b,
                                    .cost_a = (double)a,
                                    .cost_b = (double)b,
                                    .reshaped = true,
                                    .confidence = -1};
        add(context, &item);
    }
}
