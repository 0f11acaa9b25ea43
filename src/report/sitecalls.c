/* Callers and callees on the report's page: see siteparts.h and docs/formats/report.md. */
#include "report/siteparts.h"

#include "base/checked.h"

#include <stdlib.h>

/* A function that everybody calls would fill the page. The most costly calls are listed. */
enum { MOST_CALLS = 100 };

void fp_site_calls_make(struct fp_pages *site)
{
    struct fp_site_calls *c = &site->calls;
    c->report = site->options->whole ? site->options->whole : site->report;
    fp_call_graph_make(&site->arena, c->report, &c->graph);
    c->shown = FP_NEW_ARRAY(&site->arena, uint32_t, c->report->nfunctions);
    c->whole = FP_NEW_ARRAY(&site->arena, uint32_t, site->report->nfunctions);
    for (uint32_t i = 0; i < c->report->nfunctions; i++) {
        c->shown[i] = fp_site_find(site, c->report->functions[i].function);
        if (c->shown[i] != FP_NONE) c->whole[c->shown[i]] = i;
    }
}

/* The function at the other end of a call. FP_NONE: it is not measured, or not known. */
static uint32_t other_end(const struct fp_call_edge *edge, bool callers)
{
    return callers ? edge->caller : edge->callee;
}

/* A number where the site has the function, a name where it has not, 0 for a call through a
 * pointer. */
static void json_end(struct fp_json *j, const struct fp_site_calls *c, struct fp_arena *scratch,
                     const struct fp_call_edge *edge, bool callers)
{
    uint32_t end = other_end(edge, callers);
    bool known = end != FP_NONE;
    if (known && c->shown[end] != FP_NONE)
        fp_json_uint(j, c->shown[end]);
    else
        fp_json_int(j, -1);
    if (known)
        fp_json_string(j, c->report->functions[end].name);
    else if (edge->name)
        fp_json_string(j, fp_demangle(scratch, edge->name));
    else
        fp_json_uint(j, 0);
}

static void json_call(struct fp_json *j, const struct fp_site_calls *c, struct fp_arena *scratch,
                      const struct fp_call_edge *edge, bool callers)
{
    fp_json_begin(j, '[');
    json_end(j, c, scratch, edge, callers);
    fp_site_count(j, edge->count);
    fp_json_double(j, edge->cost);
    fp_json_uint(j, edge->line);
    fp_json_uint(j, edge->recursive);
    fp_json_end(j, ']');
}

static int by_cost(const void *x, const void *y)
{
    const struct fp_call_edge *a = *(const struct fp_call_edge *const *)x,
                              *b = *(const struct fp_call_edge *const *)y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return (a > b) - (a < b);
}

/* The calls of one function, most costly first, and what is left: how many, count, cost. */
static void json_calls(struct fp_json *j, const struct fp_site_calls *c, struct fp_arena *scratch,
                       const struct fp_call_edge **edges, size_t n, bool callers)
{
    uint64_t count = 0;
    double cost = 0;
    if (n) qsort(edges, n, sizeof *edges, by_cost);
    fp_json_begin(j, '[');
    for (size_t i = 0; i < n; i++) {
        if (i < MOST_CALLS) {
            json_call(j, c, scratch, edges[i], callers);
            continue;
        }
        count = fp_add_saturated(count, edges[i]->count);
        cost += edges[i]->cost;
    }
    fp_json_end(j, ']');
    fp_json_begin(j, '[');
    fp_json_uint(j, n > MOST_CALLS ? n - MOST_CALLS : 0);
    fp_site_count(j, count);
    fp_json_double(j, cost);
    fp_json_end(j, ']');
}

void fp_site_json_calls(struct fp_json *j, const struct fp_pages *site, uint32_t index)
{
    const struct fp_site_calls *c = &site->calls;
    const struct fp_call_graph *g = &c->graph;
    uint32_t f = c->whole[index];
    struct fp_arena scratch = {0};
    size_t nin = g->first_in[f + 1] - g->first_in[f], nout = g->first_out[f + 1] - g->first_out[f];
    const struct fp_call_edge **in = FP_NEW_ARRAY(&scratch, const struct fp_call_edge *, nin),
                              **out = FP_NEW_ARRAY(&scratch, const struct fp_call_edge *, nout);
    for (size_t i = 0; i < nin; i++) in[i] = &g->edges[g->by_callee[g->first_in[f] + i]];
    for (size_t i = 0; i < nout; i++) out[i] = &g->edges[g->first_out[f] + i];
    fp_json_key(j, "c"), fp_json_begin(j, '[');
    json_calls(j, c, &scratch, in, nin, true);
    json_calls(j, c, &scratch, out, nout, false);
    fp_json_begin(j, '[');
    fp_site_count(j, g->elsewhere[f]);
    fp_json_double(j, fp_cost_from_elsewhere(g, f));
    fp_json_end(j, ']');
    fp_json_end(j, ']');
    fp_arena_free(&scratch);
}
