/* The call graph: see callgraph.h. */
#include "model/callgraph.h"

#include "base/checked.h"
#include "count/values.h"
#include "paths/valuecounts.h"
#include "profile/symbols.h"

#include <stdlib.h>

struct caller {
    struct fp_arena *arena, scratch;
    const struct fp_report *report;
    struct fp_call_graph *graph;
    struct fp_strtable by_name; /* linkage name -> 1 + the first function */
    uint32_t *next_same;        /* per function: the next with its name, or FP_NONE */
    struct fp_table symbols;    /* module -> its struct fp_symbols, once they are read */
    FP_VEC(struct fp_call_edge) edges;
};

/* ---- who is called ---- */

static void index_names(struct caller *c)
{
    size_t n = c->report->nfunctions;
    c->next_same = FP_NEW_ARRAY(&c->scratch, uint32_t, n);
    fp_strtable_init(&c->by_name, &c->scratch);
    for (size_t i = n; i-- > 0;) {
        uint64_t *first = fp_strtable_add(&c->by_name, c->report->functions[i].function->name);
        c->next_same[i] = *first ? (uint32_t)*first - 1 : FP_NONE;
        *first = i + 1;
    }
}

/* How near a function of that name is: static functions of two files may share one. */
static int nearness(const struct fp_report_function *caller,
                    const struct fp_report_function *callee)
{
    bool same_file = !strcmp(caller->function->file, callee->function->file);
    return 2 * (caller->module == callee->module) + same_file;
}

static uint32_t find_function(const struct caller *c, uint32_t caller, const char *name)
{
    const uint64_t *first = name ? fp_strtable_find(&c->by_name, name) : NULL;
    const struct fp_report_function *all = c->report->functions;
    uint32_t best = FP_NONE;
    for (uint32_t i = first ? (uint32_t)*first - 1 : FP_NONE; i != FP_NONE; i = c->next_same[i])
        if (best == FP_NONE || nearness(&all[caller], &all[i]) > nearness(&all[caller], &all[best]))
            best = i;
    return best;
}

/* ---- edges ---- */

/* What is known of some calls. */
struct call_facts {
    uint64_t count, returns;
    double cost; /* measured, of those that returned */
};

/* The calls of one function by another, or through pointers (name NULL), become one edge. */
static void add_count(struct caller *c, uint32_t caller, struct fp_strtable *known,
                      const char *name, uint32_t line, struct call_facts facts)
{
    uint64_t *edge = fp_strtable_add(known, name ? name : "");
    if (!*edge) {
        struct fp_call_edge made = {
            .caller = caller, .callee = find_function(c, caller, name), .name = name, .line = line};
        fp_vec_push(c->arena, &c->edges, made);
        *edge = c->edges.len;
    }
    struct fp_call_edge *known_edge = &c->edges.at[*edge - 1];
    known_edge->count = fp_add_saturated(known_edge->count, facts.count);
    known_edge->returns = fp_add_saturated(known_edge->returns, facts.returns);
    known_edge->whole += facts.cost;
}

/* Those of the program that ran: its file may have been built again. */
static const struct fp_symbols *symbols_of(struct caller *c, const struct fp_module *module)
{
    uint64_t *known = fp_table_add(&c->symbols, (uintptr_t)module);
    if (*known) return (const struct fp_symbols *)(uintptr_t)*known;
    struct fp_symbols *symbols = FP_NEW(&c->scratch, struct fp_symbols);
    const char *path = module->program.path;
    struct fp_program file;
    struct fp_error ignored = {0};
    *known = (uintptr_t)symbols;
    if (path && fp_program_read(&c->scratch, path, &file, &ignored) &&
        fp_program_fits(&file, &module->id))
        fp_symbols_read(&c->scratch, path, symbols);
    return symbols;
}

/* The name of the function at an address; of several the one that is measured. */
static const char *name_at(struct caller *c, const struct fp_module *module, uint64_t address)
{
    const struct fp_symbols *symbols = symbols_of(c, module);
    const struct fp_symbol *first = fp_symbols_find(symbols, address);
    const struct fp_symbol *end = symbols->at + symbols->len;
    for (const struct fp_symbol *one = first; one && one < end && one->address == address; one++)
        if (fp_strtable_find(&c->by_name, one->name)) return one->name;
    return first ? first->name : NULL;
}

/* Takes `count` calls out of an edge, with their part of what is measured. */
static struct call_facts take_calls(struct fp_call_edge *edge, uint64_t count)
{
    double part = (double)count / (double)edge->count;
    struct call_facts taken = {count, (uint64_t)((double)edge->returns * part), edge->whole * part};
    edge->count -= taken.count;
    edge->returns -= taken.returns;
    edge->whole -= taken.cost;
    return taken;
}

/* With --fp-values: which functions the calls through pointers led to. What is left of the edge at
 * `pointers` led to where there is no symbol. */
