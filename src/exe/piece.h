/* New code of one function: a list of pieces, each one instruction.
 *
 * A piece is an old instruction, re-emitted so that it does at its new address what it did at its
 * old one, or an instruction that counts. Jumps within the function name a label; they are short
 * or long as their distance asks (fp_pieces_lay_out). Everything that leads out of the function
 * has a 32-bit distance, so that the size of a function does not depend on others.
 */
#ifndef FP_EXE_PIECE_H
#define FP_EXE_PIECE_H

#include "base/vec.h"
#include "binary/machine.h"

enum fp_piece_kind {
    FP_PIECE_BYTES,      /* as they are */
    FP_PIECE_ADDRESS,    /* bytes with a distance to the address `to`, not of moved code */
    FP_PIECE_COUNTER,    /* bytes with a distance to counter byte `to` of this function */
    FP_PIECE_CODE,       /* bytes with a distance to the code that was at `to` (a call) */
    FP_PIECE_JUMP,       /* to label `to` */
    FP_PIECE_JUMP_LONG,  /* to label `to`, always of five bytes */
    FP_PIECE_BRANCH,     /* to label `to`, if `condition` */
    FP_PIECE_JUMP_OUT,   /* to the code that was at `to` */
    FP_PIECE_BRANCH_OUT, /* likewise, if `condition` */
};

/* The path in flight of a frame: which block it is in, and what its path register is there. */
struct fp_left {
    uint32_t block; /* FP_NONE: no path is in flight */
    int32_t adjust;
    uint8_t home; /* the register is there, plus `adjust`; FP_HOME_NONE: it is `adjust` itself */
    bool behind;  /* the count in front of the block's branch was made */
};

struct fp_piece {
    const uint8_t *bytes;
    uint64_t to;
    uint32_t offset; /* from the function's new start */
    uint32_t insn;   /* the frame is here as it was in front of this old instruction */
    uint8_t kind;    /* of enum fp_piece_kind */
    uint8_t len;
    uint8_t at; /* of a distance: where its four bytes are */
    uint8_t condition;
    uint8_t pushed;      /* bytes on the stack in front of it, beside the old frame's */
    bool taken;          /* of a call: the callee does not have them */
    struct fp_left left; /* in front of it */
};

struct fp_pieces {
    struct fp_arena *arena;
    FP_VEC(struct fp_piece) all;
    FP_VEC(uint32_t) labels; /* each is the index of a piece, or FP_NONE */
    uint32_t size;           /* in bytes, once it is laid out */
    struct fp_left left;     /* in front of the piece that is added next */
    uint8_t pushed;          /* likewise */
};

/* ---- labels ---- */

uint32_t fp_pieces_label(struct fp_pieces *pieces);
/* The label is in front of the next piece that is added. */
void fp_pieces_put_label(struct fp_pieces *pieces, uint32_t label);
uint32_t fp_pieces_offset(const struct fp_pieces *pieces, uint32_t label);

/* ---- instructions ---- */

/* An old instruction that is no jump. NULL, or why it cannot be moved. */
const char *fp_pieces_add_old(struct fp_pieces *pieces, const struct fp_object *object,
                              const struct fp_insn *insn, uint32_t index);

/* Of a call or jump through a pointer: an instruction that pushes the pointer. */
const char *fp_pieces_add_push(struct fp_pieces *pieces, const struct fp_object *object,
                               const struct fp_insn *insn, uint32_t index);

/* An old jump or conditional jump, to a label or, if that is FP_NONE, to where it led. */
const char *fp_pieces_add_jump(struct fp_pieces *pieces, const struct fp_object *object,
                               const struct fp_insn *insn, uint32_t index, uint32_t label);

/* Has a branch an opposite? Then the one that was added last can be turned into it. */
bool fp_pieces_can_turn(const struct fp_object *object, const struct fp_insn *insn);
void fp_pieces_turn(struct fp_pieces *pieces);

void fp_pieces_jump(struct fp_pieces *pieces, uint32_t insn, uint32_t label);
void fp_pieces_jump_out(struct fp_pieces *pieces, uint32_t insn, uint64_t old_address);

/* New instructions with a memory operand of 64 bits: [gs:] opcode reg, disp(base). For opcodes of
 * one operand `reg` is the extension of the opcode. */
struct fp_new_insn {
    uint8_t opcode;
    uint8_t reg, base;
    bool gs;
    int32_t disp;
    bool has_immediate;
    int32_t immediate;
};
void fp_pieces_add_memory(struct fp_pieces *pieces, uint32_t insn, const struct fp_new_insn *new);
/* The same with the operand in this function's counters: `byte` is the distance from the first. */
void fp_pieces_add_counter(struct fp_pieces *pieces, uint32_t insn, const struct fp_new_insn *new,
                           int64_t byte);
/* A few bytes of code without operands in memory. */
void fp_pieces_add_bytes(struct fp_pieces *pieces, uint32_t insn, const uint8_t *bytes, size_t len);

/* The same, with a distance of four bytes at `at` to an address of the file. */
void fp_pieces_add_distance(struct fp_pieces *pieces, uint32_t insn, const uint8_t *bytes,
                            size_t len, uint8_t at, uint64_t to);

/* ---- the whole ---- */

/* Decides which jumps are short; sets all offsets. */
void fp_pieces_lay_out(struct fp_pieces *pieces);

/* Where things are, for writing. */
struct fp_piece_places {
    uint64_t start;    /* of the new function */
    uint64_t counters; /* its first counter */
    /* Where the code that was at an old address is to be entered. */
    uint64_t (*code_at)(const void *context, uint64_t old_address);
    const void *context;
};

/* The bytes of a function, pieces->size of them. False if some distance does not fit. */
bool fp_pieces_write(const struct fp_pieces *pieces, const struct fp_piece_places *places,
                     uint8_t *out);

#endif
