/* Annotated source: see annotate.h. One function after the other, each with its
 * own lines; code inlined into it from elsewhere is shown by its line of call. */
#include "report/annotate.h"

#include "analysis/lines.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_LINE 400 /* of source; the rest is left off */

void fp_function_lines(const struct fp_function *f, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (uint32_t i = 0; i < f->npositions; i++) {
        const struct fp_scope *scope = &f->scopes[f->positions[i].scope];
        if (scope->parent != FP_NONE || strcmp(scope->file, f->file)) continue;
        uint32_t line = f->positions[i].line;
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

/* What is known of the lines of one function. */
struct sheet {
    const struct fp_report_function *rf;
    uint32_t first, last;
    const struct fp_source_file *counts;
    uint32_t *marks;       /* per line from first: bit k is set where path k passes */
    const char **branches; /* per line: shares of the ways out */
    uint64_t most;
    size_t npaths;
};

/* The line of the function's own text that a position stands for. */
static uint32_t own_line(const struct fp_function *f, const struct fp_position *at)
{
    uint32_t scope = at->scope, line = at->line;
    while (f->scopes[scope].parent != FP_NONE) {
        line = f->scopes[scope].call_line;
        scope = f->scopes[scope].parent;
    }
    return strcmp(f->scopes[scope].file, f->file) ? 0 : line;
}

static void mark_block(struct sheet *s, uint32_t block, uint32_t bit)
{
    const struct fp_function *f = s->rf->function;
    const struct fp_block_info *info = &f->blocks[block];
    for (uint32_t i = 0; i < info->npositions; i++) {
        uint32_t line = own_line(f, &f->positions[info->first_position + i]);
        if (line >= s->first && line <= s->last) s->marks[line - s->first] |= bit;
    }
}

static void mark_paths(struct page *p, struct sheet *s)
{
    const struct fp_function *f = s->rf->function;
    s->npaths = s->rf->npaths < p->options->paths ? s->rf->npaths : (size_t)p->options->paths;
    for (size_t k = 0; k < s->npaths; k++) {
        struct fp_path path;
        const struct fp_report_path *one = &p->report->paths[s->rf->first_path + k];
        if (!fp_report_decode(&p->scratch, p->report, one, &path)) continue;
        mark_block(s, path.first_block, 1u << k);
        for (uint32_t i = 0; i < path.nedges; i++)
            mark_block(s, f->cfg->edges[path.edges[i]].dst, 1u << k);
    }
}

/* "98% 2%": the ways out of the branch at the end of a line, in order. */
static void note_branch(struct page *p, struct sheet *s, uint32_t block)
{
    const struct fp_function *f = s->rf->function;
    const struct fp_block_info *info = &f->blocks[block];
    uint64_t reached = s->rf->edges.blocks[block];
    if (!info->npositions || fp_cfg_out_degree(f->cfg, block) < 2 || !reached) return;
    const struct fp_position *at = &f->positions[info->first_position + info->npositions - 1];
    uint32_t line = own_line(f, at);
    if (f->scopes[at->scope].parent != FP_NONE || line < s->first || line > s->last) return;
    const char *text = "";
    uint32_t ways = 0;
    for (uint32_t e = f->cfg->first_out[block]; e < f->cfg->first_out[block + 1]; e++) {
        if (f->cfg->edges[e].kind == FP_EDGE_UNWIND) continue;
        if (++ways > 3) continue;
        double percent = 100 * (double)s->rf->edges.edges[e] / (double)reached;
        text = fp_arena_printf(&p->scratch, "%s%s%.0f%%", text, *text ? " " : "", percent);
    }
    if (ways > 3) text = fp_arena_printf(&p->scratch, "%s ..", text);
    if (ways > 1 && !s->branches[line - s->first]) s->branches[line - s->first] = text;
}

static void fill_sheet(struct page *p, struct sheet *s)
{
    const struct fp_function *f = s->rf->function;
    struct fp_lines *lines = FP_NEW(&p->scratch, struct fp_lines);
    fp_lines_init(lines, &p->scratch);
    fp_lines_add(lines, f, &s->rf->edges);
    fp_lines_finish(lines);
    const uint64_t *index = fp_strmap_find(&lines->by_name, f->file);
    s->counts = index ? &lines->files.at[*index - 1] : NULL;
    size_t n = (size_t)s->last - s->first + 1;
    s->marks = FP_NEW_ARRAY(&p->scratch, uint32_t, n);
    s->branches = FP_NEW_ARRAY(&p->scratch, const char *, n);
    for (uint32_t line = s->first; s->counts && line <= s->last; line++) {
        const struct fp_line *one = fp_line_find(s->counts, line);
        if (one && one->count > s->most) s->most = one->count;
    }
    mark_paths(p, s);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) note_branch(p, s, b);
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

static void say_count(struct page *p, const struct sheet *s, uint32_t line)
{
    const struct fp_line *one = s->counts ? fp_line_find(s->counts, line) : NULL;
    if (one)
        fp_say(p->out, "%s%12" PRIu64 "%s ", paint(p, heat(one->count, s->most)), one->count,
               paint(p, "\033[0m"));
    else
        fp_say(p->out, "%12s ", "");
}

static void say_source(struct page *p, const struct fp_source *source, uint32_t line)
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

static void say_line(struct page *p, const struct sheet *s, const struct fp_source *source, uint32_t line)
{
    uint32_t marks = s->marks[line - s->first];
    const char *branches = s->branches[line - s->first];
    say_count(p, s, line);
    fp_say(p->out, "%s%-10s%s ", paint(p, "\033[36m"), branches ? branches : "", paint(p, "\033[0m"));
    for (size_t k = 0; k < s->npaths; k++) fp_write_u8(p->out, marks >> k & 1 ? (uint8_t)('A' + k) : ' ');
    fp_say(p->out, "%s%s%6u%s  ", s->npaths ? " " : "", paint(p, "\033[2m"), line, paint(p, "\033[0m"));
    say_source(p, source, line);
    fp_say(p->out, "\n");
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void say_head(struct page *p, const struct sheet *s)
{
    const struct fp_report_function *rf = s->rf;
    fp_say(p->out, "%s%s%s  %s:%u  %.1f%% of the cost, %" PRIu64 " calls, %" PRIu64 " paths taken\n",
           paint(p, "\033[1m"), rf->name, paint(p, "\033[0m"),
           fp_plain(&p->scratch, fp_base_name(rf->function->file)), rf->function->line,
           percent(rf->cost, p->report->cost), rf->calls, rf->executed_paths);
    for (size_t k = 0; k < s->npaths; k++) {
        struct fp_path path;
        const struct fp_report_path *one = &p->report->paths[rf->first_path + k];
        if (!fp_report_decode(&p->scratch, p->report, one, &path)) continue;
        fp_say(p->out, "  %c %5.1f%% %14" PRIu64 "  %s\n", (char)('A' + k), percent(one->cost, rf->cost),
               one->count, fp_path_text(&p->scratch, rf->function, &path));
    }
}

static bool begin_sheet(struct page *p, struct sheet *s, const struct fp_report_function *rf)
{
    *s = (struct sheet){.rf = rf};
    if (rf->function->flags & FP_FUNCTION_SKIPPED || !rf->edges.edges || !rf->calls) return false;
    fp_function_lines(rf->function, &s->first, &s->last);
    if (s->first && s->last - s->first < 1000000) fill_sheet(p, s);
    return true;
}

static void say_function(struct page *p, const struct sheet *s)
{
    say_head(p, s);
    if (!s->first || !s->marks) {
        fp_say(p->out, "  has no line information; compile by footpath-cc, which adds it, or with -g\n\n");
        return;
    }
    const struct fp_source *source = fp_source_get(p->sources, s->rf->function->file);
    if (!source->found)
        fp_say(p->out, "  %s: %s\n", fp_plain(&p->scratch, s->rf->function->file), source->missing);
    for (uint32_t line = s->first; line <= s->last; line++) {
        bool nothing = !s->counts || !fp_line_find(s->counts, line);
        if (!source->found && nothing) continue;
        say_line(p, s, source, line);
    }
    fp_say(p->out, "\n");
}

void fp_annotate_text(struct fp_writer *out, const struct fp_report *report, struct fp_sources *sources,
                      const struct fp_annotate_options *options)
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

static void json_function(struct fp_json *j, struct page *p, const struct sheet *s)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, s->rf->name);
    fp_json_key(j, "file"), fp_json_string(j, s->rf->function->file);
    fp_json_key(j, "line"), fp_json_uint(j, s->rf->function->line);
    fp_json_key(j, "calls"), fp_json_uint(j, s->rf->calls);
    fp_json_key(j, "lines"), fp_json_begin(j, '[');
    for (uint32_t line = s->first; s->counts && line <= s->last; line++) {
        const struct fp_line *one = fp_line_find(s->counts, line);
        if (!one) continue;
        size_t len;
        const char *text = fp_source_line(fp_source_get(p->sources, s->rf->function->file), line, &len);
        fp_json_begin(j, '{');
        fp_json_key(j, "line"), fp_json_uint(j, line);
        fp_json_key(j, "count"), fp_json_uint(j, one->count);
        fp_json_key(j, "text"), fp_json_text(j, text, len < LONGEST_LINE ? len : LONGEST_LINE);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

void fp_annotate_json(struct fp_writer *out, const struct fp_report *report, struct fp_sources *sources,
                      const struct fp_annotate_options *options)
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
