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

static void note_unseen(struct fp_line_counts *lines, const struct fp_scope *scope, uint32_t line,
                        uint32_t n)
{
    struct fp_source_file *file = file_of(lines, scope->file, scope->file_sum);
    fp_vec_push(lines->arena, &file->unseen, (struct fp_line_run){line, n});
}

/* The lines of calls that were inlined ran where the inlined code did, how often is not known. */
static void add_inlined(struct fp_line_counts *lines, const struct fp_function *f,
                        const struct fp_edge_counts *edges)
{
    struct fp_arena scratch = {0};
    bool *seen = FP_NEW_ARRAY(&scratch, bool, f->source.nscopes);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        if (!is_live(f, b) || !edges->blocks[b]) continue;
        for (uint32_t i = 0; i < info->npositions; i++)
            for (uint32_t s = f->source.positions[info->first_position + i].scope; !seen[s];) {
                const struct fp_scope *scope = &f->source.scopes[s];
                seen[s] = true;
                if (scope->parent == FP_NONE) break;
                note_unseen(lines, &f->source.scopes[scope->parent], scope->call_line, 1);
                s = scope->parent;
            }
    }
    fp_arena_free(&scratch);
}

/* Lines that may have run where an edge or a block that ran has no code of them. */
static void add_unseen(struct fp_line_counts *lines, const struct fp_function *f,
                       const struct fp_edge_counts *edges)
{
    uint32_t nblocks = f->paths.cfg->nblocks;
    for (uint32_t i = 0; i < f->source.nunseen; i++) {
        const struct fp_unseen *one = &f->source.unseen[i];
        bool ran = one->place < nblocks ? edges->blocks[one->place] != 0
                                        : edges->edges[one->place - nblocks] != 0;
        if (ran) note_unseen(lines, &f->source.scopes[one->scope], one->line, one->nlines);
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
    add_inlined(lines, f, edges);
    add_unseen(lines, f, edges);
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

static int by_first(const void *a, const void *b)
{
    const struct fp_line_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Moves lines that have 0 and may have run from `lines`, which are sorted, to `unknown`. */
static void part_unknown(struct fp_arena *arena, struct fp_source_file *file)
{
    size_t kept = 0, run = 0;
    uint64_t end = 0; /* of the runs that begin at the line or before */
    if (!file->unseen.len) return;
    qsort(file->unseen.at, file->unseen.len, sizeof *file->unseen.at, by_first);
    for (size_t i = 0; i < file->lines.len; i++) {
        struct fp_line one = file->lines.at[i];
        for (; run < file->unseen.len && file->unseen.at[run].first <= one.line; run++) {
            uint64_t behind = (uint64_t)file->unseen.at[run].first + file->unseen.at[run].n;
            if (behind > end) end = behind;
        }
        if (!one.count && one.line < end)
            fp_vec_push(arena, &file->unknown, one);
        else
            file->lines.at[kept++] = one;
    }
    file->lines.len = kept;
}

static void finish_file(struct fp_arena *arena, struct fp_source_file *file)
{
    uint64_t line, value;
    for (size_t i = 0; fp_table_next(&file->by_line, &i, &line, &value);) {
        struct fp_line one = {(uint32_t)line, value - 1};
        fp_vec_push(arena, &file->lines, one);
    }
    if (file->lines.len) qsort(file->lines.at, file->lines.len, sizeof *file->lines.at, by_line);
    part_unknown(arena, file);
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
    struct fp_line wanted = {.line = line};
    if (!file->lines.len) return NULL;
    return bsearch(&wanted, file->lines.at, file->lines.len, sizeof wanted, by_line);
}

bool fp_line_is_unknown(const struct fp_source_file *file, uint32_t line)
{
    struct fp_line wanted = {.line = line};
    return file->unknown.len &&
           bsearch(&wanted, file->unknown.at, file->unknown.len, sizeof wanted, by_line);
}
