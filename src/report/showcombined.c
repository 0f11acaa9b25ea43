/* footpath show of combined profiles: see showcombined.h. */
#include "report/showcombined.h"

#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* ---- which function is which ---- */

static void match_module(const struct fp_combined *c, const struct fp_program *program,
                         struct fp_arena *arena, const struct fp_function **functions)
{
    struct fp_combined_function *keys = fp_combine_keys(arena, program);
    struct fp_table place; /* of a combined function -> index */
    fp_table_init(&place, arena);
    for (size_t i = 0; i < c->functions.len; i++)
        *fp_table_add(&place, (uint64_t)(uintptr_t)c->functions.at[i]) = i;
    for (size_t i = 0; i < program->nfunctions; i++) {
        if (!keys[i].name) continue;
        const struct fp_combined_function *f = fp_combined_lookup(c, &keys[i]);
        if (!f || (f->numbering && f->numbering != keys[i].numbering && keys[i].numbering))
            continue;
        const struct fp_function **slot =
            &functions[*fp_table_find(&place, (uint64_t)(uintptr_t)f)];
        /* one that can decode paths is the better one */
        if (!*slot || !((*slot)->flags & FP_FUNCTION_PATHS)) *slot = &program->functions[i];
    }
}

const struct fp_function **fp_show_combined_functions(struct fp_arena *arena, struct fp_combined *c,
                                                      struct fp_combiner *combiner,
                                                      struct fp_error *missing)
{
    const struct fp_function **functions =
        FP_NEW_ARRAY(arena, const struct fp_function *, c->functions.len);
    for (size_t i = 0; i < c->modules.len; i++) {
        struct fp_error error = {0};
        const struct fp_program *program = fp_combiner_program(combiner, &c->modules.at[i], &error);
        if (program)
            match_module(c, program, arena, functions);
        else if (!missing->set)
            *missing = error;
    }
    return functions;
}

/* ---- the view ---- */

struct combined_show {
    struct fp_writer *out;
    const struct fp_combined *combined;
    const struct fp_show_combined *options;
    struct fp_arena arena, scratch;
    struct fp_table functions; /* combined function -> struct fp_function */
};

static void begin_view(struct combined_show *v, const struct fp_function *const *functions)
{
    fp_table_init(&v->functions, &v->arena);
    for (size_t i = 0; i < v->combined->functions.len; i++)
        *fp_table_add(&v->functions, (uint64_t)(uintptr_t)v->combined->functions.at[i]) =
            (uint64_t)(uintptr_t)functions[i];
}

static void end_view(struct combined_show *v)
{
    fp_arena_free(&v->arena);
    fp_arena_free(&v->scratch);
}

static const struct fp_function *function_of(const struct combined_show *v,
                                             const struct fp_combined_function *f)
{
    return (const struct fp_function *)(uintptr_t)*fp_table_find(&v->functions,
                                                                 (uint64_t)(uintptr_t)f);
}

static bool is_wanted(const struct fp_combined_function *f, void *context)
{
    struct combined_show *v = context;
    return !v->options->function || strstr(f->name, v->options->function) ||
           strstr(fp_demangle(&v->scratch, f->name), v->options->function);
}

static struct fp_ranked *ranked(struct combined_show *v, unsigned kinds, size_t *count)
{
    struct fp_rank_filter filter = v->options->filter;
    if (kinds) filter.kinds = kinds;
    filter.wanted = is_wanted;
    filter.context = v;
    return fp_combined_rank(&v->arena, v->combined, &filter, count);
}

/* ---- histograms ---- */

/* One of nine heights, above the lowest wherever there is any weight. */
static unsigned height(double weight, double most)
{
    if (weight <= 0) return 0;
    unsigned level = (unsigned)(weight / most * 8 + 0.5);
    return level < 1 ? 1 : level > 8 ? 8 : level;
}

enum { WIDEST = 15 };

/* Neighbours that share a character, where there are more bins than room. */
static uint32_t bins_together(const struct fp_histogram *h)
{
    return (h->nbins + WIDEST - 1) / WIDEST;
}

