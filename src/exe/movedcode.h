/* The new code of one function: its old blocks in their old order, and what counts among them.
 *
 *     entry operations
 *     range 0: blocks, each with operations in front of its instructions, and behind it those of
 *              the edge by which control falls out of it; then the code of edges that are apart
 *     range 1: likewise
 *
 * A range is the code of one FDE, new as old.
 */
#ifndef FP_EXE_MOVEDCODE_H
#define FP_EXE_MOVEDCODE_H

#include "exe/counting.h"
#include "exe/image.h"
#include "exe/kernelcalls.h"
#include "exe/piece.h"

struct fp_moved_range {
    uint32_t first, end; /* pieces */
};

struct fp_moved_code {
    struct fp_pieces pieces;
    uint32_t *block;   /* per block, then per copy: the label that jumps to it take */
    uint32_t *arrival; /* per block: the label of arrivals through pointers; pads have one too.
                              FP_NONE: nothing arrives so */
    uint32_t
        *first_piece;    /* per instruction: of what stands for it; FP_NONE if it is in no block */
    uint32_t *own_piece; /* per instruction: the last of those */
    struct fp_moved_range *ranges;
    uint32_t *pad; /* per piece: the pad of the copy that it is in, or FP_NONE. NULL: no copies */
};

/* Fills in `code`, laid out. NULL, or why the function cannot be moved. */
const char *fp_moved_emit(struct fp_arena *arena, struct fp_counting *counting,
                          struct fp_image_slot slot, const struct fp_kernel_calls *calls,
                          struct fp_moved_code *code);

/* The offset of the end of a piece. */
uint32_t fp_moved_end(const struct fp_moved_code *code, uint32_t piece);

#endif
