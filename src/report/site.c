/* Writing the site: see site.h. */
#include "report/siteparts.h"

#include "base/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layout time goes with the square of the number of blocks: about 10 microseconds
 * times that. */
enum { MOST_BLOCKS_DRAWN = 250, LAYOUT_WORK = 500000 };

static bool write_file(const struct fp_pages *site, const char *name, const void *bytes, size_t len,
                       struct fp_error *error)
{
    struct fp_arena scratch = {0};
    bool ok = fp_file_write(fp_arena_printf(&scratch, "%s/%s", site->options->folder, name), bytes,
                            len, error);
    fp_arena_free(&scratch);
    return ok;
}

/* ---- functions, in chunks by place ---- */

static const struct fp_report *sorting; /* qsort has no context */

static int by_place(const void *a, const void *b)
{
    const struct fp_function *x = sorting->functions[*(const uint32_t *)a].function;
    const struct fp_function *y = sorting->functions[*(const uint32_t *)b].function;
    int order = strcmp(x->file, y->file);
    if (order) return order;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->source.address != y->source.address)
        return x->source.address < y->source.address ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The costly ones, as far as the time lasts. */
static void choose_drawn(struct fp_pages *site)
{
    size_t drawn = 0;
    double work = 0;
    for (size_t i = 0; i < site->report->nfunctions && drawn < site->options->graphs; i++) {
        const struct fp_report_function *rf = &site->report->functions[i];
        if (rf->function->flags & FP_FUNCTION_SKIPPED ||
            rf->function->paths.cfg->nblocks > MOST_BLOCKS_DRAWN)
            continue;
        double blocks = rf->function->paths.cfg->nblocks;
        if (work + blocks * blocks > LAYOUT_WORK) continue;
        work += blocks * blocks;
        site->functions[i].drawn = true;
        drawn++;
    }
}

static bool write_chunk(const struct fp_pages *site, struct fp_writer *chunk, uint32_t number,
                        struct fp_error *error)
{
    char name[48];
    fp_say(chunk, "})\n");
    snprintf(name, sizeof name, "data/f/%u.js", number);
    bool ok = write_file(site, name, chunk->bytes, chunk->len, error);
    chunk->len = 0;
    return ok;
}

static bool write_functions(struct fp_pages *site, struct fp_error *error)
{
    const struct fp_report *r = site->report;
    uint32_t *order = FP_NEW_ARRAY(&site->arena, uint32_t, r->nfunctions);
    struct fp_writer chunk = {0};
    uint32_t number = 0;
    bool ok = true;
    for (uint32_t i = 0; i < r->nfunctions; i++) order[i] = i;
    sorting = r;
    if (r->nfunctions) qsort(order, r->nfunctions, sizeof *order, by_place);
    for (size_t i = 0; ok && i < r->nfunctions; i++) {
        uint32_t index = order[i];
        struct fp_json j = {.out = &chunk, .compact = true};
        if (r->functions[index].function->flags & FP_FUNCTION_SKIPPED) continue;
        if (!chunk.len) fp_say(&chunk, "footpath.functions({\n");
        fp_say(&chunk, "\"%u\":", index);
        site->functions[index].chunk = number;
        fp_site_json_function(&j, site, index);
        fp_say(&chunk, ",\n");
        if (chunk.len > FP_SITE_CHUNK) ok = write_chunk(site, &chunk, number++, error);
        if (site->options->progress) site->options->progress("functions", i, r->nfunctions);
    }
    if (ok && chunk.len) ok = write_chunk(site, &chunk, number, error);
    if (site->options->progress) site->options->progress("functions", 1, 1);
    fp_writer_free(&chunk);
    return ok;
}

/* ---- sources ---- */

static void json_source(struct fp_json *j, const struct fp_source_text *source,
                        const struct fp_source_file *lines, uint32_t first)
{
    uint32_t last = first + FP_SITE_SOURCE_LINES - 1;
    if (last > source->nlines) last = source->nlines;
    fp_json_begin(j, '[');
    for (uint32_t line = first; line <= last; line++) {
        size_t len;
        const char *text = fp_source_line(source, line, &len);
        if (len <= FP_SITE_LONGEST_LINE) {
            fp_json_text(j, text, len);
        } else {
            fp_json_begin(j, '[');
            fp_json_text(j, text, FP_SITE_LONGEST_LINE);
            fp_json_uint(j, len - FP_SITE_LONGEST_LINE);
            fp_json_end(j, ']');
        }
    }
    fp_json_end(j, ']');
    fp_json_begin(j, '[');
    for (uint32_t line = first; line <= last; line++) {
        const struct fp_line *one = lines ? fp_line_find(lines, line) : NULL;
        if (one)
            fp_site_count(j, one->count);
        else
            fp_json_int(j, -1);
    }
    fp_json_end(j, ']');
}

