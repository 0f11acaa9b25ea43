/* Graphs for Graphviz: a function's cfg or dag, with counts, values and what the
 * instrumentation does. */
#ifndef FP_REPORT_DOT_H
#define FP_REPORT_DOT_H

#include "report/json.h"
#include "model/model.h"

struct fp_dot_options {
    bool dag;                   /* the dag, with dummy edges, instead of the cfg */
    bool values;                /* path numbering */
    bool plan;                  /* what happens on each edge, planned as if all were equally hot */
    struct fp_sources *sources; /* edges get their condition as a tooltip; may be NULL */
};

/* counts may be NULL. Blocks are labelled with their lines where those are known. */
void fp_dot_function(struct fp_writer *out, const struct fp_function *function,
                     const struct fp_edge_counts *counts, const struct fp_dot_options *options);

/* Through Graphviz to SVG; appends to out. */
bool fp_dot_to_svg(struct fp_writer *out, const char *dot, struct fp_error *error);

#endif
