/* Annotated source: see annotate.h. One function after the other, each with its
 * own lines and behind them those of the functions inlined into it. */
#include "report/annotate.h"
#include "report/annotatecode.h"

#include "model/sentence.h"
#include "paths/linecounts.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_LINE 400 /* of source; the rest is left off */

void fp_function_lines(const struct fp_function *f, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (uint32_t i = 0; i < f->source.npositions; i++) {
        const struct fp_scope *scope = &f->source.scopes[f->source.positions[i].scope];
        if (scope->parent != FP_NONE || strcmp(scope->file, f->file)) continue;
        uint32_t line = f->source.positions[i].line;
        if (!*first || line < *first) *first = line;
        if (line > *last) *last = line;
    }
    if (*first && f->line && f->line < *first) *first = f->line;
}

struct page {
    struct fp_writer *out;
    const struct fp_report *report;
    struct fp_sources *sources;
    const struct fp_annotate_options *options;
    struct fp_arena scratch; /* per function */
};

/* A stretch of source: the function itself, or one that is inlined into it. */
struct stretch {
    const char *function, *file;
    uint32_t file_index; /* in the sheet's lines */
    uint32_t first, last;
};

/* What is known of the lines of one function. Keys of maps are file << 32 | line. */
struct sheet {
    const struct fp_report_function *rf;
    struct fp_line_counts lines;
    FP_VEC(struct stretch) stretches; /* its own first */
    struct fp_table marks;            /* bit k is set where path k passes */
    struct fp_table branches;         /* 1 + index in texts: shares of the ways out */
    FP_VEC(const char *) texts;
    uint64_t most;
    size_t npaths;
};

static uint64_t key_of(const struct sheet *s, const char *file, uint32_t line)
{
    const uint64_t *index = fp_strtable_find(&s->lines.by_name, file);
    return (index ? *index : 0) << 32 | line;
}

/* A position is also one at the line of the call that it was inlined by. */
static void mark_position(struct sheet *s, const struct fp_position *at, uint32_t bit)
{
    const struct fp_function *f = s->rf->function;
    uint32_t scope = at->scope, line = at->line;
    for (;;) {
        *fp_table_add(&s->marks, key_of(s, f->source.scopes[scope].file, line)) |= bit;
        if (f->source.scopes[scope].parent == FP_NONE) return;
        line = f->source.scopes[scope].call_line;
        scope = f->source.scopes[scope].parent;
    }
}

static void mark_block(struct sheet *s, uint32_t block, uint32_t bit)
{
    const struct fp_function *f = s->rf->function;
    const struct fp_block_info *info = &f->source.blocks[block];
    for (uint32_t i = 0; i < info->npositions; i++)
        mark_position(s, &f->source.positions[info->first_position + i], bit);
}

static void mark_paths(struct page *p, struct sheet *s)
{
    const struct fp_function *f = s->rf->function;
    s->npaths = s->rf->npaths < p->options->paths ? s->rf->npaths : (size_t)p->options->paths;
    for (size_t k = 0; k < s->npaths; k++) {
        struct fp_path path;
        const struct footpath_path *one = &p->report->paths[s->rf->first_path + k];
        if (!fp_report_decode(&p->scratch, p->report, one, &path)) continue;
        mark_block(s, path.first_block, 1u << k);
        for (uint32_t i = 0; i < path.nedges; i++)
            mark_block(s, f->paths.cfg->edges[path.edges[i]].dst, 1u << k);
    }
}

/* "->70": where a way leads that does not say what it means; else nothing. */
static const char *destination(struct page *p, const struct fp_function *f, uint32_t edge)
{
    const struct fp_block_info *to = &f->source.blocks[f->paths.cfg->edges[edge].dst];
    if (f->source.edges[edge].label != FP_LABEL_NONE || !to->npositions) return "";
    return fp_arena_printf(&p->scratch, "->%u", f->source.positions[to->first_position].line);
}

/* "98% 2%": the ways out of the first branch that ends on a line, in order; of a condition true
 * and then false. */
