/* The dag: what is left of a cfg when every truncated edge u -> v has become a
 * dummy edge u -> EXIT and a dummy edge ENTRY -> v. Its ENTRY -> EXIT ways are
 * the paths.
 *
 * All truncated edges into one block share their start dummy: which of them was
 * taken is known from the path that ended there. Each has an end dummy of its own.
 */
#ifndef FP_GRAPH_DAG_H
#define FP_GRAPH_DAG_H

#include "graph/truncate.h"

enum fp_dag_kind {
    FP_DAG_REAL,  /* a kept edge of the cfg */
    FP_DAG_ENTRY, /* ENTRY -> block 0 */
    FP_DAG_EXIT,  /* a block that leaves the function -> EXIT */
    FP_DAG_START, /* ENTRY -> target of truncated edges */
    FP_DAG_END,   /* source of a truncated edge -> EXIT */
};

struct fp_dag_edge {
    uint32_t src, dst;
    uint32_t cfg_edge; /* of REAL and END edges, else FP_NONE */
    enum fp_dag_kind kind;
};

struct fp_dag {
    const struct fp_cfg *cfg;
    const struct fp_truncation *truncation;
    uint32_t nverts, nedges; /* the cfg's blocks, then entry, then exit */
    uint32_t entry, exit;
    struct fp_dag_edge *edges; /* ordered by src */
    uint32_t *first_out, *first_in, *in_edges;
    uint32_t *order; /* vertices in topological order, entry first, exit last;
                        unreachable blocks are left out */
    uint32_t norder;
    uint32_t *of_edge;  /* cfg edge -> its REAL or END edge, else FP_NONE */
    uint32_t *start_of; /* block -> its START edge, else FP_NONE */
    uint32_t *exit_of;  /* block -> its EXIT edge, else FP_NONE */
    uint32_t entry_edge;
};

/* truncation must outlive the dag. */
struct fp_dag *fp_dag_make(struct fp_arena *arena, const struct fp_truncation *truncation);

/* Weight of each dag edge, from weights of cfg edges. */
double *fp_dag_weights(struct fp_arena *arena, const struct fp_dag *dag, const double *weights);

/* Per vertex: how long the paths that reach it are on average, with the vertex itself. sizes: of
 * the cfg's blocks. weights: of cfg edges. */
double *fp_dag_lengths(struct fp_arena *arena, const struct fp_dag *dag, const double *weights,
                       const double *sizes);

#endif
