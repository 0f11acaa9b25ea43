/* Edges from paths and from counters: see edges.h. */
#include "paths/edges.h"

#include "base/checked.h"

#include <inttypes.h>

void fp_path_each_edge(const struct fp_cfg *cfg, const struct fp_path *path,
                       void (*visit)(uint32_t edge, void *context), void *context)
{
    /* a block behind setjmp has this one in-edge; paths start there */
    if (path->start == FP_STARTS_AT_EDGE && path->end != FP_ENDS_AS_LAP) {
        uint32_t e = cfg->in_edges[cfg->first_in[path->first_block]];
        if (cfg->edges[e].kind == FP_EDGE_TWICE) visit(e, context);
    }
    for (uint32_t i = 0; i < path->nedges; i++) visit(path->edges[i], context);
    if (path->end_edge != FP_NONE && cfg->edges[path->end_edge].kind != FP_EDGE_TWICE)
        visit(path->end_edge, context);
}

/* Sums of whole paths stop at UINT64_MAX. Counts of partial paths may be negative and are added
 * modulo 2^64. */
struct edge_adding {
    uint64_t *edges;
    uint64_t count;
    bool wraps;
};

static uint64_t sum_of(const struct edge_adding *adding, uint64_t sum)
{
    return adding->wraps ? sum + adding->count : fp_add_saturated(sum, adding->count);
}

static void add_edge(uint32_t edge, void *context)
{
    struct edge_adding *adding = context;
    adding->edges[edge] = sum_of(adding, adding->edges[edge]);
}

static void add_path(const struct fp_cfg *cfg, const struct fp_path *path,
                     struct edge_adding adding, struct fp_edge_counts *out)
{
    fp_path_each_edge(cfg, path, add_edge, &adding);
    if (path->start == FP_STARTS_AT_ENTRY) out->entries = sum_of(&adding, out->entries);
}

static void count_blocks(struct fp_arena *arena, const struct fp_cfg *cfg,
                         struct fp_edge_counts *out)
{
    out->blocks = FP_NEW_ARRAY(arena, uint64_t, cfg->nblocks);
    out->blocks[0] = out->entries;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint64_t *block = &out->blocks[cfg->edges[e].dst];
        *block = fp_add_saturated(*block, out->edges[e]);
    }
}

bool fp_edges_from_paths(struct fp_arena *arena, const struct fp_counts *counts,
                         struct fp_edge_counts *out, struct fp_error *error)
{
    const struct fp_function *f = counts->function;
    struct fp_arena scratch = {0};
    struct fp_path path;
    bool ok = true;
    *out = (struct fp_edge_counts){.edges = FP_NEW_ARRAY(arena, uint64_t, f->paths.cfg->nedges)};
    for (size_t i = 0; ok && i < counts->npaths; i++) {
        if (fp_path_decode(&scratch, f->paths.numbering, counts->paths[i].id, &path))
            add_path(f->paths.cfg, &path,
                     (struct edge_adding){out->edges, counts->paths[i].count, false}, out);
        else
            ok = fp_fail(error, f->name, "no path has the number %" PRIu64, counts->paths[i].id);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    for (size_t i = 0; ok && i < counts->npartials; i++) {
        const struct fp_partial_path *partial = &counts->partials[i];
        if (fp_path_decode_partial(&scratch, f->paths.numbering, partial->block, partial->prefix,
                                   &path))
            add_path(f->paths.cfg, &path,
                     (struct edge_adding){out->edges, (uint64_t)partial->count, true}, out);
        else
            ok = fp_fail(error, f->name, "no path comes to block %u with the sum %" PRIu64,
                         partial->block, partial->prefix);
    }
    fp_arena_free(&scratch);
    count_blocks(arena, f->paths.cfg, out);
    return ok;
}

bool fp_edges_from_counters(struct fp_arena *arena, const struct fp_counts *counts,
                            struct fp_edge_counts *out, struct fp_error *error)
{
    const struct fp_function *f = counts->function;
    struct fp_arena scratch = {0};
    *out = (struct fp_edge_counts){.edges = FP_NEW_ARRAY(arena, uint64_t, f->paths.cfg->nedges)};
    if (!counts->flow) {
        count_blocks(arena, f->paths.cfg, out);
        return fp_fail(error, f->name, "has no edge counters");
    }
    uint64_t *flow = FP_NEW_ARRAY(&scratch, uint64_t, f->paths.flow->nedges);
    int64_t *left = FP_NEW_ARRAY(&scratch, int64_t, f->paths.cfg->nblocks);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) flow[i] = counts->flow[i];
    for (size_t i = 0; i < counts->npartials; i++)
        left[counts->partials[i].block] =
            fp_add_saturated_signed(left[counts->partials[i].block], counts->partials[i].count);
    bool ok = true;
    if (f->flags & FP_FUNCTION_CHORDS && !fp_flow_solve(f->paths.flow, flow, left))
        ok = fp_fail(error, f->name,
                     "its counters are no flow; was it left by exit or longjmp? use --fp-exits");
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) {
        const struct fp_flow_edge *edge = &f->paths.flow->edges[i];
        if (edge->kind == FP_FLOW_ENTRY) out->entries = flow[i];
        if (edge->kind == FP_FLOW_EDGE) out->edges[edge->cfg_edge] = flow[i];
    }
    fp_arena_free(&scratch);
    count_blocks(arena, f->paths.cfg, out);
    return ok;
}

bool fp_edges_of(struct fp_arena *arena, const struct fp_counts *counts, struct fp_edge_counts *out,
                 struct fp_error *error)
{
    if (counts->function->flags & FP_FUNCTION_PATHS)
        return fp_edges_from_paths(arena, counts, out, error);
    return fp_edges_from_counters(arena, counts, out, error);
}

double fp_path_instructions(const struct fp_function *f, const struct fp_path *path)
{
    double sum = f->source.blocks[path->first_block].instructions;
    for (uint32_t i = 0; i < path->nedges; i++)
        sum += f->source.blocks[f->paths.cfg->edges[path->edges[i]].dst].instructions;
    return sum;
}
