/* Drift from a guide: see guidedrift.h. */
#include "guide/guidedrift.h"

/* A guide does not say whether a path ends as a lap: the edge that ends it tells, in the graph
 * that the path is looked up in. */
static struct fp_path path_of(const struct fp_function *f, const struct fp_guide_path *known)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    struct fp_path path = {
        .start = known->from_entry ? FP_STARTS_AT_ENTRY : FP_STARTS_AT_EDGE,
        .end = known->end_edge == FP_NONE ? FP_ENDS_AT_EXIT : FP_ENDS_AT_EDGE,
        .first_block = known->first_block,
        .last_block =
            known->nedges ? cfg->edges[known->edges[known->nedges - 1]].dst : known->first_block,
        .end_edge = known->end_edge,
        .nedges = known->nedges,
        .edges = known->edges,
    };
    if (!f->paths.numbering || path.end == FP_ENDS_AT_EXIT) return path;
    if (fp_path_encode(f->paths.numbering, &path) == FP_NO_ID) path.end = FP_ENDS_AS_LAP;
    return path;
}

static enum fp_drift_match find(const struct fp_drift_other *other, struct fp_arena *arena,
                                const struct fp_function *f, struct fp_known *known)
{
    struct fp_guide_function found;
    switch (fp_guide_find(arena, other->context, f, f->id, &found)) {
    case FP_GUIDE_ABSENT: return FP_DRIFT_ABSENT;
    case FP_GUIDE_STALE: return FP_DRIFT_RESHAPED;
    case FP_GUIDE_FOUND: break;
    }
    *known = (struct fp_known){.entries = found.entries, .edges = found.edges};
    known->paths = FP_NEW_ARRAY(arena, struct fp_known_path, found.npaths);
    known->npaths = found.npaths;
    for (uint32_t i = 0; i < found.npaths; i++)
        known->paths[i] = (struct fp_known_path){path_of(f, &found.paths[i]), found.paths[i].count};
    return FP_DRIFT_SAME;
}

void fp_drift_against_guide(const struct fp_guide *guide, struct fp_drift_other *other)
{
    *other = (struct fp_drift_other){
        .find = find, .context = guide, .flow = (double)guide->summary.total};
}