static void note_branch(struct page *p, struct sheet *s, uint32_t block)
{
    const struct fp_function *f = s->rf->function;
    const struct fp_block_info *info = &f->source.blocks[block];
    uint64_t reached = s->rf->edges.blocks[block];
    if (!info->npositions || fp_cfg_out_degree(f->paths.cfg, block) < 2 || !reached) return;
    const struct fp_position *at =
        &f->source.positions[info->first_position + info->npositions - 1];
    const char *text = "";
    uint32_t ways = 0;
    for (uint32_t i = 0; i < fp_cfg_out_degree(f->paths.cfg, block); i++) {
        uint32_t e = fp_function_way(f, block, i);
        if (f->paths.cfg->edges[e].kind == FP_EDGE_UNWIND) continue;
        if (++ways > 3) continue;
        double percent = 100 * (double)s->rf->edges.edges[e] / (double)reached;
        text = fp_arena_printf(&p->scratch, "%s%s%.0f%%%s", text, *text ? " " : "", percent,
                               destination(p, f, e));
    }
    if (ways > 3) text = fp_arena_printf(&p->scratch, "%s ..", text);
    uint64_t *index =
        fp_table_add(&s->branches, key_of(s, f->source.scopes[at->scope].file, at->line));
    if (ways < 2 || *index) return;
    fp_vec_push(&p->scratch, &s->texts, text);
    *index = s->texts.len;
}

static struct stretch *stretch_of(struct page *p, struct sheet *s, const struct fp_scope *scope)
{
    const struct fp_function *f = s->rf->function;
    bool own = scope->parent == FP_NONE && !strcmp(scope->file, f->file);
    const char *name = own ? NULL : scope->function;
    for (size_t i = 0; i < s->stretches.len; i++) {
        struct stretch *one = &s->stretches.at[i];
        bool same = name ? one->function && !strcmp(name, one->function) : !one->function;
        if (same && !strcmp(one->file, scope->file)) return one;
    }
    struct stretch fresh = {.function = name, .file = scope->file};
    fresh.file_index = (uint32_t)(key_of(s, scope->file, 0) >> 32);
    fp_vec_push(&p->scratch, &s->stretches, fresh);
    return &s->stretches.at[s->stretches.len - 1];
}

static void add_stretches(struct page *p, struct sheet *s)
{
    const struct fp_function *f = s->rf->function;
    stretch_of(p, s, &(struct fp_scope){.file = f->file, .parent = FP_NONE});
    fp_function_lines(f, &s->stretches.at[0].first, &s->stretches.at[0].last);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        for (uint32_t i = 0; i < info->npositions && s->rf->edges.blocks[b]; i++) {
            const struct fp_position *at = &f->source.positions[info->first_position + i];
            struct stretch *one = stretch_of(p, s, &f->source.scopes[at->scope]);
            if (one->function && (!one->first || at->line < one->first)) one->first = at->line;
            if (one->function && at->line > one->last) one->last = at->line;
        }
    }
}

static void fill_sheet(struct page *p, struct sheet *s)
{
    fp_line_counts_init(&s->lines, &p->scratch);
    fp_line_counts_add(&s->lines, s->rf->function, &s->rf->edges);
    fp_line_counts_finish(&s->lines);
    fp_table_init(&s->marks, &p->scratch);
    fp_table_init(&s->branches, &p->scratch);
    for (size_t i = 0; i < s->lines.files.len; i++)
        for (size_t k = 0; k < s->lines.files.at[i].lines.len; k++)
            if (s->lines.files.at[i].lines.at[k].count > s->most)
                s->most = s->lines.files.at[i].lines.at[k].count;
    add_stretches(p, s);
    mark_paths(p, s);
    for (uint32_t b = 0; b < s->rf->function->paths.cfg->nblocks; b++) note_branch(p, s, b);
}

static const struct fp_source_file *lines_of(const struct sheet *s, const struct stretch *at)
{
    return at->file_index ? &s->lines.files.at[at->file_index - 1] : NULL;
}

/* ---- text ---- */

static const char *paint(const struct page *p, const char *code)
{
    return p->options->colours ? code : "";
}

static const char *heat(uint64_t count, uint64_t most)
{
    if (!count) return "\033[31m";
    double share = most ? (double)count / (double)most : 0;
    return share > 0.5 ? "\033[1;33m" : share > 0.05 ? "\033[33m" : "\033[2m";
}

/* "?" where the line may have run or not. */
static void say_count(struct page *p, const struct sheet *s, const struct stretch *at,
                      uint32_t line)
{
    const struct fp_source_file *file = lines_of(s, at);
    const struct fp_line *one = file ? fp_line_find(file, line) : NULL;
    if (one)
        fp_say(p->out, "%s%12" PRIu64 "%s ", paint(p, heat(one->count, s->most)), one->count,
               paint(p, "\033[0m"));
    else
        fp_say(p->out, "%12s ", file && fp_line_is_unknown(file, line) ? "?" : "");
}

static void say_source(struct page *p, const struct fp_source_text *source, uint32_t line)
{
    size_t len;
    const char *text = fp_source_line(source, line, &len);
    size_t most = len < LONGEST_LINE ? len : LONGEST_LINE, from = 0;
    for (size_t i = 0; i <= most; i++) {
        if (i < most && text[i] != '\t') continue;
        fp_say_plain(p->out, text + from, i - from);
        if (i < most) fp_write_bytes(p->out, "    ", 4);
        from = i + 1;
    }
    if (most < len) fp_say(p->out, " ... %zu more characters", len - most);
}