static bool write_source(struct fp_pages *site, uint32_t file, struct fp_error *error)
{
    const struct fp_source_file *lines;
    const struct fp_source_text *source = fp_site_source(site, file, &lines);
    bool ok = true;
    for (uint32_t first = 1, part = 0; ok && source->found && first <= source->nlines;
         first += FP_SITE_SOURCE_LINES, part++) {
        struct fp_writer out = {0};
        struct fp_json j = {.out = &out, .compact = true};
        char name[48];
        fp_say(&out, "footpath.source(%u,%u,", file, part);
        json_source(&j, source, lines, first);
        fp_say(&out, ")\n");
        snprintf(name, sizeof name, "data/s/%u-%u.js", file, part);
        ok = write_file(site, name, out.bytes, out.len, error);
        fp_writer_free(&out);
    }
    return ok;
}

/* ---- the page ---- */

static bool write_page(const struct fp_pages *site, struct fp_error *error)
{
    static const char mark[] = "@TITLE@";
    struct fp_writer page = {0};
    const char *at = fp_asset_html, *found;
    while ((found = strstr(at, mark))) {
        fp_write_bytes(&page, at, (size_t)(found - at));
        fp_say_xml(&page, site->options->title);
        at = found + strlen(mark);
    }
    fp_write_bytes(&page, at, strlen(at));
    bool ok = write_file(site, "index.html", page.bytes, page.len, error);
    for (const struct fp_asset *a = fp_assets; ok && a->name; a++) {
        char name[48];
        snprintf(name, sizeof name, "assets/%s", a->name);
        ok = write_file(site, name, a->bytes, *a->len, error);
    }
    fp_writer_free(&page);
    return ok;
}

/* One file of data: a call of the page with what `fill` writes. */
static bool write_data(struct fp_pages *site, const char *name, const char *call,
                       void (*fill)(struct fp_json *j, struct fp_pages *site),
                       struct fp_error *error)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out, .compact = true};
    fp_say(&out, "%s(", call);
    fill(&j, site);
    fp_say(&out, ")\n");
    bool ok = write_file(site, name, out.bytes, out.len, error);
    fp_writer_free(&out);
    return ok;
}

static bool make_folders(const struct fp_pages *site, struct fp_error *error)
{
    static const char *const below[] = {"data/f", "data/s", "assets"};
    struct fp_arena scratch = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof below / sizeof *below; i++)
        ok = fp_make_folder(fp_arena_printf(&scratch, "%s/%s", site->options->folder, below[i]),
                            error);
    fp_arena_free(&scratch);
    return ok;
}

/* ---- all ---- */

static void index_functions(struct fp_pages *site)
{
    fp_table_init(&site->by_function, &site->arena);
    fp_strtable_init(&site->programs, &site->arena);
    for (size_t i = 0; i < site->report->nfunctions; i++) {
        const struct fp_function *f = site->report->functions[i].function;
        if (f->source.address && !f->source.npositions && !f->line)
            *fp_strtable_add(&site->programs, f->file) = 1;
        if (!(f->flags & FP_FUNCTION_SKIPPED))
            *fp_table_add(&site->by_function, (uintptr_t)f) = i + 1;
    }
}

uint32_t fp_site_find(const struct fp_pages *site, const struct fp_function *function)
{
    const uint64_t *at = fp_table_find(&site->by_function, (uintptr_t)function);
    return at ? (uint32_t)*at - 1 : FP_NONE;
}

static void count_lines(struct fp_pages *site)
{
    fp_line_counts_init(&site->lines, &site->arena);
    for (size_t i = 0; i < site->report->nfunctions; i++)
        if (site->report->functions[i].edges.edges && !site->report->functions[i].problem)
            fp_line_counts_add(&site->lines, site->report->functions[i].function,
                               &site->report->functions[i].edges);
    fp_line_counts_finish(&site->lines);
}

bool fp_site_write(const struct fp_report *report, struct fp_sources *sources,
                   const struct fp_site_options *options, struct fp_error *error)
{
    struct fp_pages site = {.report = report, .sources = sources, .options = options};
    fp_strtable_init(&site.file_index, &site.arena);
    site.functions = FP_NEW_ARRAY(&site.arena, struct fp_site_function, report->nfunctions);
    index_functions(&site);
    count_lines(&site);
    fp_site_calls_make(&site);
    fp_site_gaps_make(&site);
    choose_drawn(&site);
    bool ok = make_folders(&site, error) && write_functions(&site, error) &&
              (!options->gap ||
               write_data(&site, "data/gap.js", "footpath.gaps", fp_site_json_gaps, error)) &&
              write_data(&site, "data/index.js", "footpath.index", fp_site_json_index, error) &&
              write_data(&site, "data/flame.js", "footpath.flame", fp_site_json_flame, error);
    for (uint32_t i = 0; ok && i < site.files.len; i++) {
        ok = write_source(&site, i, error);
        if (options->progress) options->progress("source files", i, site.files.len);
    }
    if (options->progress) options->progress("source files", 1, 1);
    ok = ok && write_page(&site, error);
    fp_arena_free(&site.arena);
    return ok;
}
