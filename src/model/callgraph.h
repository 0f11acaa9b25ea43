/* Which function called which, how often, and what that cost.
 *
 * A call by name happens as often as its block ran, so its count is exact: from path counts or
 * from edge counts, at no price at run time. Calls through pointers are counted per caller. With
 * --fp-values also per callee, while the program is where it ran and has symbols; without, a
 * callee's calls that no caller accounts for came through pointers or from code that is not
 * instrumented.
 *
 * Inclusive cost is what a function and all it called cost. With --fp-calls=inclusive the cost of
 * each call is measured. Of other calls, and of those that never returned, it is not known how much
 * of the callee's cost belongs to each: what is left of that cost is shared out by their numbers,
 * as in gprof. In recursion only the outermost call of a function counts, for its cost has that of
 * the inner ones; where nothing is measured, the call that closes a circle gets nothing. Where
 * costs of paths were measured with those of callees (report->inclusive), nothing is added up.
 */
#ifndef FP_MODEL_CALLGRAPH_H
#define FP_MODEL_CALLGRAPH_H

#include "model/model.h"

struct fp_call_edge {
    uint32_t caller, callee; /* indexes of the report's functions; callee FP_NONE: not among them */
    const char *name; /* linkage name of the callee; NULL: through pointers to what is not known */
    uint32_t line;    /* of the call, in the caller's file; of several: the first */
    uint64_t count;
    double cost;      /* of the callee's inclusive cost: the part of these calls */
    double whole;     /* what the calls cost, in recursion each inner one, too */
    uint64_t returns; /* how many were measured: with --fp-calls=inclusive those that returned */
    bool recursive;   /* closes a circle of calls */
};

struct fp_call_graph {
    struct fp_call_edge *edges; /* by caller */
    size_t nedges;
    size_t *first_out;   /* per function, and one more: its edges */
    uint32_t *by_callee; /* edges with a callee, by callee */
    size_t *first_in;    /* per function, and one more: in by_callee */
    double *inclusive;   /* per function */
    double *again;       /* per function: measured cost of calls while it was active already */
    uint64_t *elsewhere; /* per function: calls that no edge has */
};

/* needs: the report's edges. Lives in `arena`. */
void fp_call_graph_make(struct fp_arena *arena, const struct fp_report *report,
                        struct fp_call_graph *graph);

/* The part of a function's inclusive cost that is of the calls in `elsewhere`. */
double fp_cost_from_elsewhere(const struct fp_call_graph *graph, size_t function);

#endif
