/* Loops whose counts of paths, or whose moves of a running register, are kept in registers while
 * they run.
 *
 *         |
 *         h <--.        Where the same way is taken round after round, its counter goes up in
 *        / \   |        memory each time, and waits for the store of the last round. A loop with
 *       a   b  |        few ways round, each with a counter of its own, has room for them in
 *        \ /   |        registers. They are added to memory on the edges that leave the loop.
 *         c ---'
 *         |             A run that ends inside the loop has not counted the rounds of the visit
 *       exit            that was under way, as with laps (graph/laps.h).
 */
#ifndef FP_GRAPH_KEPTCOUNTS_H
#define FP_GRAPH_KEPTCOUNTS_H

#include "graph/plan.h"

/* Per block: the header of the loop around it whose counts are kept, or FP_NONE. NULL where there
 * is none. Such a loop has no other loop in it, is left by edges alone, of one block, is expected
 * to go round often and to be a tenth of the function's executed instructions at least, is short,
 * and has few counters, all of them known when it is compiled.
 * instructions: per block. origin: per block, the block that it is a copy of, or itself.
 * watched: blocks with accesses that other threads see. by_data: blocks whose branch depends on
 * what they read; a loop that is left so is a search, and mostly short. */
uint32_t *fp_kept_counts(struct fp_arena *arena, const struct fp_plan *plan, const double *weights,
                         const uint32_t *instructions, const uint32_t *origin,
                         const struct fp_bitset *watched, const struct fp_bitset *by_data);

/* The same for a running register (plan.h), which is a word of memory: loops that move it. How far
 * it has moved there is added to the word on the edges that leave the loop. */
uint32_t *fp_kept_moves(struct fp_arena *arena, const struct fp_plan *plan, const double *weights,
                        const uint32_t *instructions, const uint32_t *origin,
                        const struct fp_bitset *by_data);

#endif
