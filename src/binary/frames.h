/* The call frame information of an object (.eh_frame): which code belongs together, and where a
 * frame's CFA and saved registers are at every instruction. What gcc, clang and the assemblers
 * write is understood; an entry that breaks the format makes reading fail.
 *
 * Registers have DWARF's numbers here (fp_frames_gpr converts them). */
#ifndef FP_BINARY_FRAMES_H
#define FP_BINARY_FRAMES_H

#include "binary/object.h"

struct fp_cie {
    uint64_t address; /* of its length field */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t pointer_encoding;     /* of the FDEs' starts */
    uint8_t lsda_encoding;        /* or FP_EH_OMIT */
    uint8_t personality_encoding; /* or FP_EH_OMIT; as it is written */
    uint64_t personality;         /* an address; of a word that holds it, if encoded so; 0: none */
    bool signal;                  /* frames of signal handlers' callers */
    const unsigned char *program; /* initial instructions */
    size_t program_len;
};

struct fp_fde {
    uint64_t start, size;
    uint64_t address; /* of its length field */
    uint32_t cie;
    uint64_t lsda; /* address; 0: none */
    const unsigned char *program;
    size_t program_len;
};

struct fp_frames {
    struct fp_arena *arena;
    const struct fp_object *object;
    uint64_t eh_frame, eh_frame_size; /* where the section lies */
    uint64_t header, header_size;     /* .eh_frame_hdr by PT_GNU_EH_FRAME; 0: none */
    FP_VEC(struct fp_cie) cies;
    FP_VEC(struct fp_fde) fdes; /* by start; those that cover no byte are left out */
};

/* Fails where the object has no .eh_frame, or where an entry breaks the format. FDEs may overlap:
 * the caller decides what to do with them. */
bool fp_frames_read(struct fp_arena *arena, const struct fp_object *object,
                    struct fp_frames *frames, struct fp_error *error);

/* The FDE that covers an address, or NULL. */
const struct fp_fde *fp_frames_find(const struct fp_frames *frames, uint64_t address);

enum { FP_FRAME_REGS = 17, FP_FRAME_RBP = 6, FP_FRAME_RSP = 7, FP_FRAME_RETURN = 16 };

enum fp_frame_rule_kind {
    FP_RULE_SAME,  /* holds the caller's value */
    FP_RULE_SAVED, /* at CFA + offset */
    FP_RULE_VALUE, /* is CFA + offset */
    FP_RULE_REGISTER,
    FP_RULE_UNDEFINED,
    FP_RULE_EXPRESSION,       /* saved where the expression says */
    FP_RULE_VALUE_EXPRESSION, /* is what the expression gives */
};

struct fp_frame_rule {
    enum fp_frame_rule_kind kind;
    int64_t offset; /* or the register */
    const unsigned char *expression;
    size_t expression_len;
};

/* Holds from `start` up to the start of the next row, or the end of the FDE. */
struct fp_frame_row {
    uint64_t start;
    bool cfa_is_expression;
    uint8_t cfa_register;
    int64_t cfa_offset;
    const unsigned char *cfa_expression;
    size_t cfa_expression_len;
    struct fp_frame_rule regs[FP_FRAME_REGS];
    uint64_t args_size; /* DW_CFA_GNU_args_size */
    bool vectors;       /* rules for registers above FP_FRAME_RETURN exist and are left out */
};

/* The row at an address of an FDE. False where the program of the FDE or its CIE breaks the
 * format, or the address is outside. */
bool fp_frames_row(const struct fp_frames *frames, const struct fp_fde *fde, uint64_t address,
                   struct fp_frame_row *row);

/* All rows of an FDE in order, into the arena; false as above. */
bool fp_frames_rows(struct fp_arena *arena, const struct fp_frames *frames,
                    const struct fp_fde *fde, struct fp_frame_row **rows, size_t *count);

/* Whether two rows say the same of CFA and registers (not of args_size). */
bool fp_frame_rows_equal(const struct fp_frame_row *a, const struct fp_frame_row *b);

/* The number that machine code gives to a register of DWARF (0 to 15), and back. */
uint8_t fp_frames_gpr(uint8_t dwarf_register);
uint8_t fp_frames_dwarf(uint8_t gpr);

#endif
