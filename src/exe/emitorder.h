/* The order of blocks in the new code of a function.
 *
 * Without copies of blocks the old order stays. With copies, blocks are joined to chains in which
 * control falls from block to block, so that few jumps are executed: old blocks first, where the
 * old code falls through; then what saves most jumps. The chain with the entry comes first, then
 * those with other old blocks in their old order, then copies, hot ones first.
 */
#ifndef FP_EXE_EMITORDER_H
#define FP_EXE_EMITORDER_H

#include "exe/counting.h"

/* The blocks of a range, in the order in which they are emitted. Gives how many. */
uint32_t fp_emit_order(struct fp_arena *arena, const struct fp_counting *counting, uint32_t range,
                       uint32_t **blocks);

/* Is an instruction of the function, old or a copy, one of a range? */
bool fp_emit_is_in_range(const struct fp_counting *counting, uint32_t insn, uint32_t range);

/* Has an edge code of its own apart from its blocks? */
bool fp_emit_is_apart(const struct fp_counting *counting, uint32_t edge);

/* Can the branch at the end of a block be turned round, so that what it leads to can stand behind
 * it? Nothing may be done where control falls through. */
bool fp_emit_can_turn(const struct fp_counting *counting, uint32_t block);

/* The value moves from home to home on some edges. */
bool fp_emit_moves(const struct fp_counting *counting, uint32_t edge);

#endif
