/* Dividing the paths of a dag into tasks (paper 004, section 3.2).
 *
 * A task is a set of dag edges and stands for the paths made of them alone. The tasks
 * of one partition have every path exactly once.
 *
 * fp_partition_reduced is the paper's find_partition, on the graph in which if-else
 * and if statements without others inside have become one vertex, with three repairs
 * without which it loses paths:
 *   - the exit is a vertex with prefixes like any other, so that paths that end before
 *     the threshold is reached are tasks too;
 *   - expansion stops between vertices, never in the middle of one;
 *   - a graph that becomes a single vertex is one task with all edges.
 * A diamond or triangle is contracted only if nothing else leads in or out.
 * United tasks of it may admit paths that were in neither.
 *
 * fp_partition_cut is not in the paper. D is a set of vertices that holds all
 * predecessors of its vertices. Every path crosses from D to the rest on exactly one
 * edge c; the task of c has the edges that lead to c, c, and those that c leads to.
 * United tasks of it admit no other path: a path made of their edges crosses once,
 * on the c of one of them.
 */
#ifndef FP_P3_PARTITION_H
#define FP_P3_PARTITION_H

#include "base/bitset.h"
#include "base/vec.h"
#include "graph/dag.h"

struct fp_tasks {
    FP_VEC(struct fp_bitset) sets; /* of dag edges */
};

/* At most `limit` tasks, or as many as the entry has out-edges if that is more. */
void fp_partition_reduced(struct fp_arena *arena, const struct fp_dag *dag, uint32_t limit,
                          struct fp_tasks *tasks);

/* D: the first `count` vertices of the dag's order, 0 < count < norder. The crossing
 * edges, and, where groups is not NULL, the tasks of those with the same groups[i]
 * united into sets[groups[i]]. */
uint32_t fp_crossing_edges(struct fp_arena *arena, const struct fp_dag *dag, uint32_t count,
                           uint32_t **edges);
void fp_partition_cut(struct fp_arena *arena, const struct fp_dag *dag, uint32_t count,
                      const uint32_t *edges, const uint32_t *groups, uint32_t nedges,
                      struct fp_bitset *sets, uint32_t nsets);

#endif
