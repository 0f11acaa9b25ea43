/* libfootpath: see footpath/footpath.h. */
#include "footpath/footpath.h"

#include "paths/edges.h"

#include <stdlib.h>
#include <string.h>

struct measured {
    struct footpath_function shown;
    const struct fp_module *module;
    const struct fp_function *function;
    struct fp_path_count *paths; /* most frequent first */
    double cost;
};

struct footpath {
    struct fp_arena arena, scratch;
    struct fp_profile *profile;
    struct fp_error error;
    char message[768];
    FP_VEC(struct measured) functions;
};

/* ---- opening ---- */

static int by_count(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_cost(const void *a, const void *b)
{
    const struct measured *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return strcmp(x->shown.name, y->shown.name);
}

static struct footpath_edge *show_edges(struct fp_arena *arena, const struct fp_cfg *cfg,
                                        const uint64_t *counts)
{
    struct footpath_edge *edges = FP_NEW_ARRAY(arena, struct footpath_edge, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++)
        edges[e] = (struct footpath_edge){cfg->edges[e].src, cfg->edges[e].dst,
                                          (enum footpath_edge_kind)cfg->edges[e].kind, counts[e]};
    return edges;
}

static struct footpath_block *show_blocks(struct fp_arena *arena, const struct fp_function *f,
                                          const uint64_t *counts)
{
    struct footpath_block *blocks =
        FP_NEW_ARRAY(arena, struct footpath_block, f->paths.cfg->nblocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        blocks[b] = (struct footpath_block){counts[b], info->instructions, 0};
        if (info->npositions)
            blocks[b].line = f->source.positions[info->first_position + info->npositions - 1].line;
    }
    return blocks;
}

static bool measure(struct footpath *fp, struct measured *m)
{
    const struct fp_function *f = m->function;
    struct fp_counts counts;
    struct fp_edge_counts edges;
    fp_profile_counts(&fp->arena, m->module, f, &counts);
    if (!fp_edges_of(&fp->arena, &counts, &edges, &fp->error)) return false;
    m->paths = counts.paths;
    if (counts.npaths) qsort(counts.paths, counts.npaths, sizeof *counts.paths, by_count);
    m->shown.shape = fp_cfg_hash(f->paths.cfg);
    m->shown.calls = edges.entries;
    m->shown.possible_paths = f->paths.numbering ? f->paths.numbering->num_ids : 0;
    m->shown.npaths = counts.npaths;
    m->shown.nblocks = f->paths.cfg->nblocks;
    m->shown.nedges = f->paths.cfg->nedges;
    m->shown.edges = show_edges(&fp->arena, f->paths.cfg, edges.edges);
    m->shown.blocks = show_blocks(&fp->arena, f, edges.blocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        m->cost += (double)edges.blocks[b] * f->source.blocks[b].instructions;
    return true;
}

static bool add_module(struct footpath *fp, const struct fp_module *module)
{
    if (!module->have_program) {
        fp->error = module->problem;
        return false;
    }
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        const struct fp_function *f = &module->program.functions[i];
        struct measured m = {.module = module, .function = f};
        m.shown = (struct footpath_function){
            .name = f->name, .file = f->file, .line = f->line, .skipped = f->skipped};
        if (!(f->flags & FP_FUNCTION_SKIPPED) && !measure(fp, &m)) return false;
        fp_vec_push(&fp->arena, &fp->functions, m);
    }
    return true;
}

static bool load(struct footpath *fp, const struct footpath_options *options)
{
    for (const char *const *name = options->profiles; name && *name; name++)
        if (!fp_profile_add(fp->profile, *name, &fp->error)) return false;
    if (!fp->profile->modules.len)
        return fp_fail(&fp->error, NULL, "no profile with a run was given");
    fp_profile_load_maps(fp->profile, options->binary);
    for (size_t i = 0; i < fp->profile->modules.len; i++)
        if (!add_module(fp, fp->profile->modules.at[i])) return false;
    if (fp->functions.len)
        qsort(fp->functions.at, fp->functions.len, sizeof *fp->functions.at, by_cost);
    return true;
}

struct footpath *footpath_open(const struct footpath_options *options)
{
    struct footpath *fp = calloc(1, sizeof *fp);
    if (!fp) abort();
    fp->profile = fp_profile_new();
    if (load(fp, options)) return fp;
    fp->functions.len = 0;
    fp_error_text(&fp->error, fp->message, sizeof fp->message);
    return fp;
}

void footpath_close(struct footpath *fp)
{
    if (!fp) return;
    fp_profile_free(fp->profile);
    fp_arena_free(&fp->scratch);
    fp_arena_free(&fp->arena);
    free(fp);
}

const char *footpath_error(const struct footpath *fp)
{
    return fp->message[0] ? fp->message : NULL;
}

/* ---- functions ---- */

size_t footpath_functions(struct footpath *fp)
{
    return fp->functions.len;
}

const struct footpath_function *footpath_function(struct footpath *fp, size_t index)
{
    return index < fp->functions.len ? &fp->functions.at[index].shown : NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t footpath_find(struct footpath *fp, const char *name, const char *file)
{
    for (size_t i = 0; i < fp->functions.len; i++) {
        const struct footpath_function *f = &fp->functions.at[i].shown;
        if (!strcmp(f->name, name) && (!file || !strcmp(last_part(f->file), last_part(file))))
            return i;
    }
    return FOOTPATH_NONE;
}

/* ---- paths ---- */

static void show_path(struct footpath *fp, const struct fp_function *f,
                      const struct fp_path *decoded, struct footpath_path *path)
{
    uint32_t *blocks = FP_NEW_ARRAY(&fp->scratch, uint32_t, (size_t)decoded->nedges + 1);
    blocks[0] = decoded->first_block;
    for (uint32_t i = 0; i < decoded->nedges; i++)
        blocks[i + 1] = f->paths.cfg->edges[decoded->edges[i]].dst;
    path->from_entry = decoded->start == FP_STARTS_AT_ENTRY;
    path->to_exit = decoded->end == FP_ENDS_AT_EXIT;
    path->end_edge = decoded->end_edge;
    path->nblocks = decoded->nedges + 1;
    path->blocks = blocks;
    path->edges = decoded->edges;
    for (uint32_t i = 0; i < path->nblocks; i++)
        path->instructions += f->source.blocks[blocks[i]].instructions;
}

int footpath_decode(struct footpath *fp, size_t function, uint64_t id, struct footpath_path *path)
{
    struct fp_path decoded;
    *path = (struct footpath_path){.id = id, .end_edge = FOOTPATH_NONE};
    if (function >= fp->functions.len) return -1;
    const struct measured *m = &fp->functions.at[function];
    fp_arena_free(&fp->scratch);
    if (!m->function->paths.numbering ||
        !fp_path_decode(&fp->scratch, m->function->paths.numbering, id, &decoded))
        return -1;
    for (size_t i = 0; i < m->shown.npaths; i++)
        if (m->paths[i].id == id) path->count = m->paths[i].count;
    show_path(fp, m->function, &decoded, path);
    return 0;
}

int footpath_path(struct footpath *fp, size_t function, size_t rank, struct footpath_path *path)
{
    struct fp_path decoded;
    *path = (struct footpath_path){.end_edge = FOOTPATH_NONE};
    if (function >= fp->functions.len || rank >= fp->functions.at[function].shown.npaths) return -1;
    const struct measured *m = &fp->functions.at[function];
    fp_arena_free(&fp->scratch);
    path->id = m->paths[rank].id;
    path->count = m->paths[rank].count;
    if (!fp_path_decode(&fp->scratch, m->function->paths.numbering, path->id, &decoded)) return -1;
    show_path(fp, m->function, &decoded, path);
    return 0;
}
