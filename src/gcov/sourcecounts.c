/* What a profile says of source lines: see sourcecounts.h. */
#include "gcov/sourcecounts.h"

#include "base/checked.h"
#include "gcov/sourceorder.h"
#include "paths/each.h"

#include <stdlib.h>

/* A block of a function at a line. */
struct place {
    uint32_t scope, line, position; /* in the order of the function */
    struct fp_counted_block block;
};

struct places {
    FP_VEC(struct place) all;
};

static struct fp_counted_file *file_of(struct fp_source_counts *out, const char *name)
{
    uint64_t *index = fp_strtable_add(&out->by_file, name);
    if (!*index) {
        struct fp_counted_file file = {.name = fp_arena_strdup(out->arena, name)};
        fp_table_init(&file.by_line, out->arena);
        fp_strtable_init(&file.by_owner, out->arena);
        fp_vec_push(out->arena, &out->files, file);
        *index = out->files.len;
    }
    return &out->files.at[*index - 1];
}

/* A new one is the first of its line: nothing that was there changes. */
static struct fp_counted_line *line_of(struct fp_source_counts *out, struct fp_counted_file *file,
                                       uint32_t line, const char *owner)
{
    uint64_t *index =
        fp_strtable_add(&file->by_owner, fp_arena_printf(out->arena, "%u %s", line, owner));
    if (!*index) {
        uint64_t *first = fp_table_add(&file->by_line, line);
        struct fp_counted_line new = {
            .line = line, .next = (uint32_t)*first, .owner = fp_arena_strdup(out->arena, owner)};
        fp_vec_push(out->arena, &file->lines, new);
        *index = *first = file->lines.len;
    }
    return &file->lines.at[*index - 1];
}

static struct fp_counted_function *function_of(struct fp_source_counts *out, const char *name,
                                               const char *file)
{
    uint64_t *index =
        fp_strtable_add(&out->by_function, fp_arena_printf(out->arena, "%s %s", name, file));
    if (!*index) {
        struct fp_counted_function new = {.name = fp_arena_strdup(out->arena, name),
                                          .file = fp_arena_strdup(out->arena, file)};
        fp_vec_push(out->arena, &out->functions, new);
        *index = out->functions.len;
        uint64_t *first = fp_strtable_add(&out->by_name, name);
        if (!*first) *first = out->functions.len;
    }
    return &out->functions.at[*index - 1];
}

/* ---- lines ---- */

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->scope != y->scope) return x->scope < y->scope ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static uint64_t sum_of(const struct fp_counted_line *line)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < line->blocks.len; i++)
        sum = fp_add_saturated(sum, line->blocks.at[i].count);
    return sum;
}

/* A copy that has other blocks at the line cannot be added: the one that ran more often stays. */
static void add_copy(struct fp_counted_line *line, const struct fp_counted_line *copy)
{
    if (line->blocks.len != copy->blocks.len) {
        if (!line->blocks.len || sum_of(copy) > sum_of(line)) line->blocks = copy->blocks;
        return;
    }
    for (size_t i = 0; i < copy->blocks.len; i++)
        line->blocks.at[i].count =
            fp_add_saturated(line->blocks.at[i].count, copy->blocks.at[i].count);
}

static const char *owner_of(const struct fp_function *f, const struct fp_scope *scope)
{
    if (scope->parent == FP_NONE) return f->name;
    return scope->linkage && *scope->linkage ? scope->linkage : scope->function;
}

static void add_places(struct fp_source_counts *out, const struct fp_function *f,
                       const struct place *places, size_t n)
{
    const struct fp_scope *scope = &f->source.scopes[places->scope];
    struct fp_counted_line *line =
        line_of(out, file_of(out, scope->file), places->line, owner_of(f, scope));
    struct fp_counted_line copy = {0};
    for (size_t i = 0; i < n; i++) fp_vec_push(out->arena, &copy.blocks, places[i].block);
    add_copy(line, &copy);
}

static size_t same_line(const struct place *places, size_t n)
{
    size_t same = 1;
    while (same < n && places[same].scope == places->scope && places[same].line == places->line)
        same++;
    return same;
}

