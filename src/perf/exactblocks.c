/* Exact counts of blocks: see exactblocks.h. */
#include "perf/exactblocks.h"

#include "paths/edges.h"

void fp_exact_blocks_init(struct fp_exact_blocks *exact, struct fp_arena *arena,
                          const struct fp_profile *profile)
{
    fp_matcher_init(&exact->matcher, arena, profile);
}

double *fp_exact_blocks_of(struct fp_arena *arena, const struct fp_exact_blocks *exact,
                           struct fp_edge_profile *p, const struct fp_machine_function *m)
{
    double *blocks = FP_NEW_ARRAY(arena, double, m->cfg->nblocks);
    struct fp_function identity = {0};
    fp_edge_profile_identity(p, m, &identity);
    const struct fp_function_ref *ref = fp_matcher_find(&exact->matcher, &identity);
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    if (!ref) return blocks;
    fp_profile_counts(arena, ref->module, ref->function, &counts);
    if (!fp_edges_of(arena, &counts, &edges, &error)) return blocks;
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) blocks[b] = (double)edges.blocks[b];
    return blocks;
}