static void say_line(struct page *p, const struct sheet *s, const struct stretch *at,
                     const struct fp_source_text *source, uint32_t line)
{
    uint64_t key = (uint64_t)at->file_index << 32 | line;
    const uint64_t *marks = fp_table_find(&s->marks, key), *text = fp_table_find(&s->branches, key);
    say_count(p, s, at, line);
    fp_say(p->out, "%s%-10s%s ", paint(p, "\033[36m"), text && *text ? s->texts.at[*text - 1] : "",
           paint(p, "\033[0m"));
    for (size_t k = 0; k < s->npaths; k++)
        fp_write_u8(p->out, marks && *marks >> k & 1 ? (uint8_t)('A' + k) : ' ');
    fp_say(p->out, "%s%s%6u%s  ", s->npaths ? " " : "", paint(p, "\033[2m"), line,
           paint(p, "\033[0m"));
    say_source(p, source, line);
    fp_say(p->out, "\n");
}

/* Only lines with code: a position may name any line up to 2^32. */
static void say_counted_lines(struct page *p, const struct sheet *s, const struct stretch *at,
                              const struct fp_source_text *source)
{
    const struct fp_source_file *file = lines_of(s, at);
    if (!file) return;
    for (size_t i = 0; i < file->lines.len; i++) {
        uint32_t line = file->lines.at[i].line;
        if (line >= at->first && line <= at->last) say_line(p, s, at, source, line);
    }
}