static double weight_together(const struct fp_histogram *h, uint32_t from)
{
    double weight = 0;
    for (uint32_t i = from; i < from + bins_together(h) && i < h->nbins; i++) weight += h->bins[i];
    return weight;
}

char *fp_histogram_text(struct fp_arena *arena, const struct fp_histogram *h, bool utf8)
{
    static const char *const blocks[] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[] = {".", "1", "2", "3", "4", "5", "6", "7", "8"};
    struct fp_writer text = {0};
    double most = 0;
    for (uint32_t i = 0; i < h->nbins; i += bins_together(h))
        if (weight_together(h, i) > most) most = weight_together(h, i);
    for (uint32_t i = 0; i < h->nbins; i += bins_together(h))
        fp_say(&text, "%s", (utf8 ? blocks : letters)[height(weight_together(h, i), most)]);
    char *result = fp_arena_strndup(arena, (char *)text.bytes, text.len);
    fp_writer_free(&text);
    return result;
}

/* ---- text ---- */

static const char *colour(const struct combined_show *v, const char *code)
{
    return v->options->colours ? code : "";
}

static void say_head(struct combined_show *v)
{
    const struct fp_combined *c = v->combined;
    uint64_t seen[FP_EVENT_KINDS] = {0};
    for (size_t i = 0; i < c->functions.len; i++)
        for (size_t k = 0; k < c->functions.at[i]->events.len; k++)
            seen[c->functions.at[i]->events.at[k].kind]++;
    fp_say(v->out,
           "%" PRIu64 " run%s of %s combined: %" PRIu64 " of %zu functions called, %" PRIu64
           " edges and %" PRIu64 " paths taken; up to %u bins\n",
           c->runs, c->runs == 1 ? "" : "s",
           c->modules.len ? fp_plain(&v->scratch, fp_base_name(c->modules.at[0].path)) : "nothing",
           seen[FP_EVENT_ENTRY], c->functions.len, seen[FP_EVENT_EDGE],
           seen[FP_EVENT_PATH] + seen[FP_EVENT_PARTIAL], c->bins);
    if (c->left_out)
        fp_say(v->out,
               "%" PRIu64 " counts of a function in a run were left out; the first is of %s\n",
               c->left_out, fp_plain(&v->scratch, c->left_out_why ? c->left_out_why : "?"));
    fp_say(v->out, "\n");
}

static const struct fp_position *position_of(const struct fp_function *f, uint32_t block, bool last)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    if (!info->npositions) return NULL;
    return &f->source.positions[info->first_position + (last ? info->npositions - 1 : 0)];
}

static void say_position(struct combined_show *v, const struct fp_function *f,
                         const struct fp_position *p)
{
    if (p)
        fp_say(v->out, "%s:%u",
               fp_plain(&v->scratch, fp_base_name(f->source.scopes[p->scope].file)), p->line);
    else
        fp_say(v->out, "%s", fp_plain(&v->scratch, fp_base_name(f->file)));
}

static void say_edge(struct combined_show *v, const struct fp_function *f, uint64_t id)
{
    const struct fp_edge *edge = &f->paths.cfg->edges[id];
    const char *label = fp_edge_label_text(&v->scratch, f, (uint32_t)id);
    say_position(v, f, position_of(f, edge->src, true));
    if (*label) fp_say(v->out, "(%s)", label);
    fp_say(v->out, " -> ");
    say_position(v, f, position_of(f, edge->dst, false));
    fp_say(v->out, "  edge %u->%u", edge->src, edge->dst);
}

static bool decode(struct combined_show *v, const struct fp_function *f,
                   const struct fp_event *event, struct fp_path *path)
{
    if (!f || !(f->flags & FP_FUNCTION_PATHS)) return false;
    return event->kind == FP_EVENT_PATH
               ? fp_path_decode(&v->scratch, f->paths.numbering, event->id, path)
               : fp_path_decode_partial(&v->scratch, f->paths.numbering, event->block, event->id,
                                        path);
}