static void add_block(const struct fp_function *f, uint32_t block, uint32_t position,
                      uint64_t count, struct places *places, struct fp_arena *scratch)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    uint32_t last = 0;
    for (uint32_t i = 0; i < info->npositions; i++) {
        const struct fp_position *at = &f->source.positions[info->first_position + i];
        if (!at->line || at->line == last) continue;
        last = at->line;
        struct fp_counted_block one = {count, fp_cfg_out_degree(f->paths.cfg, block) > 1};
        fp_vec_push(scratch, &places->all, (struct place){at->scope, at->line, position, one});
    }
}

static uint32_t way_of(const void *function, uint32_t block, uint32_t i)
{
    return fp_function_way(function, block, i);
}

/* Of one block, those of the function itself, each once. */
static struct fp_lined_block own_lines(struct fp_source_counts *out, const struct fp_function *f,
                                       uint32_t block)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    uint32_t n = 0, most = info->npositions < FP_MOST_LINES ? info->npositions : FP_MOST_LINES;
    uint32_t *lines = FP_NEW_ARRAY(out->arena, uint32_t, most);
    for (uint32_t i = 0; i < info->npositions && n < most; i++) {
        const struct fp_position *at = &f->source.positions[info->first_position + i];
        bool known = !at->line || f->source.scopes[at->scope].parent != FP_NONE;
        for (uint32_t k = 0; k < n; k++) known |= lines[k] == at->line;
        if (!known) lines[n++] = at->line;
    }
    return (struct fp_lined_block){lines, n, fp_cfg_out_degree(f->paths.cfg, block) > 1};
}

static bool same_blocks(const struct fp_counted_function *a, const struct fp_counted_function *b)
{
    bool same = a->blocks.len == b->blocks.len;
    for (size_t i = 0; same && i < a->blocks.len; i++) {
        const struct fp_lined_block *x = &a->blocks.at[i], *y = &b->blocks.at[i];
        same = x->nlines == y->nlines && x->branches == y->branches &&
               !memcmp(x->lines, y->lines, x->nlines * sizeof *x->lines);
    }
    return same;
}

static void add_blocks(struct fp_source_counts *out, struct fp_counted_function *to,
                       const struct fp_function *f, const struct fp_edge_counts *edges,
                       const uint32_t *order, struct fp_arena *scratch)
{
    uint32_t nblocks = f->paths.cfg->nblocks;
    uint32_t *at = FP_NEW_ARRAY(scratch, uint32_t, nblocks); /* 1 + block, by order */
    struct fp_counted_function copy = {.block_counts = FP_NEW_ARRAY(out->arena, uint64_t, nblocks)};
    for (uint32_t b = 0; b < nblocks; b++)
        if (order[b] != FP_NONE) at[order[b]] = b + 1;
    for (uint32_t i = 0; i < nblocks; i++) {
        struct fp_lined_block one =
            at[i] ? own_lines(out, f, at[i] - 1) : (struct fp_lined_block){0};
        if (!one.nlines) continue;
        copy.block_counts[copy.blocks.len] = edges->blocks[at[i] - 1];
        fp_vec_push(out->arena, &copy.blocks, one);
    }
    if (!to->read) {
        to->blocks = copy.blocks;
        to->block_counts = copy.block_counts;
    } else if (same_blocks(to, &copy)) {
        for (size_t i = 0; i < copy.blocks.len; i++)
            to->block_counts[i] = fp_add_saturated(to->block_counts[i], copy.block_counts[i]);
    } else {
        to->blocks.len = 0;
    }
    to->read = true;
}

static void add_lines(struct fp_source_counts *out, const struct fp_function *f,
                      const struct fp_edge_counts *edges, const uint32_t *order,
                      struct fp_arena *scratch)
{
    struct places places = {0};
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (order[b] != FP_NONE) add_block(f, b, order[b], edges->blocks[b], &places, scratch);
    if (places.all.len) qsort(places.all.at, places.all.len, sizeof *places.all.at, by_place);
    for (size_t i = 0, n; i < places.all.len; i += n) {
        n = same_line(&places.all.at[i], places.all.len - i);
        add_places(out, f, &places.all.at[i], n);
    }
}

/* ---- functions ---- */