static void resolve_pointers(struct caller *c, uint32_t index, struct fp_strtable *known,
                             size_t pointers, struct fp_arena *arena)
{
    const struct fp_report_function *rf = &c->report->functions[index];
    uint64_t table = rf->function->layout.path_address;
    struct fp_value_count *values;
    size_t n = fp_values_of(arena, rf->module, rf->function, rf->edges.blocks, &values);
    for (size_t i = 0; i < n; i++) {
        if (fp_value_kind(values[i].key) != FP_VALUE_TARGET) continue;
        struct fp_call_edge *rest = &c->edges.at[pointers];
        const char *name = name_at(c, rf->module, fp_value_target(values[i].key, table));
        uint64_t count = values[i].count < rest->count ? values[i].count : rest->count;
        if (!name || !count) continue;
        uint32_t line = rest->line;
        add_count(c, index, known, fp_arena_strdup(c->arena, name), line, take_calls(rest, count));
    }
    if (!c->edges.at[pointers].count) c->edges.at[pointers] = fp_vec_pop(&c->edges);
}

static void add_calls(struct caller *c, uint32_t index)
{
    const struct fp_report_function *rf = &c->report->functions[index];
    const struct fp_source *source = &rf->function->source;
    struct fp_strtable known; /* name -> 1 + its edge */
    struct fp_arena arena = {0};
    uint64_t again;
    const struct fp_call_cost *costs =
        fp_profile_call_costs(&arena, rf->module, rf->function, &again);
    c->graph->again[index] = (double)again;
    fp_strtable_init(&known, &arena);
    for (uint32_t i = 0; rf->edges.blocks && i < source->ncalls; i++) {
        const struct fp_call *call = &source->calls[i];
        struct call_facts facts = {.count = rf->edges.blocks[call->block]};
        if (costs) facts.returns = costs[i].returns, facts.cost = (double)costs[i].cost;
        if (facts.count) add_count(c, index, &known, call->callee, call->line, facts);
    }
    const uint64_t *pointers = fp_strtable_find(&known, "");
    if (pointers && rf->function->flags & FP_FUNCTION_VALUES)
        resolve_pointers(c, index, &known, (size_t)*pointers - 1, &arena);
    fp_arena_free(&arena);
}

static void list_edges(struct caller *c)
{
    struct fp_call_graph *g = c->graph;
    size_t n = c->report->nfunctions;
    g->first_out = FP_NEW_ARRAY(c->arena, size_t, n + 1);
    g->again = FP_NEW_ARRAY(c->arena, double, n);
    for (size_t i = 0; i < n; i++) {
        g->first_out[i] = c->edges.len;
        add_calls(c, (uint32_t)i);
    }
    g->first_out[n] = c->edges.len;
    g->edges = c->edges.at;
    g->nedges = c->edges.len;
}

static void list_callers(struct caller *c)
{
    struct fp_call_graph *g = c->graph;
    size_t n = c->report->nfunctions;
    g->first_in = FP_NEW_ARRAY(c->arena, size_t, n + 2);
    g->by_callee = FP_NEW_ARRAY(c->arena, uint32_t, g->nedges);
    g->elsewhere = FP_NEW_ARRAY(c->arena, uint64_t, n);
    for (size_t e = 0; e < g->nedges; e++)
        if (g->edges[e].callee != FP_NONE) g->first_in[g->edges[e].callee + 2]++;
    for (size_t i = 0; i < n; i++) g->first_in[i + 2] += g->first_in[i + 1];
    for (size_t e = 0; e < g->nedges; e++)
        if (g->edges[e].callee != FP_NONE)
            g->by_callee[g->first_in[g->edges[e].callee + 1]++] = (uint32_t)e;
    for (size_t i = 0; i < n; i++) {
        uint64_t known = 0, calls = c->report->functions[i].calls;
        for (size_t k = g->first_in[i]; k < g->first_in[i + 1]; k++)
            known = fp_add_saturated(known, g->edges[g->by_callee[k]].count);
        g->elsewhere[i] = calls > known ? calls - known : 0;
    }
}

/* ---- recursion, and the order in which costs add up ---- */

enum { UNSEEN, ON_STACK, DONE };

struct call_walk {
    const struct fp_call_graph *graph;
    unsigned char *state;
    size_t *next;            /* per function: its next edge */
    uint32_t *order, norder; /* callees before callers */
    FP_VEC(uint32_t) stack;
    struct fp_arena *arena;
};

static void enter(struct call_walk *w, uint32_t function)
{
    w->state[function] = ON_STACK;
    w->next[function] = w->graph->first_out[function];
    fp_vec_push(w->arena, &w->stack, function);
}

