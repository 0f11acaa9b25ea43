/* libfootpath, blocks and edges: see footpath/footpath.h. */
#include "api/handle.h"
#include "model/sentence.h"

#include "base/checked.h"

/* A combined profile has every edge: nothing is to be recovered. */
static void count_combined(struct footpath *fp, struct fp_handle_function *f, uint64_t calls)
{
    const struct fp_cfg *cfg = f->function->paths.cfg;
    struct fp_edge_counts *counts = &f->counts;
    counts->entries = calls;
    counts->edges = FP_NEW_ARRAY(&fp->arena, uint64_t, cfg->nedges);
    counts->blocks = FP_NEW_ARRAY(&fp->arena, uint64_t, cfg->nblocks);
    counts->blocks[0] = calls;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        const struct fp_event *event = fp_combined_find(f->sum, FP_EVENT_EDGE, 0, e);
        uint64_t *block = &counts->blocks[cfg->edges[e].dst];
        counts->edges[e] = event ? event->distribution.count : 0;
        *block = fp_add_saturated(*block, counts->edges[e]);
    }
}

/* False where they cannot be counted. */
static bool count(struct footpath *fp, size_t index)
{
    struct fp_handle_function *f = &fp->functions[index];
    if (f->counts.edges || f->counts.blocks || f->problem) return !f->problem;
    if (!f->function || f->function->flags & FP_FUNCTION_SKIPPED) return false;
    if (f->sum) {
        count_combined(fp, f, fp->shown[index].calls);
    } else {
        struct fp_report_function *rf = &fp->report->functions[index];
        fp_report_edges(fp->report, rf);
        f->counts = rf->edges;
        f->problem = rf->problem;
    }
    return !f->problem;
}

static void make_edges(struct footpath *fp, struct fp_handle_function *f)
{
    const struct fp_cfg *cfg = f->function->paths.cfg;
    f->edges = FP_NEW_ARRAY(&fp->arena, struct footpath_edge, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++)
        f->edges[e] =
            (struct footpath_edge){cfg->edges[e].src, cfg->edges[e].dst,
                                   (enum footpath_edge_kind)cfg->edges[e].kind, f->counts.edges[e]};
}

static void make_blocks(struct footpath *fp, struct fp_handle_function *f)
{
    const struct fp_function *own = f->function;
    f->blocks = FP_NEW_ARRAY(&fp->arena, struct footpath_block, own->paths.cfg->nblocks);
    for (uint32_t b = 0; b < own->paths.cfg->nblocks; b++) {
        const struct fp_block_code *code = own->source.code ? &own->source.code[b] : NULL;
        f->blocks[b] = (struct footpath_block){.count = f->counts.blocks[b],
                                               .instructions = own->source.blocks[b].instructions,
                                               .first = fp_block_place(own, b, false),
                                               .last = fp_block_place(own, b, true),
                                               .bytes = code ? code->size : 0,
                                               .jump = code ? code->jump : NULL};
    }
}

const struct footpath_block *footpath_blocks(struct footpath *fp,
                                             const struct footpath_function *function)
{
    struct fp_handle_function *f = &fp->functions[function->index];
    if (!f->blocks && count(fp, function->index)) make_blocks(fp, f);
    return f->blocks;
}

const struct footpath_edge *footpath_edges(struct footpath *fp,
                                           const struct footpath_function *function)
{
    struct fp_handle_function *f = &fp->functions[function->index];
    if (!f->edges && count(fp, function->index)) make_edges(fp, f);
    return f->edges;
}

const char *footpath_problem(const struct footpath *fp, const struct footpath_function *function)
{
    return fp->functions[function->index].problem;
}

const char *footpath_branch(struct footpath *fp, const struct footpath_function *function,
                            uint32_t edge)
{
    const struct fp_handle_function *f = &fp->functions[function->index];
    return f->function && edge < function->nedges
               ? fp_edge_label_text(&fp->arena, f->function, edge)
               : "";
}

struct footpath_meaning footpath_meaning(struct footpath *fp,
                                         const struct footpath_function *function, uint32_t edge)
{
    const struct fp_handle_function *f = &fp->functions[function->index];
    return f->function && edge < function->nedges ? fp_edge_meaning(f->function, edge)
                                                  : (struct footpath_meaning){0};
}

const char *footpath_construct_name(enum footpath_construct construct)
{
    switch (construct) {
    case FOOTPATH_CONSTRUCT_IF: return "if";
    case FOOTPATH_CONSTRUCT_LOOP: return "loop";
    case FOOTPATH_CONSTRUCT_CHOICE: return "choice";
    case FOOTPATH_CONSTRUCT_VALUE: return "value";
    case FOOTPATH_CONSTRUCT_SWITCH: return "switch";
    case FOOTPATH_CONSTRUCT_NONE: break;
    }
    return "";
}

/* ---- source ---- */

void footpath_add_source_root(struct footpath *fp, const char *folder)
{
    struct fp_sources *s = &fp->sources;
    fp_vec_push(&s->arena, &s->roots, fp_arena_strdup(&s->arena, folder));
}

void footpath_add_source_map(struct footpath *fp, const char *before, const char *after)
{
    struct fp_sources *s = &fp->sources;
    struct fp_source_map map = {fp_arena_strdup(&s->arena, before),
                                fp_arena_strdup(&s->arena, after)};
    fp_vec_push(&s->arena, &s->maps, map);
}

const char *footpath_condition(struct footpath *fp, const struct footpath_function *function,
                               uint32_t edge)
{
    const struct fp_handle_function *f = &fp->functions[function->index];
    return f->function && edge < function->nedges
               ? fp_edge_condition(&fp->sources, f->function, edge)
               : NULL;
}

size_t footpath_changed_sources(const struct footpath *fp, const char **first)
{
    size_t changed = 0;
    *first = NULL;
    for (size_t i = 0; i < fp->sources.all.len; i++) {
        if (!fp->sources.all.at[i]->changed) continue;
        if (!changed++) *first = fp->sources.all.at[i]->name;
    }
    return changed;
}
