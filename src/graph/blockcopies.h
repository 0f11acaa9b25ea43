/* Copies of blocks instead of operations on edges.
 *
 * A path register is needed where ways merge. If the block behind a merge is copied for one of the
 * ways that lead to it, the sum of the path is a constant in the copy, and a path that ends there
 * is counted without a register:
 *
 *       a     b                 a     b
 *        \   /                  |     |
 *          v          ->        v     v'         v' is a copy of v. All four ways out
 *        /   \                 / \   / \         of v and v' have a constant sum.
 *
 * The copied graph has the same paths with the same ids. Its numbering has the values of the old
 * one, so a plan (plan.h) for the copied graph does what is left to do: it sets the register where
 * a copy leads to a block that is not copied, and counts constants elsewhere.
 *
 * Blocks are copied where the estimated gain is largest for each byte. What a copy gains is known
 * only with those behind it: the register that the copy saves is set on its ways out, unless these
 * lead to copies or to path ends. So copies are made first, hottest ways first, and those that do
 * not pay are taken back.
 */
#ifndef FP_GRAPH_BLOCKCOPIES_H
#define FP_GRAPH_BLOCKCOPIES_H

#include "graph/number.h"

struct fp_copy_options {
    const double *weights;       /* per cfg edge */
    const bool *counted;         /* per block: as of fp_plan; a copy of it is of no use */
    const uint32_t *bytes;       /* per block: what a copy of it takes; 0: it cannot be copied */
    const double *register_cost; /* per block: instructions for an operation on the register */
    uint64_t most_bytes;         /* all copies together */
    bool laps;         /* copy the blocks of laps, too; which pays where weights are measured */
    double least_gain; /* executions of a copy for each of its bytes, at least */
    /* called with each copy that is made: its bytes, and what least_gain would have left it out;
     * or NULL */
    void (*tell)(void *context, uint32_t bytes, double gain);
    void *context;
};

struct fp_copied_graph {
    struct fp_cfg *cfg; /* the old blocks and edges with their numbers, then the copies */
    struct fp_truncation *truncation;
    struct fp_dag *dag;
    struct fp_numbering *numbering; /* every path has the id that it had */
    double *weights;                /* per edge of the copied graph */
    uint32_t *block_of, *edge_of;   /* of a copy the old one, of an old one itself */
    uint32_t nold;                  /* blocks of the old graph */
    uint64_t bytes;                 /* of all copies */
};

/* NULL where no copy pays. Pads are copied with the blocks that they belong to. */
struct fp_copied_graph *fp_copy_blocks(struct fp_arena *arena, const struct fp_numbering *numbering,
                                       const struct fp_copy_options *options);

/* Counts in front of branches (plan.h) are made in all copies of a block or in none, since readers
 * know the old blocks alone. at_end is that of a plan for the copied graph and is changed; old is
 * filled in, per block of the old graph. */
void fp_copied_counts(const struct fp_copied_graph *g, uint32_t *at_end, uint32_t *old);

#endif
