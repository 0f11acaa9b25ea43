/* footpath show of combined profiles: see showcombined.h. */
#include "report/showcombined.h"

#include "report/showparts.h"

#include <inttypes.h>
#include <stdio.h>

enum { INDENT = 8 /* of sentences */ };

struct combined_show {
    struct fp_show_out o;
    const struct fp_show_combined *options;
    const struct footpath_event *events;
    size_t count, shown;
};

static struct combined_show begin_view(struct fp_writer *out, struct footpath *fp,
                                       const struct fp_show_combined *options)
{
    struct combined_show v = {.o = {.out = out, .fp = fp, .colours = options->colours},
                              .options = options};
    v.events = footpath_events(fp, &options->filter, &v.count);
    v.shown = options->top && options->top < v.count ? options->top : v.count;
    return v;
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
static uint32_t bins_together(const struct footpath_statistics *s)
{
    return (s->nbins + WIDEST - 1) / WIDEST;
}

static double weight_together(const struct footpath_statistics *s, uint32_t from)
{
    double weight = 0;
    for (uint32_t i = from; i < from + bins_together(s) && i < s->nbins; i++)
        weight += s->weights[i];
    return weight;
}

/* The bins from the first to the last as at most 15 characters. */
static void say_histogram(struct combined_show *v, const struct footpath_statistics *s)
{
    static const char *const blocks[] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[] = {".", "1", "2", "3", "4", "5", "6", "7", "8"};
    double most = 0;
    uint32_t used = 0;
    fp_say(v->o.out, "  |");
    for (uint32_t i = 0; i < s->nbins; i += bins_together(s))
        if (weight_together(s, i) > most) most = weight_together(s, i);
    for (uint32_t i = 0; i < s->nbins; i += bins_together(s), used++)
        fp_say(v->o.out, "%s",
               (v->options->utf8 ? blocks : letters)[height(weight_together(s, i), most)]);
    fp_say(v->o.out, "|%*s ", (int)(WIDEST - used), "");
}

/* ---- text ---- */

static void say_head(struct combined_show *v)
{
    struct footpath_summary s;
    footpath_summarize(v->o.fp, &s);
    fp_say(v->o.out,
           "%" PRIu64 " run%s of %s combined: %" PRIu64 " of %zu functions called, %" PRIu64
           " edges and %" PRIu64 " paths taken; up to %u bins\n",
           s.runs, s.runs == 1 ? "" : "s", s.program ? fp_show_file(&v->o, s.program) : "nothing",
           s.events[FOOTPATH_EVENT_CALLS], s.functions, s.events[FOOTPATH_EVENT_EDGE],
           s.events[FOOTPATH_EVENT_PATH] + s.events[FOOTPATH_EVENT_LEFT], s.bins);
    if (s.left_out)
        fp_say(v->o.out,
               "%" PRIu64 " counts of a function in a run were left out; the first is of %s\n",
               s.left_out, fp_plain(&v->o.scratch, s.left_out_why ? s.left_out_why : "?"));
    fp_say(v->o.out, "\n");
}

static void say_event(struct combined_show *v, const struct footpath_event *event)
{
    const struct footpath_function *f = event->function;
    struct footpath_route route;
    bool sentence = false;
    fp_say(v->o.out, "%s%s%s  ", fp_show_colour(&v->o, FP_BOLD),
           fp_plain(&v->o.scratch, footpath_name(v->o.fp, f)), fp_show_colour(&v->o, FP_PLAIN));
    switch (event->kind) {
    case FOOTPATH_EVENT_CALLS: fp_say(v->o.out, "%s calls", fp_show_function(&v->o, f)); break;
    case FOOTPATH_EVENT_EDGE:
        if (event->id < f->nedges)
            fp_show_edge(&v->o, f, (uint32_t)event->id);
        else
            fp_say(v->o.out, "edge %" PRIu64, event->id);
        break;
    case FOOTPATH_EVENT_PATH:
    case FOOTPATH_EVENT_LEFT:
        sentence = footpath_decode_event(v->o.fp, event, &route) && (f->has_lines || f->address);
        if (sentence)
            fp_say(v->o.out, "%s", fp_show_function(&v->o, f));
        else
            fp_say(v->o.out, "path %" PRIu64, event->id);
        break;
    }
    fp_say(v->o.out, "\n");
    if (sentence)
        fp_show_wrapped(&v->o, footpath_sentence(v->o.fp, &route), INDENT, v->options->width);
}

static void say_row(struct combined_show *v, const struct footpath_event *event)
{
    struct footpath_statistics s;
    footpath_measure(event, &s);
    fp_say(v->o.out, "%5" PRIu64 "/%-5" PRIu64 " %10.4g %9.3g %9.4g %9.4g %9.4g %9.4g", s.seen,
           s.runs, s.mean, s.deviation, s.min, footpath_quantile(event, 0.5),
           footpath_quantile(event, 0.9), s.max);
    if (v->options->above >= 0)
        fp_say(v->o.out, " %6.1f%%", 100 * footpath_above(event, v->options->above));
    say_histogram(v, &s);
    say_event(v, event);
}

void fp_show_combined_text(struct fp_writer *out, struct footpath *fp,
                           const struct fp_show_combined *options)
{
    struct combined_show v = begin_view(out, fp, options);
    say_head(&v);
    char above[32] = "";
    if (options->above >= 0) snprintf(above, sizeof above, "  >%-5.4g", options->above);
    fp_say(out,
           "%s seen/runs       mean deviation       min    median       90%%       max%s  "
           "histogram, event%s\n",
           fp_show_colour(&v.o, FP_DIM), above, fp_show_colour(&v.o, FP_PLAIN));
    for (size_t i = 0; i < v.shown; i++) {
        say_row(&v, &v.events[i]);
        if (v.o.scratch.total > 1 << 20) fp_arena_free(&v.o.scratch);
    }
    fp_show_more(&v.o, v.count - v.shown);
    fp_arena_free(&v.o.scratch);
}

/* ---- JSON: docs/formats/combined.md ---- */

static void json_histogram(struct fp_json *j, const struct footpath_statistics *s)
{
    fp_json_key(j, "histogram"), fp_json_begin(j, '{');
    fp_json_key(j, "lower"), fp_json_double(j, s->lower);
    fp_json_key(j, "width"), fp_json_double(j, s->width);
    fp_json_key(j, "weights"), fp_json_begin(j, '[');
    for (uint32_t i = 0; i < s->nbins; i++) fp_json_double(j, s->weights[i]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

static void json_statistics(struct fp_json *j, const struct combined_show *v,
                            const struct footpath_event *event)
{
    static const double quantiles[] = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95};
    struct footpath_statistics s;
    footpath_measure(event, &s);
    fp_json_key(j, "runs"), fp_json_uint(j, s.runs);
    fp_json_key(j, "seen"), fp_json_uint(j, s.seen);
    fp_json_key(j, "count"), fp_json_uint(j, s.count);
    fp_json_key(j, "least"), fp_json_uint(j, s.least);
    fp_json_key(j, "most"), fp_json_uint(j, s.most);
    fp_json_key(j, "mean"), fp_json_double(j, s.mean);
    fp_json_key(j, "variance"), fp_json_double(j, s.variance);
    fp_json_key(j, "deviation"), fp_json_double(j, s.deviation);
    fp_json_key(j, "variation"), fp_json_double(j, s.variation);
    fp_json_key(j, "min"), fp_json_double(j, s.min);
    fp_json_key(j, "max"), fp_json_double(j, s.max);
    fp_json_key(j, "quantiles"), fp_json_begin(j, '{');
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        char key[16];
        snprintf(key, sizeof key, "%g", quantiles[i]);
        fp_json_key(j, key), fp_json_double(j, footpath_quantile(event, quantiles[i]));
    }
    fp_json_end(j, '}');
    if (v->options->above >= 0)
        fp_json_key(j, "above"), fp_json_double(j, footpath_above(event, v->options->above));
    json_histogram(j, &s);
}

static void json_place(struct fp_json *j, struct combined_show *v,
                       const struct footpath_event *event)
{
    const struct footpath_function *f = event->function;
    struct footpath_route route;
    fp_json_key(j, "id"), fp_json_uint(j, event->id);
    if (event->kind == FOOTPATH_EVENT_LEFT)
        fp_json_key(j, "stopped_in"), fp_json_uint(j, event->block);
    if (event->kind == FOOTPATH_EVENT_EDGE && event->id < f->nedges) {
        const struct footpath_edge *edge = &footpath_edges(v->o.fp, f)[event->id];
        const char *label = footpath_branch(v->o.fp, f, (uint32_t)event->id);
        fp_json_key(j, "from"), fp_json_uint(j, edge->from);
        fp_json_key(j, "to"), fp_json_uint(j, edge->to);
        if (*label) fp_json_key(j, "branch"), fp_json_string(j, label);
    }
    if (footpath_decode_event(v->o.fp, event, &route))
        fp_json_key(j, "lines"), fp_json_string(j, footpath_route_text(v->o.fp, &route));
}

static void json_event(struct fp_json *j, struct combined_show *v,
                       const struct footpath_event *event)
{
    static const char *const kinds[] = {"calls", "edge", "path", "path left"};
    const struct footpath_function *f = event->function;
    fp_json_begin(j, '{');
    fp_json_key(j, "kind"), fp_json_string(j, kinds[event->kind]);
    fp_json_key(j, "function"), fp_json_string(j, footpath_name(v->o.fp, f));
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->linkage_name);
    fp_json_key(j, "file"), fp_json_string(j, f->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->line);
    fp_json_address(j, f->address);
    if (event->kind != FOOTPATH_EVENT_CALLS) json_place(j, v, event);
    json_statistics(j, v, event);
    fp_json_end(j, '}');
}

void fp_show_combined_json(struct fp_writer *out, struct footpath *fp,
                           const struct fp_show_combined *options)
{
    struct combined_show v = begin_view(out, fp, options);
    struct fp_json j = {.out = out};
    struct footpath_summary s;
    footpath_summarize(fp, &s);
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "runs"), fp_json_uint(&j, s.runs);
    fp_json_key(&j, "bins"), fp_json_uint(&j, s.bins);
    fp_json_key(&j, "functions"), fp_json_uint(&j, s.functions);
    fp_json_key(&j, "left_out"), fp_json_uint(&j, s.left_out);
    fp_json_key(&j, "events"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < v.shown; i++) json_event(&j, &v, &v.events[i]);
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}
