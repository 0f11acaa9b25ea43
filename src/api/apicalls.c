/* libfootpath, calls: see footpath/footpath.h. */
#include "api/handle.h"

#include "base/plain.h"
#include "model/callgraph.h"

#include <stdlib.h>

struct fp_handle_calls {
    struct fp_report *report; /* of all functions, whatever the filter says */
    struct fp_call_graph graph;
    struct fp_table index;            /* address of an fp_function -> 1 + its index in the report */
    struct footpath_function **shown; /* per function of the report, or NULL */
};

/* The graph of the whole program: callers may be functions that were not asked for. */
static struct fp_handle_calls *calls_of(struct footpath *fp)
{
    struct fp_handle_calls *calls = fp->calls;
    if (calls || !fp->profile || !fp->report) return calls;
    calls = fp->calls = FP_NEW(&fp->arena, struct fp_handle_calls);
    struct fp_report_options options = {.edges = true, .unordered = true};
    calls->report = fp->filter ? fp_report_make(&fp->arena, fp->profile, &options) : fp->report;
    for (size_t i = 0; i < calls->report->nfunctions; i++)
        fp_report_edges(calls->report, &calls->report->functions[i]);
    fp_call_graph_make(&fp->arena, calls->report, &calls->graph);
    fp_table_init(&calls->index, &fp->arena);
    calls->shown = FP_NEW_ARRAY(&fp->arena, struct footpath_function *, calls->report->nfunctions);
    for (size_t i = 0; i < calls->report->nfunctions; i++)
        *fp_table_add(&calls->index, (uintptr_t)calls->report->functions[i].function) = i + 1;
    for (size_t i = 0; i < fp->nfunctions; i++) {
        const struct fp_function *f = fp->functions[i].function;
        const uint64_t *at = f ? fp_table_find(&calls->index, (uintptr_t)f) : NULL;
        if (at) calls->shown[*at - 1] = &fp->shown[i];
    }
    return calls;
}

static bool index_of(const struct footpath *fp, const struct fp_handle_calls *calls,
                     const struct footpath_function *function, size_t *index)
{
    const struct fp_function *f = fp->functions[function->index].function;
    const uint64_t *at = calls && f ? fp_table_find(&calls->index, (uintptr_t)f) : NULL;
    if (at) *index = *at - 1;
    return at;
}

static struct footpath_call call_of(struct footpath *fp, const struct fp_call_edge *edge)
{
    const struct fp_handle_calls *calls = fp->calls;
    struct footpath_call call = {.caller = calls->shown[edge->caller],
                                 .caller_name = calls->report->functions[edge->caller].name,
                                 .line = edge->line,
                                 .count = edge->count,
                                 .cost = edge->cost,
                                 .recursive = edge->recursive};
    if (edge->callee != FP_NONE) {
        call.callee = calls->shown[edge->callee];
        call.callee_name = calls->report->functions[edge->callee].name;
    } else if (edge->name) {
        call.callee_name = fp_plain(&fp->arena, fp_demangle(&fp->arena, edge->name));
    }
    return call;
}

static int by_cost(const void *x, const void *y)
{
    const struct footpath_call *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    int order = strcmp(a->caller_name, b->caller_name);
    if (order || !a->callee_name || !b->callee_name) return order;
    return strcmp(a->callee_name, b->callee_name);
}

static const struct footpath_call *sorted(struct footpath_call *calls, size_t count)
{
    if (count) qsort(calls, count, sizeof *calls, by_cost);
    return calls;
}

const struct footpath_call *footpath_callees(struct footpath *fp,
                                             const struct footpath_function *function,
                                             size_t *count)
{
    const struct fp_handle_calls *calls = calls_of(fp);
    size_t index;
    *count = 0;
    if (!index_of(fp, calls, function, &index)) return NULL;
    size_t first = calls->graph.first_out[index];
    *count = calls->graph.first_out[index + 1] - first;
    struct footpath_call *list = FP_NEW_ARRAY(&fp->arena, struct footpath_call, *count);
    for (size_t i = 0; i < *count; i++) list[i] = call_of(fp, &calls->graph.edges[first + i]);
    return sorted(list, *count);
}

/* What no caller accounts for. */
static struct footpath_call from_elsewhere(const struct fp_handle_calls *calls, size_t index)
{
    return (struct footpath_call){.callee = calls->shown[index],
                                  .callee_name = calls->report->functions[index].name,
                                  .count = calls->graph.elsewhere[index],
                                  .cost = fp_cost_from_elsewhere(&calls->graph, index)};
}

const struct footpath_call *footpath_callers(struct footpath *fp,
                                             const struct footpath_function *function,
                                             size_t *count)
{
    const struct fp_handle_calls *calls = calls_of(fp);
    size_t index;
    *count = 0;
    if (!index_of(fp, calls, function, &index)) return NULL;
    size_t first = calls->graph.first_in[index];
    *count = calls->graph.first_in[index + 1] - first;
    struct footpath_call *list = FP_NEW_ARRAY(&fp->arena, struct footpath_call, *count + 1);
    for (size_t i = 0; i < *count; i++)
        list[i] = call_of(fp, &calls->graph.edges[calls->graph.by_callee[first + i]]);
    sorted(list, *count);
    if (calls->graph.elsewhere[index]) list[(*count)++] = from_elsewhere(calls, index);
    return list;
}

double footpath_inclusive(struct footpath *fp, const struct footpath_function *function)
{
    const struct fp_handle_calls *calls = calls_of(fp);
    size_t index;
    return index_of(fp, calls, function, &index) ? calls->graph.inclusive[index] : 0;
}