static void say_event(struct combined_show *v, const struct fp_ranked *r)
{
    const struct fp_function *f = function_of(v, r->function);
    struct fp_path path;
    fp_say(v->out, "%s%s%s  ", colour(v, BOLD),
           fp_plain(&v->scratch, fp_demangle(&v->scratch, r->function->name)), colour(v, PLAIN));
    switch (r->event->kind) {
    case FP_EVENT_ENTRY:
        fp_say(v->out, "%s:%u calls", fp_plain(&v->scratch, fp_base_name(r->function->file)),
               r->function->line);
        break;
    case FP_EVENT_EDGE:
        if (f && r->event->id < f->paths.cfg->nedges)
            say_edge(v, f, r->event->id);
        else
            fp_say(v->out, "edge %" PRIu64, r->event->id);
        break;
    case FP_EVENT_PATH:
    case FP_EVENT_PARTIAL:
        if (decode(v, f, r->event, &path) && f->source.npositions)
            fp_say(v->out, "%s: %s", fp_plain(&v->scratch, fp_base_name(f->file)),
                   fp_path_text(&v->scratch, f, &path));
        else
            fp_say(v->out, "path %" PRIu64, r->event->id);
        break;
    }
    fp_say(v->out, "\n");
}

static void say_row(struct combined_show *v, const struct fp_ranked *r)
{
    const struct fp_distribution *d = &r->event->distribution;
    char *bars = fp_histogram_text(&v->scratch, &d->histogram, v->options->utf8);
    fp_say(v->out, "%5" PRIu64 "/%-5" PRIu64 " %10.4g %9.3g %9.4g %9.4g %9.4g %9.4g", d->nonzero,
           d->trials, fp_distribution_mean(d), fp_distribution_deviation(d), d->min,
           fp_distribution_quantile(d, 0.5), fp_distribution_quantile(d, 0.9), d->max);
    if (v->options->above >= 0)
        fp_say(v->out, " %6.1f%%", 100 * fp_distribution_above(d, v->options->above));
    uint32_t together = bins_together(&d->histogram),
             used = (d->histogram.nbins + together - 1) / together;
    fp_say(v->out, "  |%s|%*s ", bars, (int)(WIDEST - used), "");
    say_event(v, r);
}

void fp_show_combined_text(struct fp_writer *out, const struct fp_combined *c,
                           const struct fp_function *const *functions,
                           const struct fp_show_combined *options)
{
    struct combined_show v = {.out = out, .combined = c, .options = options};
    size_t count, shown;
    begin_view(&v, functions);
    say_head(&v);
    struct fp_ranked *rows = ranked(&v, 0, &count);
    char above[32] = "";
    if (options->above >= 0) snprintf(above, sizeof above, "  >%-5.4g", options->above);
    fp_say(out,
           "%s seen/runs       mean deviation       min    median       90%%       max%s  "
           "histogram, event%s\n",
           colour(&v, DIM), above, colour(&v, PLAIN));
    for (shown = 0; shown < count && (!options->top || shown < options->top); shown++) {
        say_row(&v, &rows[shown]);
        if (v.scratch.total > 1 << 20) fp_arena_free(&v.scratch);
    }
    if (shown < count)
        fp_say(out, "%s... %zu more; --top 0 shows all%s\n", colour(&v, DIM), count - shown,
               colour(&v, PLAIN));
    end_view(&v);
}

/* ---- JSON: docs/formats/combined.md ---- */