static void say_stretch(struct page *p, const struct sheet *s, const struct stretch *at)
{
    const struct fp_source_file *counted = lines_of(s, at);
    const struct fp_source_text *source = fp_source_get(
        p->sources, at->file, fp_report_version(p->report, counted ? counted->sum : 0));
    if (at->function)
        fp_say(p->out, "  %sinlined: %s  %s:%u%s\n", paint(p, "\033[2m"),
               fp_plain(&p->scratch, at->function), fp_plain(&p->scratch, fp_base_name(at->file)),
               at->first, paint(p, "\033[0m"));
    if (!source->found)
        fp_say(p->out, "  %s: %s\n", fp_plain(&p->scratch, at->file),
               fp_plain(&p->scratch, source->missing));
    /* without its text, and in a stretch too long to be one, only lines with code */
    if (!source->found || at->last - at->first > 100000)
        say_counted_lines(p, s, at, source);
    else
        for (uint32_t line = at->first; line <= at->last && line; line++)
            say_line(p, s, at, source, line);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void say_head(struct page *p, const struct sheet *s)
{
    const struct fp_report_function *rf = s->rf;
    fp_say(p->out, "%s%s%s  %s  %.1f%% of the cost, %" PRIu64 " calls, %" PRIu64 " paths taken\n",
           paint(p, "\033[1m"), rf->name, paint(p, "\033[0m"),
           fp_function_place(&p->scratch, rf->function), percent(rf->cost, p->report->cost),
           rf->calls, rf->executed_paths);
    for (size_t k = 0; k < s->npaths; k++) {
        struct fp_path path;
        const struct footpath_path *one = &p->report->paths[rf->first_path + k];
        if (!fp_report_decode(&p->scratch, p->report, one, &path)) continue;
        fp_say(p->out, "  %c %5.1f%% %14" PRIu64 "  %s\n", (char)('A' + k),
               percent(one->cost, rf->cost), one->count,
               fp_path_sentence(&p->scratch, p->sources, rf->function, &path));
    }
}

static bool begin_sheet(struct page *p, struct sheet *s, const struct fp_report_function *rf)
{
    *s = (struct sheet){.rf = rf};
    if (rf->function->flags & FP_FUNCTION_SKIPPED || !rf->edges.edges || !fp_report_ran(rf))
        return false;
    fill_sheet(p, s);
    return true;
}

/* Per block: a bit for each path that passes. */
static uint32_t *marks_of(struct page *p, const struct sheet *s)
{
    const struct fp_cfg *cfg = s->rf->function->paths.cfg;
    uint32_t *marks = FP_NEW_ARRAY(&p->scratch, uint32_t, cfg->nblocks);
    for (size_t k = 0; k < s->npaths; k++) {
        struct fp_path path;
        const struct footpath_path *one = &p->report->paths[s->rf->first_path + k];
        if (!fp_report_decode(&p->scratch, p->report, one, &path)) continue;
        marks[path.first_block] |= 1u << k;
        for (uint32_t i = 0; i < path.nedges; i++) marks[cfg->edges[path.edges[i]].dst] |= 1u << k;
    }
    return marks;
}

static void say_code(struct page *p, const struct sheet *s)
{
    struct fp_annotate_code code = {.out = p->out,
                                    .arena = &p->scratch,
                                    .reader = p->options->code,
                                    .rf = s->rf,
                                    .marks = marks_of(p, s),
                                    .npaths = s->npaths,
                                    .colours = p->options->colours};
    fp_annotate_code(&code);
}

static void say_function(struct page *p, const struct sheet *s)
{
    say_head(p, s);
    if (fp_shows_code(s->rf->function))
        say_code(p, s);
    else if (!s->rf->function->source.npositions)
        fp_say(p->out,
               "  has no line information; compile by footpath-cc, which adds it, or with -g\n");
    for (size_t i = 0; i < s->stretches.len; i++)
        if (s->stretches.at[i].first) say_stretch(p, s, &s->stretches.at[i]);
    fp_say(p->out, "\n");
}

void fp_annotate_text(struct fp_writer *out, const struct fp_report *report,
                      struct fp_sources *sources, const struct fp_annotate_options *options)
{
    struct page p = {.out = out, .report = report, .sources = sources, .options = options};
    uint64_t shown = 0;
    for (size_t i = 0; i < report->nfunctions && (!options->top || shown < options->top); i++) {
        struct sheet s;
        if (!begin_sheet(&p, &s, &report->functions[i])) continue;
        say_function(&p, &s);
        shown++;
        fp_arena_free(&p.scratch);
    }
    if (!shown) fp_say(out, "nothing ran of what was asked for\n");
}

/* ---- JSON ---- */

static void json_lines(struct fp_json *j, struct page *p, const struct fp_source_file *file)
{
    const struct fp_source_text *source =
        fp_source_get(p->sources, file->name, fp_report_version(p->report, file->sum));
    for (size_t i = 0; i < file->lines.len; i++) {
        size_t len;
        const char *text = fp_source_line(source, file->lines.at[i].line, &len);
        fp_json_begin(j, '{');
        fp_json_key(j, "file"), fp_json_string(j, file->name);
        fp_json_key(j, "line"), fp_json_uint(j, file->lines.at[i].line);
        fp_json_key(j, "count"), fp_json_uint(j, file->lines.at[i].count);
        fp_json_key(j, "text"), fp_json_text(j, text, len < LONGEST_LINE ? len : LONGEST_LINE);
        fp_json_end(j, '}');
    }
}

/* Lines that may have run, or not. */
static void json_unknown(struct fp_json *j, const struct fp_line_counts *lines)
{
    fp_json_key(j, "unknown"), fp_json_begin(j, '[');
    for (size_t i = 0; i < lines->files.len; i++)
        for (size_t k = 0; k < lines->files.at[i].unknown.len; k++) {
            fp_json_begin(j, '{');
            fp_json_key(j, "file"), fp_json_string(j, lines->files.at[i].name);
            fp_json_key(j, "line"), fp_json_uint(j, lines->files.at[i].unknown.at[k].line);
            fp_json_end(j, '}');
        }
    fp_json_end(j, ']');
}

static void json_function(struct fp_json *j, struct page *p, const struct sheet *s)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, s->rf->name);
    fp_json_key(j, "file"), fp_json_string(j, s->rf->function->file);
    fp_json_key(j, "line"), fp_json_uint(j, s->rf->function->line);
    fp_json_address(j, s->rf->function->source.address);
    fp_json_key(j, "calls"), fp_json_uint(j, s->rf->calls);
    fp_json_key(j, "lines"), fp_json_begin(j, '[');
    for (size_t i = 0; i < s->lines.files.len; i++) json_lines(j, p, &s->lines.files.at[i]);
    fp_json_end(j, ']');
    json_unknown(j, &s->lines);
    if (fp_shows_code(s->rf->function))
        fp_annotate_code_json(j, &p->scratch, p->options->code, s->rf);
    fp_json_end(j, '}');
}

void fp_annotate_json(struct fp_writer *out, const struct fp_report *report,
                      struct fp_sources *sources, const struct fp_annotate_options *options)
{
    struct page p = {.out = out, .report = report, .sources = sources, .options = options};
    struct fp_json j = {.out = out};
    uint64_t shown = 0;
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "functions"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < report->nfunctions && (!options->top || shown < options->top); i++) {
        struct sheet s;
        if (!begin_sheet(&p, &s, &report->functions[i])) continue;
        json_function(&j, &p, &s);
        shown++;
        fp_arena_free(&p.scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}
