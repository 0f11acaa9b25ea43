/* The path in flight of a frame, wherever it is in the new code of a function: so that a frame that
 * is left for good still counts (docs/exits.md).
 *
 * A frame is in a block, or on its way to one. There the plan says what the path register tells
 * (fp_plan: has_register, offset). The register may not be there yet, or be ahead: operations of
 * an edge stand in blocks, and operations of a block in front of its last instructions. Then it is
 * known by how much. A frame that has a count still in front of it on its way along an edge is
 * taken to be at the end of the block that it comes from.
 *
 * needs, everywhere: operations in their places, homes. */
#ifndef FP_EXE_INFLIGHT_H
#define FP_EXE_INFLIGHT_H

#include "exe/counting.h"
#include "exe/piece.h"

/* At the entry of the function, in front of its operations. */
struct fp_left fp_left_at_entry(const struct fp_counting *counting);

/* In front of the first instruction of a block. */
struct fp_left fp_left_in_block(struct fp_counting *counting, uint32_t block);

/* On an edge, in front of its operation number `done`. */
struct fp_left fp_left_on_edge(struct fp_counting *counting, uint32_t edge, size_t done);

/* Behind an operation; `before`: in front of it. */
struct fp_left fp_left_behind(struct fp_counting *counting, const struct fp_placed_op *op,
                              struct fp_left before);

/* NULL, or why the path in flight is not known in some block. */
const char *fp_left_check(const struct fp_counting *counting);

#endif
