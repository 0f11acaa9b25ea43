/* What a profile of machine code says of places in the source: see codecounts.h. */
#include "gcov/codecounts.h"

#include "base/checked.h"
#include "gcov/sourcecounts.h"
#include "graph/dominators.h"
#include "paths/each.h"

#include <stdlib.h>

/* A block of a function at a place. */
struct code_at {
    uint32_t scope, line, column, block;
};

struct code_reading {
    struct fp_code_counts *out;
    struct fp_arena *scratch;
    const struct fp_function *function;
    const struct fp_edge_counts *edges;
    const uint32_t *dominators;
    uint32_t first_block; /* number of the function's block 0 */
    uint32_t *contexts;   /* per scope, FP_NONE where not made yet */
    uint32_t *mark;       /* per block: 1 + its index in the group at hand */
    FP_VEC(struct code_at) all;
};

static const char *plain_name(struct fp_arena *arena, const char *name)
{
    const char *dot = strchr(name, '.');
    return dot && dot != name ? fp_arena_strndup(arena, name, (size_t)(dot - name)) : name;
}

static struct fp_code_file *file_of(struct fp_code_counts *out, const char *name)
{
    uint64_t *index = fp_strtable_add(&out->by_file, name);
    if (!*index) {
        struct fp_code_file file = {.name = fp_arena_strdup(out->arena, name)};
        fp_table_init(&file.by_place, out->arena);
        fp_vec_push(out->arena, &out->files, file);
        *index = out->files.len;
    }
    return &out->files.at[*index - 1];
}

static struct fp_code_place *place_of(struct fp_code_counts *out, struct fp_code_file *file,
                                      uint32_t line, uint32_t column)
{
    uint64_t *index = fp_table_add(&file->by_place, (uint64_t)line << 32 | column);
    if (!*index) {
        struct fp_code_place new = {.line = line, .column = column};
        fp_vec_push(out->arena, &file->places, new);
        *index = file->places.len;
    }
    return &file->places.at[*index - 1];
}

static uint32_t context_named(struct fp_code_counts *out, const char *name, uint32_t parent)
{
    struct fp_arena scratch = {0};
    uint64_t *index =
        fp_strtable_add(&out->by_context, fp_arena_printf(&scratch, "%u %s", parent, name));
    if (!*index) {
        struct fp_code_context new = {fp_arena_strdup(out->arena, name), parent};
        fp_vec_push(out->arena, &out->contexts, new);
        *index = out->contexts.len;
    }
    fp_arena_free(&scratch);
    return (uint32_t)*index - 1;
}

static uint32_t context_of(struct code_reading *r, uint32_t scope)
{
    const struct fp_scope *s = &r->function->source.scopes[scope];
    if (r->contexts[scope] != FP_NONE) return r->contexts[scope];
    uint32_t parent = FP_NONE;
    const char *name = r->function->name;
    if (s->parent != FP_NONE) {
        parent = context_of(r, s->parent);
        name = s->linkage && *s->linkage ? s->linkage : s->function;
    }
    return r->contexts[scope] = context_named(r->out, plain_name(r->scratch, name), parent);
}

/* ---- how often a statement ran that is in several blocks ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The nearest of the group that dominates a block of it; n: none. */
static size_t above(const struct code_reading *r, const struct code_at *group, size_t n, size_t i)
{
    uint32_t b = group[i].block;
    while (r->dominators[b] != FP_NONE && r->dominators[b] != b) {
        b = r->dominators[b];
        if (r->mark[b]) return r->mark[b] - 1;
    }
    return n;
}

/* The dominators of the group are a forest. */
static uint64_t executions(struct code_reading *r, const struct code_at *group, size_t n)
{
    struct fp_arena scratch = {0};
    size_t *parent = FP_NEW_ARRAY(&scratch, size_t, n);
    uint64_t *below = FP_NEW_ARRAY(&scratch, uint64_t, n), sum = 0;
    uint32_t *left = FP_NEW_ARRAY(&scratch, uint32_t, n); /* children that are not added yet */
    for (size_t i = 0; i < n; i++) r->mark[group[i].block] = (uint32_t)i + 1;
    for (size_t i = 0; i < n; i++)
        if ((parent[i] = above(r, group, n, i)) < n) left[parent[i]]++;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n && !left[k]; k = parent[k]) {
            uint64_t here = larger(below[k], r->edges->blocks[group[k].block]);
            left[k] = FP_NONE;
            if (parent[k] == n) {
                sum = fp_add_saturated(sum, here);
                break;
            }
            below[parent[k]] = fp_add_saturated(below[parent[k]], here);
            left[parent[k]]--;
        }
    for (size_t i = 0; i < n; i++) r->mark[group[i].block] = 0;
    fp_arena_free(&scratch);
    return sum;
}