/* Depth first: an edge to a function that is still on the stack closes a circle. */
static void walk_from(struct call_walk *w, uint32_t root)
{
    if (w->state[root] != UNSEEN) return;
    enter(w, root);
    while (w->stack.len) {
        uint32_t f = w->stack.at[w->stack.len - 1];
        if (w->next[f] == w->graph->first_out[f + 1]) {
            w->state[f] = DONE;
            w->order[w->norder++] = f;
            w->stack.len--;
            continue;
        }
        struct fp_call_edge *edge = &w->graph->edges[w->next[f]++];
        if (edge->callee == FP_NONE) continue;
        if (w->state[edge->callee] == ON_STACK) edge->recursive = true;
        if (w->state[edge->callee] == UNSEEN) enter(w, edge->callee);
    }
}

/* From functions that are called from elsewhere first, as main is: those begin the circles. */
static uint32_t *order_functions(struct caller *c)
{
    size_t n = c->report->nfunctions;
    struct call_walk w = {.graph = c->graph, .arena = &c->scratch};
    w.state = FP_NEW_ARRAY(&c->scratch, unsigned char, n);
    w.next = FP_NEW_ARRAY(&c->scratch, size_t, n);
    w.order = FP_NEW_ARRAY(&c->scratch, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(c->report->functions[i].function->name, "main")) walk_from(&w, i);
    for (uint32_t i = 0; i < n; i++)
        if (c->graph->elsewhere[i]) walk_from(&w, i);
    for (uint32_t i = 0; i < n; i++) walk_from(&w, i);
    return w.order;
}

/* ---- costs ---- */

/* Calls whose cost is not measured. In recursion they get nothing. */
static double unmeasured(const struct fp_call_edge *edge)
{
    return edge->recursive || edge->returns >= edge->count ? 0
                                                           : (double)(edge->count - edge->returns);
}

/* What no measured call accounts for goes to the others, by their numbers. Returns what is left for
 * calls from elsewhere. */
static double share_out(struct fp_call_graph *g, uint32_t f, double rest)
{
    double calls = (double)g->elsewhere[f];
    for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++) {
        rest -= g->edges[g->by_callee[k]].whole;
        calls += unmeasured(&g->edges[g->by_callee[k]]);
    }
    if (rest < 0) rest = 0;
    for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++) {
        struct fp_call_edge *edge = &g->edges[g->by_callee[k]];
        if (calls > 0) edge->whole += rest * unmeasured(edge) / calls;
        edge->cost = edge->whole;
    }
    return calls > 0 ? rest * (double)g->elsewhere[f] / calls : 0;
}

/* Takes the cost of inner calls off the edges into a function: off those that close a circle of
 * known calls, or off all of them and the calls from elsewhere alike. Returns what is left. */
static double take_off(struct fp_call_graph *g, uint32_t f, bool recursive, double again,
                       double from_elsewhere)
{
    double all = recursive ? 0 : from_elsewhere;
    for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++) {
        const struct fp_call_edge *edge = &g->edges[g->by_callee[k]];
        if (edge->recursive >= recursive) all += edge->cost;
    }
    double kept = all > again ? 1 - again / all : 0;
    for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++) {
        struct fp_call_edge *edge = &g->edges[g->by_callee[k]];
        if (edge->recursive >= recursive) edge->cost *= kept;
    }
    return again - all * (1 - kept);
}

/* Needs: the edges out of `f` have their costs, but for those that close a circle and are not
 * measured. */
static void cost_of(struct caller *c, uint32_t f)
{
    struct fp_call_graph *g = c->graph;
    double all = c->report->functions[f].cost, again = g->again[f];
    for (size_t e = g->first_out[f]; !c->report->inclusive && e < g->first_out[f + 1]; e++) {
        if (g->edges[e].callee == FP_NONE) g->edges[e].cost = g->edges[e].whole;
        all += g->edges[e].whole;
    }
    if (again > all) again = all;
    g->inclusive[f] = all - again;
    double from_elsewhere = share_out(g, f, all);
    /* calls that close a circle are inner ones; which of the others are is not known */
    if (again > 0) again = take_off(g, f, true, again, from_elsewhere);
    if (again > 0) take_off(g, f, false, again, from_elsewhere);
}

static void add_costs(struct caller *c)
{
    size_t n = c->report->nfunctions;
    const uint32_t *order = order_functions(c);
    c->graph->inclusive = FP_NEW_ARRAY(c->arena, double, n);
    for (size_t i = 0; i < n; i++) cost_of(c, order[i]);
}

void fp_call_graph_make(struct fp_arena *arena, const struct fp_report *report,
                        struct fp_call_graph *graph)
{
    struct caller c = {.arena = arena, .report = report, .graph = graph};
    *graph = (struct fp_call_graph){0};
    fp_table_init(&c.symbols, &c.scratch);
    index_names(&c);
    list_edges(&c);
    list_callers(&c);
    add_costs(&c);
    fp_arena_free(&c.scratch);
}

double fp_cost_from_elsewhere(const struct fp_call_graph *g, size_t f)
{
    double rest = g->elsewhere[f] ? g->inclusive[f] : 0;
    for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++)
        rest -= g->edges[g->by_callee[k]].cost;
    return rest > 0 ? rest : 0;
}
