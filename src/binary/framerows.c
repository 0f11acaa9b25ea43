/* Runs the programs of CIEs and FDEs: see frames.h.
 *
 * A program is a list of instructions that change the current row, and of advances, which end
 * it. The rows of an FDE start with what its CIE's program makes. */
#include "binary/frames.h"

#include "binary/ehpointer.h"

enum { MOST_REMEMBERED = 64 };

enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 0x40, /* these three hold an operand in their low six bits */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
};

struct rows_state {
    struct fp_eh_reader in;
    const struct fp_cie *cie;
    struct fp_frame_row row, initial;
    struct fp_frame_row remembered[MOST_REMEMBERED];
    unsigned nremembered;
    uint64_t advance; /* what the last instruction advanced the address by */
    bool bad;
};

static void set_rule(struct rows_state *s, uint64_t reg, enum fp_frame_rule_kind kind,
                     int64_t offset)
{
    if (reg < FP_FRAME_REGS)
        s->row.regs[reg] = (struct fp_frame_rule){.kind = kind, .offset = offset};
    else
        s->row.vectors = true;
}

static void set_expression(struct rows_state *s, uint64_t reg, enum fp_frame_rule_kind kind)
{
    uint64_t len = fp_eh_uleb(&s->in);
    const unsigned char *start = s->in.bytes + s->in.at;
    fp_eh_skip(&s->in, len);
    if (s->in.bad) return;
    set_rule(s, reg, kind, 0);
    if (reg >= FP_FRAME_REGS) return;
    s->row.regs[reg].expression = start;
    s->row.regs[reg].expression_len = len;
}

static void restore(struct rows_state *s, uint64_t reg)
{
    if (reg < FP_FRAME_REGS) s->row.regs[reg] = s->initial.regs[reg];
}

static void set_cfa(struct rows_state *s, uint64_t reg, int64_t offset)
{
    if (reg > 15) s->bad = true;
    s->row.cfa_is_expression = false;
    s->row.cfa_register = (uint8_t)reg;
    s->row.cfa_offset = offset;
}

static void set_cfa_expression(struct rows_state *s)
{
    s->row.cfa_expression_len = fp_eh_uleb(&s->in);
    s->row.cfa_expression = s->in.bytes + s->in.at;
    s->row.cfa_is_expression = true;
    fp_eh_skip(&s->in, s->row.cfa_expression_len);
}

static int64_t factored(const struct rows_state *s, int64_t offset)
{
    return (int64_t)((uint64_t)offset * (uint64_t)s->cie->data_align);
}

static void remember(struct rows_state *s)
{
    if (s->nremembered == MOST_REMEMBERED)
        s->bad = true;
    else
        s->remembered[s->nremembered++] = s->row;
}

static void recall(struct rows_state *s)
{
    uint64_t start = s->row.start, args = s->row.args_size;
    if (!s->nremembered) {
        s->bad = true;
        return;
    }
    s->row = s->remembered[--s->nremembered];
    s->row.start = start;
    s->row.args_size = args;
}

static void run_cfa(struct rows_state *s, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case CFA_DEF_CFA:
        reg = fp_eh_uleb(&s->in);
        set_cfa(s, reg, (int64_t)fp_eh_uleb(&s->in));
        return;
    case CFA_DEF_CFA_SF:
        reg = fp_eh_uleb(&s->in);
        set_cfa(s, reg, factored(s, fp_eh_sleb(&s->in)));
        return;
    case CFA_DEF_CFA_REGISTER: set_cfa(s, fp_eh_uleb(&s->in), s->row.cfa_offset); return;
    case CFA_DEF_CFA_OFFSET: set_cfa(s, s->row.cfa_register, (int64_t)fp_eh_uleb(&s->in)); return;
    case CFA_DEF_CFA_OFFSET_SF:
        set_cfa(s, s->row.cfa_register, factored(s, fp_eh_sleb(&s->in)));
        return;
    case CFA_DEF_CFA_EXPRESSION: set_cfa_expression(s); return;
    case CFA_GNU_ARGS_SIZE: s->row.args_size = fp_eh_uleb(&s->in); return;
    default: s->bad = true;
    }
}

static void run_extended(struct rows_state *s, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case CFA_NOP: return;
    case CFA_SET_LOC: {
        uint64_t to = fp_eh_pointer(&s->in, s->cie->pointer_encoding, 0);
        s->advance = to - s->row.start;
        s->bad |= to < s->row.start;
        return;
    }
    case CFA_ADVANCE_LOC1: s->advance = fp_eh_fixed(&s->in, 1) * s->cie->code_align; return;
    case CFA_ADVANCE_LOC2: s->advance = fp_eh_fixed(&s->in, 2) * s->cie->code_align; return;
    case CFA_ADVANCE_LOC4: s->advance = fp_eh_fixed(&s->in, 4) * s->cie->code_align; return;
    case CFA_REMEMBER_STATE: remember(s); return;
    case CFA_RESTORE_STATE: recall(s); return;
    case CFA_OFFSET_EXTENDED:
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
    case CFA_RESTORE_EXTENDED:
    case CFA_UNDEFINED:
    case CFA_SAME_VALUE:
    case CFA_REGISTER:
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION: break;
    default: run_cfa(s, op); return;
    }
    reg = fp_eh_uleb(&s->in);
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_rule(s, reg, FP_RULE_SAVED, factored(s, (int64_t)fp_eh_uleb(&s->in)));
        return;
    case CFA_OFFSET_EXTENDED_SF:
        set_rule(s, reg, FP_RULE_SAVED, factored(s, fp_eh_sleb(&s->in)));
        return;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_rule(s, reg, FP_RULE_SAVED, factored(s, (int64_t)(0 - fp_eh_uleb(&s->in))));
        return;
    case CFA_VAL_OFFSET:
        set_rule(s, reg, FP_RULE_VALUE, factored(s, (int64_t)fp_eh_uleb(&s->in)));
        return;
    case CFA_VAL_OFFSET_SF:
        set_rule(s, reg, FP_RULE_VALUE, factored(s, fp_eh_sleb(&s->in)));
        return;
    case CFA_RESTORE_EXTENDED: restore(s, reg); return;
    case CFA_UNDEFINED: set_rule(s, reg, FP_RULE_UNDEFINED, 0); return;
    case CFA_SAME_VALUE: set_rule(s, reg, FP_RULE_SAME, 0); return;
    case CFA_REGISTER: set_rule(s, reg, FP_RULE_REGISTER, (int64_t)fp_eh_uleb(&s->in)); return;
    case CFA_EXPRESSION: set_expression(s, reg, FP_RULE_EXPRESSION); return;
    default: set_expression(s, reg, FP_RULE_VALUE_EXPRESSION); return;
    }
}