static int by_place(const void *a, const void *b)
{
    const struct code_at *x = a, *y = b;
    if (x->scope != y->scope) return x->scope < y->scope ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static size_t same_place(const struct code_at *at, size_t n)
{
    size_t same = 1;
    while (same < n && at[same].scope == at->scope && at[same].line == at->line &&
           at[same].column == at->column)
        same++;
    return same;
}

static void add_use(struct code_reading *r, struct code_at *group, size_t n)
{
    const struct fp_scope *scope = &r->function->source.scopes[group->scope];
    struct fp_code_place *place =
        place_of(r->out, file_of(r->out, scope->file), group->line, group->column);
    struct fp_code_use use = {.context = context_of(r, group->scope),
                              .scope = r->first_block + group->scope,
                              .call_line = scope->call_line};
    size_t different = 1;
    for (size_t i = 1; i < n; i++)
        if (group[i].block != group[different - 1].block) group[different++] = group[i];
    for (size_t i = 0; i < different; i++)
        fp_vec_push(r->out->arena, &use.blocks, r->first_block + group[i].block);
    use.count = executions(r, group, different);
    fp_vec_push(r->out->arena, &place->uses, use);
}

static void find_places(struct code_reading *r)
{
    const struct fp_function *f = r->function;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        for (uint32_t i = 0; i < info->npositions; i++) {
            const struct fp_position *at = &f->source.positions[info->first_position + i];
            struct code_at one = {at->scope, at->line, at->column, b};
            if (at->line) fp_vec_push(r->scratch, &r->all, one);
        }
    }
    if (r->all.len) qsort(r->all.at, r->all.len, sizeof *r->all.at, by_place);
}

static void add_calls(struct code_reading *r)
{
    const struct fp_source *source = &r->function->source;
    for (uint32_t i = 0; i < source->ncalls; i++) {
        uint64_t count = r->edges->blocks[source->calls[i].block];
        if (!source->calls[i].callee || !count) continue;
        struct fp_code_call call = {
            fp_arena_strdup(r->out->arena, plain_name(r->scratch, r->function->name)),
            fp_arena_strdup(r->out->arena, plain_name(r->scratch, source->calls[i].callee)), count};
        fp_vec_push(r->out->arena, &r->out->calls, call);
    }
}

static void add_function(const struct fp_measured *measured, struct fp_arena *scratch,
                         void *context)
{
    struct fp_code_counts *out = context;
    const struct fp_function *f = measured->function;
    if (!measured->edges || !(f->flags & FP_FUNCTION_CODE) || !f->source.npositions) return;
    struct code_reading r = {.out = out,
                             .scratch = scratch,
                             .function = f,
                             .edges = measured->edges,
                             .first_block = (uint32_t)out->blocks.len};
    r.dominators = fp_cfg_dominators(scratch, f->paths.cfg);
    r.contexts = FP_NEW_ARRAY(scratch, uint32_t, f->source.nscopes);
    r.mark = FP_NEW_ARRAY(scratch, uint32_t, f->paths.cfg->nblocks);
    memset(r.contexts, 0xff, f->source.nscopes * sizeof *r.contexts);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        fp_vec_push(out->arena, &out->blocks, measured->edges->blocks[b]);
    add_calls(&r);
    find_places(&r);
    for (size_t i = 0, n; i < r.all.len; i += n) {
        n = same_place(&r.all.at[i], r.all.len - i);
        add_use(&r, &r.all.at[i], n);
    }
}

bool fp_code_counts_make(struct fp_arena *arena, const struct fp_profile *profile,
                         struct fp_code_counts *out)
{
    *out = (struct fp_code_counts){.arena = arena};
    fp_strtable_init(&out->by_file, arena);
    fp_strtable_init(&out->by_context, arena);
    fp_each_measured(profile, add_function, out);
    return out->blocks.len != 0;
}

/* ---- finding ---- */

const struct fp_code_file *fp_code_file_find(const struct fp_code_counts *counts, const char *name)
{
    const struct fp_code_file *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < counts->files.len; i++) {
        size_t same = fp_same_path_end(counts->files.at[i].name, name);
        if (same > most) most = same, best = &counts->files.at[i];
    }
    return best;
}

const struct fp_code_place *fp_code_place_find(const struct fp_code_file *file, uint32_t line,
                                               uint32_t column)
{
    const uint64_t *index =
        file ? fp_table_find(&file->by_place, (uint64_t)line << 32 | column) : NULL;
    return index ? &file->places.at[*index - 1] : NULL;
}
