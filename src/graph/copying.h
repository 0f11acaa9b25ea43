/* The graph while blocks are copied: what choosing copies (blockcopies.c) and making the copied
 * graph (copiedgraph.c) share. The first nodes and edges are those of the cfg. */
#ifndef FP_GRAPH_COPYING_H
#define FP_GRAPH_COPYING_H

#include "base/vec.h"
#include "graph/blockcopies.h"

struct fp_copy_node {
    uint32_t origin;
    uint32_t first_edge, nedges;
    uint32_t ways; /* that lead to it: kept edges, starts, the entry of the function */
    FP_VEC(uint32_t)
    in;                /* edges that led to it when they were added; some may lead elsewhere now */
    double density;    /* executions for each byte, of it or of a copy on the way to it */
    uint32_t start;    /* where paths start that would start here: the node itself, or a copy */
    uint32_t copied;   /* of a copy: the node it was made from */
    uint32_t head;     /* of a copy: the first node of its unit */
    uint32_t nmembers; /* of a head: nodes of the unit, which are numbered on from it */
    uint32_t parent;   /* of a head: the edge it was made for, or FP_NONE: for the starts */
    double way;        /* of a head: the weight of that */
    bool merged, starts, dead;
};

struct fp_copy_edge {
    uint32_t src, dst, origin;
    double weight;
};

struct fp_copy_candidate {
    double density;
    uint32_t edge; /* the way, or FP_NONE: the starts of `node` */
    uint32_t node;
};

struct fp_copying {
    struct fp_arena *scratch;
    const struct fp_numbering *n;
    const struct fp_cfg *cfg;
    const uint8_t *fate;
    const struct fp_copy_options *options;
    uint32_t *head, *next; /* per block: the first block of its unit, and the next one or FP_NONE */
    uint32_t *bytes;       /* per head: of the whole unit; 0: it cannot be copied */
    uint32_t *copy;        /* per block of the unit that is being copied: the new node */
    FP_VEC(struct fp_copy_node) nodes;
    FP_VEC(struct fp_copy_edge) edges;
    FP_VEC(struct fp_copy_candidate) heap;
    uint64_t bytes_used;
};

static inline enum fp_fate fp_copying_fate(const struct fp_copying *c, uint32_t edge)
{
    return c->fate[c->edges.at[edge].origin];
}

static inline enum fp_edge_kind fp_copying_kind(const struct fp_copying *c, uint32_t edge)
{
    return c->cfg->edges[c->edges.at[edge].origin].kind;
}

/* The graph of the nodes that are not dead. NULL: it would have a cycle, which cannot be. */
struct fp_copied_graph *fp_copied_graph_make(struct fp_arena *arena, struct fp_copying *c);

#endif