/* One instruction; false at the end of the program or where it is broken. */
static bool step(struct rows_state *s)
{
    s->advance = 0;
    if (s->in.at == s->in.len) return false;
    uint8_t op = fp_eh_byte(&s->in), low = op & 0x3f;
    switch (op & 0xc0) {
    case CFA_ADVANCE_LOC: s->advance = low * s->cie->code_align; break;
    case CFA_OFFSET:
        set_rule(s, low, FP_RULE_SAVED, factored(s, (int64_t)fp_eh_uleb(&s->in)));
        break;
    case CFA_RESTORE: restore(s, low); break;
    default: run_extended(s, op);
    }
    s->bad |= s->in.bad;
    return !s->bad;
}

/* The address that bytes of a program have in memory: set_loc may be relative to it. */
static uint64_t address_of(const struct fp_frames *frames, const unsigned char *bytes)
{
    size_t len;
    const unsigned char *section = fp_object_bytes(frames->object, frames->eh_frame, &len);
    return frames->eh_frame + (uint64_t)(bytes - section);
}

static void start_program(struct rows_state *s, const struct fp_frames *frames,
                          const unsigned char *program, size_t len)
{
    s->in =
        (struct fp_eh_reader){.bytes = program, .len = len, .address = address_of(frames, program)};
}

static bool begin(struct rows_state *s, const struct fp_frames *frames, const struct fp_fde *fde)
{
    *s = (struct rows_state){.cie = &frames->cies.at[fde->cie]};
    s->row.start = fde->start;
    start_program(s, frames, s->cie->program, s->cie->program_len);
    while (step(s)) s->bad |= s->advance != 0;
    s->initial = s->row;
    start_program(s, frames, fde->program, fde->program_len);
    return !s->bad;
}

/* Runs up to the next advance; false where none follows. */
static bool next_row(struct rows_state *s)
{
    while (step(s))
        if (s->advance) return true;
    return false;
}

bool fp_frames_row(const struct fp_frames *frames, const struct fp_fde *fde, uint64_t address,
                   struct fp_frame_row *row)
{
    struct rows_state s;
    if (address - fde->start >= fde->size || !begin(&s, frames, fde)) return false;
    while (next_row(&s)) {
        if (address - s.row.start < s.advance) break;
        s.row.start += s.advance;
    }
    *row = s.row;
    return !s.bad;
}

bool fp_frames_rows(struct fp_arena *arena, const struct fp_frames *frames,
                    const struct fp_fde *fde, struct fp_frame_row **rows, size_t *count)
{
    struct rows_state s;
    FP_VEC(struct fp_frame_row) all = {0};
    if (!begin(&s, frames, fde)) return false;
    bool more;
    do {
        more = next_row(&s);
        if (s.bad) return false;
        fp_vec_push(arena, &all, s.row);
        s.row.start += s.advance;
    } while (more && s.row.start - fde->start < fde->size);
    *rows = all.at;
    *count = all.len;
    return true;
}

static bool same_rule(const struct fp_frame_rule *a, const struct fp_frame_rule *b)
{
    return a->kind == b->kind && a->offset == b->offset && a->expression_len == b->expression_len &&
           (!a->expression_len || !memcmp(a->expression, b->expression, a->expression_len));
}

bool fp_frame_rows_equal(const struct fp_frame_row *a, const struct fp_frame_row *b)
{
    if (a->cfa_is_expression != b->cfa_is_expression) return false;
    if (a->cfa_is_expression &&
        (a->cfa_expression_len != b->cfa_expression_len ||
         memcmp(a->cfa_expression, b->cfa_expression, a->cfa_expression_len) != 0))
        return false;
    if (!a->cfa_is_expression &&
        (a->cfa_register != b->cfa_register || a->cfa_offset != b->cfa_offset))
        return false;
    for (int i = 0; i < FP_FRAME_REGS; i++)
        if (!same_rule(&a->regs[i], &b->regs[i])) return false;
    return true;
}

/* rax rdx rcx rbx rsi rdi rbp rsp in DWARF; rax rcx rdx rbx rsp rbp rsi rdi in machine code */
uint8_t fp_frames_gpr(uint8_t dwarf_register)
{
    static const uint8_t gprs[8] = {0, 2, 1, 3, 6, 7, 5, 4};
    return dwarf_register < 8 ? gprs[dwarf_register] : dwarf_register;
}

uint8_t fp_frames_dwarf(uint8_t gpr)
{
    static const uint8_t numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};
    return gpr < 8 ? numbers[gpr] : gpr;
}