static void json_distribution(struct fp_json *j, const struct combined_show *v,
                              const struct fp_distribution *d)
{
    static const double quantiles[] = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95};
    fp_json_key(j, "runs"), fp_json_uint(j, d->trials);
    fp_json_key(j, "seen"), fp_json_uint(j, d->nonzero);
    fp_json_key(j, "count"), fp_json_uint(j, d->count);
    fp_json_key(j, "least"), fp_json_uint(j, d->least);
    fp_json_key(j, "most"), fp_json_uint(j, d->most);
    fp_json_key(j, "mean"), fp_json_double(j, fp_distribution_mean(d));
    fp_json_key(j, "variance"), fp_json_double(j, fp_distribution_variance(d));
    fp_json_key(j, "deviation"), fp_json_double(j, fp_distribution_deviation(d));
    fp_json_key(j, "variation"), fp_json_double(j, fp_distribution_variation(d));
    fp_json_key(j, "min"), fp_json_double(j, d->min);
    fp_json_key(j, "max"), fp_json_double(j, d->max);
    fp_json_key(j, "quantiles"), fp_json_begin(j, '{');
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        char key[16];
        snprintf(key, sizeof key, "%g", quantiles[i]);
        fp_json_key(j, key), fp_json_double(j, fp_distribution_quantile(d, quantiles[i]));
    }
    fp_json_end(j, '}');
    if (v->options->above >= 0)
        fp_json_key(j, "above"), fp_json_double(j, fp_distribution_above(d, v->options->above));
    fp_json_key(j, "histogram"), fp_json_begin(j, '{');
    fp_json_key(j, "lower"), fp_json_double(j, fp_histogram_lower(&d->histogram));
    fp_json_key(j, "width"), fp_json_double(j, fp_histogram_width(&d->histogram));
    fp_json_key(j, "weights"), fp_json_begin(j, '[');
    for (uint32_t i = 0; i < d->histogram.nbins; i++) fp_json_double(j, d->histogram.bins[i]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

static void json_place(struct fp_json *j, struct combined_show *v, const struct fp_ranked *r)
{
    const struct fp_function *f = function_of(v, r->function);
    const struct fp_event *event = r->event;
    struct fp_path path;
    fp_json_key(j, "id"), fp_json_uint(j, event->id);
    if (event->kind == FP_EVENT_PARTIAL)
        fp_json_key(j, "stopped_in"), fp_json_uint(j, event->block);
    if (event->kind == FP_EVENT_EDGE && f && event->id < f->paths.cfg->nedges) {
        const char *label = fp_edge_label_text(&v->scratch, f, (uint32_t)event->id);
        fp_json_key(j, "from"), fp_json_uint(j, f->paths.cfg->edges[event->id].src);
        fp_json_key(j, "to"), fp_json_uint(j, f->paths.cfg->edges[event->id].dst);
        if (*label) fp_json_key(j, "branch"), fp_json_string(j, label);
    }
    if (fp_event_trials(event->kind) == FP_TRIALS_PATHS && decode(v, f, event, &path))
        fp_json_key(j, "lines"), fp_json_string(j, fp_path_text(&v->scratch, f, &path));
}

static void json_event(struct fp_json *j, struct combined_show *v, const struct fp_ranked *r)
{
    static const char *const kinds[] = {"calls", "edge", "path", "path left"};
    fp_json_begin(j, '{');
    fp_json_key(j, "kind"), fp_json_string(j, kinds[r->event->kind]);
    fp_json_key(j, "function"), fp_json_string(j, fp_demangle(&v->scratch, r->function->name));
    fp_json_key(j, "linkage_name"), fp_json_string(j, r->function->name);
    fp_json_key(j, "file"), fp_json_string(j, r->function->file);
    fp_json_key(j, "line"), fp_json_uint(j, r->function->line);
    if (r->event->kind != FP_EVENT_ENTRY) json_place(j, v, r);
    json_distribution(j, v, &r->event->distribution);
    fp_json_end(j, '}');
}

void fp_show_combined_json(struct fp_writer *out, const struct fp_combined *c,
                           const struct fp_function *const *functions,
                           const struct fp_show_combined *options)
{
    struct combined_show v = {.out = out, .combined = c, .options = options};
    struct fp_json j = {.out = out};
    size_t count;
    begin_view(&v, functions);
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "runs"), fp_json_uint(&j, c->runs);
    fp_json_key(&j, "bins"), fp_json_uint(&j, c->bins);
    fp_json_key(&j, "functions"), fp_json_uint(&j, c->functions.len);
    fp_json_key(&j, "left_out"), fp_json_uint(&j, c->left_out);
    fp_json_key(&j, "events"), fp_json_begin(&j, '[');
    struct fp_ranked *rows = ranked(&v, 0, &count);
    for (size_t i = 0; i < count && (!options->top || i < options->top); i++) {
        json_event(&j, &v, &rows[i]);
        if (v.scratch.total > 1 << 20) fp_arena_free(&v.scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    end_view(&v);
}