static void add_calls(struct fp_source_counts *out, struct fp_counted_function *to,
                      const struct fp_function *f, const struct fp_edge_counts *edges)
{
    for (uint32_t i = 0; i < f->source.ncalls; i++) {
        const struct fp_call *call = &f->source.calls[i];
        if (!call->callee || !edges->blocks[call->block]) continue;
        struct fp_counted_call one = {fp_arena_strdup(out->arena, call->callee),
                                      edges->blocks[call->block]};
        fp_vec_push(out->arena, &to->calls, one);
    }
}

static void add_function(const struct fp_measured *measured, struct fp_arena *scratch,
                         void *context)
{
    struct fp_source_counts *out = context;
    const struct fp_function *f = measured->function;
    if (!measured->edges) return;
    struct fp_counted_function *to = function_of(out, f->name, f->file ? f->file : "");
    to->entries = fp_add_saturated(to->entries, measured->edges->entries);
    if (measured->edges->entries && !f->source.npositions) out->without_lines++;
    add_calls(out, to, f, measured->edges);
    const uint32_t *order = fp_source_order(scratch, f->paths.cfg, way_of, f);
    add_blocks(out, to, f, measured->edges, order, scratch);
    add_lines(out, f, measured->edges, order, scratch);
}

void fp_source_counts_make(struct fp_arena *arena, const struct fp_profile *profile,
                           struct fp_source_counts *out)
{
    *out = (struct fp_source_counts){.arena = arena};
    fp_strtable_init(&out->by_file, arena);
    fp_strtable_init(&out->by_function, arena);
    fp_strtable_init(&out->by_name, arena);
    fp_each_measured(profile, add_function, out);
}

/* ---- finding ---- */

/* How many bytes at the end of two paths are the same, in whole parts of them. */
static size_t same_end(const char *a, const char *b)
{
    size_t i = strlen(a), j = strlen(b), same = 0, n = 0;
    while (i && j && a[i - 1] == b[j - 1]) {
        i--, j--, n++;
        if (a[i] == '/') same = n;
    }
    bool a_ends = !i || a[i - 1] == '/', b_ends = !j || b[j - 1] == '/';
    return a_ends && b_ends ? n : same;
}

static const char *without_dots(const char *name)
{
    while (!strncmp(name, "./", 2) || !strncmp(name, "../", 3)) name += name[1] == '/' ? 2 : 3;
    return name;
}

size_t fp_same_path_end(const char *a, const char *b)
{
    return same_end(without_dots(a), without_dots(b));
}

const struct fp_counted_file *fp_counted_file_find(const struct fp_source_counts *counts,
                                                   const char *name)
{
    const struct fp_counted_file *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < counts->files.len; i++) {
        size_t same = fp_same_path_end(counts->files.at[i].name, name);
        if (same > most) most = same, best = &counts->files.at[i];
    }
    return best;
}

const struct fp_counted_line *fp_counted_line_find(const struct fp_counted_file *file,
                                                   uint32_t line)
{
    const uint64_t *index = file ? fp_table_find(&file->by_line, line) : NULL;
    return index ? &file->lines.at[*index - 1] : NULL;
}

const struct fp_counted_line *fp_counted_line_next(const struct fp_counted_file *file,
                                                   const struct fp_counted_line *line)
{
    return line->next ? &file->lines.at[line->next - 1] : NULL;
}

const struct fp_counted_line *fp_counted_line_of(const struct fp_counted_file *file, uint32_t line,
                                                 const char *owner)
{
    struct fp_arena scratch = {0};
    const uint64_t *index =
        file ? fp_strtable_find(&file->by_owner, fp_arena_printf(&scratch, "%u %s", line, owner))
             : NULL;
    fp_arena_free(&scratch);
    return index ? &file->lines.at[*index - 1] : NULL;
}

const struct fp_counted_function *fp_counted_function_find(const struct fp_source_counts *counts,
                                                           const char *name,
                                                           const struct fp_counted_file *file)
{
    struct fp_arena scratch = {0};
    const uint64_t *index = NULL;
    if (file)
        index = fp_strtable_find(&counts->by_function,
                                 fp_arena_printf(&scratch, "%s %s", name, file->name));
    if (!index) index = fp_strtable_find(&counts->by_name, name);
    fp_arena_free(&scratch);
    return index ? &counts->functions.at[*index - 1] : NULL;
}
