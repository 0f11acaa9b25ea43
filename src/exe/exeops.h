/* One operation of a plan as machine code. */
#ifndef FP_EXE_EXEOPS_H
#define FP_EXE_EXEOPS_H

#include "exe/counting.h"
#include "exe/image.h"
#include "exe/piece.h"

/* Where operations are written. */
struct fp_op_place {
    uint32_t insn;  /* the frame is as in front of it */
    uint32_t live;  /* what the program needs here */
    uint32_t homes; /* registers that hold path registers here */
};

/* Appends the operations. NULL, or why they cannot be written. */
const char *fp_exe_emit_ops(struct fp_pieces *pieces, struct fp_counting *counting,
                            const fp_placed_ops *ops, const struct fp_op_place *place,
                            struct fp_image_slot slot);

/* Appends the move of the path register from one home to another. */
const char *fp_exe_emit_move(struct fp_pieces *pieces, struct fp_counting *counting, uint8_t from,
                             uint8_t to, uint32_t insn, struct fp_image_slot slot);

#endif
