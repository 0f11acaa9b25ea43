/* Statistics of paths: see stats.h. */
#include "paths/stats.h"

#include "paths/match.h"
#include "base/checked.h"

/* ---- prediction ---- */

/* Is the edge the most frequent way out of its source? */
static bool is_heaviest(const struct fp_cfg *cfg, const struct fp_edge_counts *edges, uint32_t edge)
{
    uint32_t src = cfg->edges[edge].src;
    for (uint32_t e = cfg->first_out[src]; e < cfg->first_out[src + 1]; e++)
        if (edges->edges[e] > edges->edges[edge]) return false;
    return true;
}

void fp_predict(const struct fp_function *f, const struct fp_edge_counts *edges,
                const struct fp_path *path, struct fp_prediction *out)
{
    *out = (struct fp_prediction){.instructions = f->source.blocks[path->first_block].instructions};
    for (uint32_t i = 0; i < path->nedges; i++) {
        if (!is_heaviest(f->paths.cfg, edges, path->edges[i])) return;
        out->edges++;
        out->instructions += f->source.blocks[f->paths.cfg->edges[path->edges[i]].dst].instructions;
    }
    if (path->end_edge != FP_NONE) {
        if (!is_heaviest(f->paths.cfg, edges, path->end_edge)) return;
        out->edges++;
    }
    out->correct = true;
}

/* ---- one profile ---- */

static void add_length(struct fp_lengths *lengths, uint64_t edges, uint64_t instructions,
                       uint64_t count)
{
    if (edges > lengths->longest_edges) lengths->longest_edges = edges;
    if (instructions > lengths->longest_instructions) lengths->longest_instructions = instructions;
    lengths->sum_edges += (double)edges * (double)count;
    lengths->sum_instructions += (double)instructions * (double)count;
}

static uint64_t instructions_of(const struct fp_function *f, const struct fp_path *path)
{
    uint64_t sum = f->source.blocks[path->first_block].instructions;
    for (uint32_t i = 0; i < path->nedges; i++)
        sum += f->source.blocks[f->paths.cfg->edges[path->edges[i]].dst].instructions;
    return sum;
}

static void add_path(struct fp_stats *stats, const struct fp_measured *m,
                     const struct fp_path *path, uint64_t count)
{
    struct fp_prediction prediction;
    uint64_t edges = path->nedges + (path->end_edge != FP_NONE);
    add_length(&stats->lengths, edges, instructions_of(m->function, path), count);
    fp_predict(m->function, m->edges, path, &prediction);
    add_length(&stats->predicted, prediction.edges, prediction.instructions, count);
    stats->correct_paths += prediction.correct;
    if (prediction.correct) stats->correct_flow = fp_add_saturated(stats->correct_flow, count);
    stats->flow = fp_add_saturated(stats->flow, count);
}

static void add_function(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    (void)scratch;
    struct fp_stats *stats = context;
    struct fp_arena decoding = {0};
    if (!(m->function->flags & FP_FUNCTION_PATHS) || !m->edges) return;
    stats->functions++;
    stats->routines += m->counts->npaths != 0;
    stats->cuts += m->counts->npaths ? m->function->paths.truncation->ncuts : 0;
    stats->doors += m->counts->npaths ? m->function->paths.truncation->ndoors : 0;
    stats->paths += m->counts->npaths;
    stats->potential = fp_add_saturated(stats->potential, m->function->paths.numbering->num_ids);
    if (m->counts->npaths > stats->most_paths) stats->most_paths = m->counts->npaths;
    for (size_t i = 0; i < m->counts->npaths; i++) {
        struct fp_path path;
        if (fp_path_decode(&decoding, m->function->paths.numbering, m->counts->paths[i].id, &path))
            add_path(stats, m, &path, m->counts->paths[i].count);
        if (decoding.total > 1 << 20) fp_arena_free(&decoding);
    }
    fp_arena_free(&decoding);
}

void fp_stats_of(const struct fp_profile *profile, struct fp_stats *stats)
{
    *stats = (struct fp_stats){0};
    fp_each_measured(profile, add_function, stats);
}

/* ---- two profiles ---- */

struct comparing {
    struct fp_common *common;
    struct fp_matcher matcher; /* of the other */
};

static void compare_paths(struct fp_common *common, const struct fp_measured *m,
                          const struct fp_function_ref *other, struct fp_arena *scratch)
{
    struct fp_counts counts = {0};
    struct fp_table taken;
    struct fp_arena decoding = {0};
    fp_table_init(&taken, scratch);
    if (other) fp_profile_counts(scratch, other->module, other->function, &counts);
    for (size_t i = 0; i < counts.npaths; i++) *fp_table_add(&taken, counts.paths[i].id) = 1;
    for (size_t i = 0; i < m->counts->npaths; i++) {
        struct fp_path path;
        uint64_t count = m->counts->paths[i].count;
        if (!fp_path_decode(&decoding, m->function->paths.numbering, m->counts->paths[i].id, &path))
            continue;
        double instructions = (double)instructions_of(m->function, &path) * (double)count;
        common->paths_here++;
        common->flow_here = fp_add_saturated(common->flow_here, count);
        common->instructions_here += instructions;
        uint64_t id = other ? fp_path_encode(other->function->paths.numbering, &path) : FP_NO_ID;
        if (id != FP_NO_ID && fp_table_find(&taken, id)) {
            common->paths++;
            common->flow = fp_add_saturated(common->flow, count);
            common->instructions += instructions;
        }
        if (decoding.total > 1 << 20) fp_arena_free(&decoding);
    }
    fp_arena_free(&decoding);
}

static void compare_function(const struct fp_measured *m, struct fp_arena *scratch, void *context)
{
    struct comparing *c = context;
    if (!(m->function->flags & FP_FUNCTION_PATHS) || !m->counts->npaths) return;
    const struct fp_function_ref *other = fp_matcher_find(&c->matcher, m->function);
    if (other && !(other->function->flags & FP_FUNCTION_PATHS)) other = NULL;
    if (other && fp_redefined(m->function, other->function)) {
        c->common->redefined++;
        return;
    }
    c->common->unmatched += !other;
    compare_paths(c->common, m, other, scratch);
}

void fp_stats_common(const struct fp_profile *profile, const struct fp_profile *other,
                     struct fp_common *common)
{
    struct fp_arena arena = {0};
    struct comparing c = {.common = common};
    *common = (struct fp_common){0};
    fp_matcher_init(&c.matcher, &arena, other);
    fp_each_measured(profile, compare_function, &c);
    fp_arena_free(&arena);
}
