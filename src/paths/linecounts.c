/* Counts of lines: see linecounts.h. */
#include "paths/linecounts.h"

#include "base/checked.h"
#include "paths/each.h"

#include <stdlib.h>

void fp_line_counts_init(struct fp_line_counts *lines, struct fp_arena *arena)
{
    *lines = (struct fp_line_counts){.arena = arena};
    fp_strtable_init(&lines->by_name, arena);
}

static struct fp_source_file *file_of(struct fp_line_counts *lines, const char *name, uint64_t sum)
{
    uint64_t *index = fp_strtable_add(&lines->by_name, name);
    if (!*index) {
        struct fp_source_file file = {.name = fp_arena_strdup(lines->arena, name), .sum = sum};
        fp_table_init(&file.by_line, lines->arena);
        fp_vec_push(lines->arena, &lines->files, file);
        *index = lines->files.len;
    }
    return &lines->files.at[*index - 1];
}

static bool is_live(const struct fp_function *f, uint32_t block)
{
    return f->paths.truncation->order.position[block] != FP_NONE;
}

/* The largest count per scope and line: key scope << 32 | line, value 1 + count. */
static void collect(const struct fp_function *f, const struct fp_edge_counts *edges,
                    struct fp_table *most)
{
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        if (!is_live(f, b)) continue;
        for (uint32_t i = 0; i < info->npositions; i++) {
            const struct fp_position *at = &f->source.positions[info->first_position + i];
            uint64_t *value = fp_table_add(most, (uint64_t)at->scope << 32 | at->line);
            uint64_t count = fp_add_saturated(edges->blocks[b], 1);
            if (count > *value) *value = count;
        }
    }
}

static void add_lines(struct fp_line_counts *lines, const struct fp_function *f,
                      const struct fp_table *most)
{
    uint64_t key, value;
    for (size_t i = 0; fp_table_next(most, &i, &key, &value);) {
        const struct fp_scope *scope = &f->source.scopes[key >> 32];
        struct fp_source_file *file = file_of(lines, scope->file, scope->file_sum);
        uint64_t *sum = fp_table_add(&file->by_line, (uint32_t)key);
        *sum = fp_add_saturated(*sum, *sum ? value - 1 : value);
    }
}

/* Unwind edges are not counted as branches of a line: nobody wrote them. Implicit defaults of a
 * switch are. */
static bool is_way(const struct fp_function *f, uint32_t e)
{
    return f->paths.cfg->edges[e].kind <= FP_EDGE_SWITCH &&
           f->paths.truncation->order.fate[e] != FP_FATE_DEAD;
}

static void add_branch(struct fp_line_counts *lines, const struct fp_function *f,
                       const struct fp_edge_counts *edges, uint32_t b)
{
    const struct fp_block_info *info = &f->source.blocks[b];
    uint32_t ways = 0;
    for (uint32_t e = f->paths.cfg->first_out[b]; e < f->paths.cfg->first_out[b + 1]; e++)
        ways += is_way(f, e);
    if (ways < 2 || !info->npositions) return;
    const struct fp_position *at =
        &f->source.positions[info->first_position + info->npositions - 1];
    const struct fp_scope *scope = &f->source.scopes[at->scope];
    struct fp_source_file *file = file_of(lines, scope->file, scope->file_sum);
    struct fp_line_branch branch = {
        .line = at->line, .branch = file->nbranches++, .reached = edges->blocks[b]};
    for (uint32_t i = 0; i < fp_cfg_out_degree(f->paths.cfg, b); i++) {
        uint32_t e = fp_function_way(f, b, i);
        if (!is_way(f, e)) continue;
        branch.taken = edges->edges[e];
        fp_vec_push(lines->arena, &file->branches, branch);
        branch.way++;
    }
}

void fp_line_counts_add(struct fp_line_counts *lines, const struct fp_function *f,
                        const struct fp_edge_counts *edges)
{
    struct fp_arena scratch = {0};
    struct fp_table most;
    fp_table_init(&most, &scratch);
    collect(f, edges, &most);
    add_lines(lines, f, &most);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (is_live(f, b)) add_branch(lines, f, edges, b);
    if (f->line) {
        struct fp_source_file *file = file_of(lines, f->file, f->file_sum);
        struct fp_line_function function = {f->name, f->line, edges->entries};
        fp_vec_push(lines->arena, &file->functions, function);
    }
    fp_arena_free(&scratch);
}

static int by_line(const void *a, const void *b)
{
    const struct fp_line *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_branch(const void *a, const void *b)
{
    const struct fp_line_branch *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->branch != y->branch) return x->branch < y->branch ? -1 : 1;
    return (x->way > y->way) - (x->way < y->way);
}

static int by_place(const void *a, const void *b)
{
    const struct fp_line_function *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_file_name(const void *a, const void *b)
{
    return strcmp(((const struct fp_source_file *)a)->name,
                  ((const struct fp_source_file *)b)->name);
}

static void finish_file(struct fp_arena *arena, struct fp_source_file *file)
{
    uint64_t line, value;
    for (size_t i = 0; fp_table_next(&file->by_line, &i, &line, &value);) {
        struct fp_line one = {(uint32_t)line, value - 1};
        fp_vec_push(arena, &file->lines, one);
    }
    if (file->lines.len) qsort(file->lines.at, file->lines.len, sizeof *file->lines.at, by_line);
    if (file->branches.len)
        qsort(file->branches.at, file->branches.len, sizeof *file->branches.at, by_branch);
    if (file->functions.len)
        qsort(file->functions.at, file->functions.len, sizeof *file->functions.at, by_place);
}

void fp_line_counts_finish(struct fp_line_counts *lines)
{
    for (size_t i = 0; i < lines->files.len; i++) finish_file(lines->arena, &lines->files.at[i]);
    if (!lines->files.len) return;
    qsort(lines->files.at, lines->files.len, sizeof *lines->files.at, by_file_name);
    for (size_t i = 0; i < lines->files.len; i++)
        *fp_strtable_find(&lines->by_name, lines->files.at[i].name) = i + 1;
}

static void add_measured(const struct fp_measured *measured, struct fp_arena *scratch,
                         void *context)
{
    (void)scratch;
    if (measured->edges) fp_line_counts_add(context, measured->function, measured->edges);
}

void fp_line_counts_of_profile(struct fp_line_counts *lines, struct fp_arena *arena,
                               const struct fp_profile *profile)
{
    fp_line_counts_init(lines, arena);
    fp_each_measured(profile, add_measured, lines);
    fp_line_counts_finish(lines);
}

const struct fp_line *fp_line_find(const struct fp_source_file *file, uint32_t line)
{
    struct fp_line wanted = {line, 0};
    if (!file->lines.len) return NULL;
    return bsearch(&wanted, file->lines.at, file->lines.len, sizeof wanted, by_line);
}
