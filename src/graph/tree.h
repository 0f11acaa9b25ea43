/* Spanning forests of greatest weight (Kruskal), over any list of edges. */
#ifndef FP_GRAPH_TREE_H
#define FP_GRAPH_TREE_H

#include "base/bitset.h"

/* Disjoint sets with undo: by size, without path compression. */
struct fp_union_find {
    uint32_t *parent, *size;
    uint32_t *joined; /* roots that lost their root, in order */
    uint32_t njoined;
};

struct fp_union_find fp_union_find_new(struct fp_arena *arena, uint32_t n);
uint32_t fp_union_find_root(const struct fp_union_find *sets, uint32_t v);
/* False when both are in one set already. */
bool fp_union_find_join(struct fp_union_find *sets, uint32_t a, uint32_t b);
/* Takes the last successful join back. */
void fp_union_find_undo(struct fp_union_find *sets);

struct fp_tree_edge {
    uint32_t a, b;
    double weight; /* not negative; INFINITY is pinned into the tree */
};

/* Which edges the forest takes. Among equal weights the earlier edge wins. */
struct fp_bitset fp_spanning_tree(struct fp_arena *arena, uint32_t nverts,
                                  const struct fp_tree_edge *edges, uint32_t nedges);

#endif
