/* FDEs of moved functions: see newframes.h. The rows of an FDE are written as differences, each
 * from the row before; a CIE begins with the row that every function has at its entry. */
#include "exe/newframes.h"

#include "binary/ehpointer.h"

enum {
    CFA_SAME_VALUE = 0x08,
    CFA_UNDEFINED = 0x07,
    CFA_REGISTER = 0x09,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_ADVANCE = 0x40,
    CFA_ADVANCE_1 = 0x02,
    CFA_ADVANCE_2 = 0x03,
    CFA_ADVANCE_4 = 0x04,
    CFA_OFFSET = 0x80,
    DATA_ALIGN = -8,
    POINTER = FP_EH_PCREL | FP_EH_SDATA4,
};

/* ---- numbers ---- */

static void write_sleb(struct fp_writer *w, int64_t value)
{
    for (;;) {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        bool last = (value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40);
        fp_write_u8(w, last ? byte : byte | 0x80);
        if (last) return;
    }
}

static void write_distance(struct fp_new_table *t, uint64_t to)
{
    fp_write_u32(&t->bytes, (uint32_t)(to - fp_new_table_here(t)));
}

static void patch_u32(struct fp_writer *w, size_t at, uint32_t value)
{
    memcpy(w->bytes + at, &value, 4);
}

static void align(struct fp_writer *w, size_t to)
{
    while (w->len % to) fp_write_u8(w, 0); /* DW_CFA_nop */
}

/* ---- what can be written ---- */

static bool is_writable_rule(const struct fp_frame_rule *rule)
{
    bool factored = rule->kind == FP_RULE_SAVED || rule->kind == FP_RULE_VALUE;
    return !factored || rule->offset % DATA_ALIGN == 0;
}

static bool is_writable_row(const struct fp_frame_row *row)
{
    if (row->vectors) return false;
    if (!row->cfa_is_expression && row->cfa_offset < 0 && row->cfa_offset % DATA_ALIGN)
        return false;
    for (int r = 0; r < FP_FRAME_REGS; r++)
        if (!is_writable_rule(&row->regs[r])) return false;
    return true;
}

static const char *check_range(const struct fp_new_frames *n, const struct fp_code_range *range)
{
    struct fp_arena scratch = {0};
    struct fp_frame_row *rows;
    size_t count;
    const char *why = NULL;
    if (range->fde == FP_NONE) return "it has no unwind table";
    const struct fp_fde *fde = &n->old->fdes.at[range->fde];
    if (n->old->cies.at[fde->cie].signal) return "it is the frame of a signal";
    if (!fp_frames_rows(&scratch, n->old, fde, &rows, &count)) why = "its unwind table is broken";
    for (size_t i = 0; !why && i < count; i++)
        if (!is_writable_row(&rows[i])) why = "its unwind table has rules of an unknown kind";
    fp_arena_free(&scratch);
    return why;
}

const char *fp_new_frames_check(const struct fp_new_frames *n, const struct fp_machine_function *m)
{
    const char *why = NULL;
    for (size_t i = 0; i < m->ranges.len && !why; i++) why = check_range(n, &m->ranges.at[i]);
    return why;
}

/* ---- CIEs ---- */

static uint64_t write_cie(struct fp_new_frames *n, const struct fp_cie *old, uint64_t instead)
{
    struct fp_new_table *t = &n->table;
    struct fp_writer *w = &t->bytes;
    bool personality = old->personality || instead, lsda = old->lsda_encoding != FP_EH_OMIT;
    uint8_t indirect = instead ? 0 : old->personality_encoding & FP_EH_INDIRECT;
    uint64_t address = fp_new_table_here(t);
    size_t start = w->len;
    fp_write_u32(w, 0); /* length */
    fp_write_u32(w, 0); /* a CIE */
    fp_write_u8(w, 1);
    fp_write_u8(w, 'z');
    if (personality) fp_write_u8(w, 'P');
    if (lsda) fp_write_u8(w, 'L');
    fp_write_u8(w, 'R');
    fp_write_u8(w, 0);
    fp_write_uint(w, 1);
    write_sleb(w, DATA_ALIGN);
    fp_write_u8(w, FP_FRAME_RETURN);
    fp_write_uint(w, (personality ? 5u : 0u) + (lsda ? 1u : 0u) + 1u);
    if (personality) {
        fp_write_u8(w, indirect | POINTER);
        write_distance(t, instead ? instead : old->personality);
    }
    if (lsda) fp_write_u8(w, POINTER);
    fp_write_u8(w, POINTER);
    fp_write_u8(w, CFA_DEF_CFA);
    fp_write_uint(w, FP_FRAME_RSP);
    fp_write_uint(w, 8);
    fp_write_u8(w, CFA_OFFSET | FP_FRAME_RETURN);
    fp_write_uint(w, 1);
    align(w, 8);
    patch_u32(w, start, (uint32_t)(w->len - start - 4));
    return address;
}

static uint64_t cie_for(struct fp_new_frames *n, uint32_t old)
{
    if (!n->cie_at) n->cie_at = FP_NEW_ARRAY(n->arena, uint64_t, n->old->cies.len);
    uint64_t instead = n->personality ? n->personality[old] : 0;
    if (!n->cie_at[old]) n->cie_at[old] = write_cie(n, &n->old->cies.at[old], instead);
    return n->cie_at[old];
}

/* ---- rows ---- */

static struct fp_frame_row first_row(void)
{
    struct fp_frame_row row = {.cfa_register = FP_FRAME_RSP, .cfa_offset = 8};
    row.regs[FP_FRAME_RETURN] = (struct fp_frame_rule){.kind = FP_RULE_SAVED, .offset = -8};
    return row;
}

static bool same_bytes(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    return a_len == b_len && (!a_len || !memcmp(a, b, a_len));
}

static bool same_cfa(const struct fp_frame_row *a, const struct fp_frame_row *b)
{
    if (a->cfa_is_expression != b->cfa_is_expression) return false;
    if (a->cfa_is_expression)
        return same_bytes(a->cfa_expression, a->cfa_expression_len, b->cfa_expression,
                          b->cfa_expression_len);
    return a->cfa_register == b->cfa_register && a->cfa_offset == b->cfa_offset;
}

static bool same_rule(const struct fp_frame_rule *a, const struct fp_frame_rule *b)
{
    return a->kind == b->kind && a->offset == b->offset &&
           same_bytes(a->expression, a->expression_len, b->expression, b->expression_len);
}

static void write_block(struct fp_writer *w, const unsigned char *bytes, size_t len)
{
    fp_write_uint(w, len);
    fp_write_bytes(w, bytes, len);
}

static void write_cfa(struct fp_writer *w, const struct fp_frame_row *row)
{
    if (row->cfa_is_expression) {
        fp_write_u8(w, CFA_DEF_CFA_EXPRESSION);
        write_block(w, row->cfa_expression, row->cfa_expression_len);
        return;
    }
    fp_write_u8(w, row->cfa_offset < 0 ? CFA_DEF_CFA_SF : CFA_DEF_CFA);
    fp_write_uint(w, row->cfa_register);
    if (row->cfa_offset < 0)
        write_sleb(w, row->cfa_offset / DATA_ALIGN);
    else
        fp_write_uint(w, (uint64_t)row->cfa_offset);
}

static void write_saved(struct fp_writer *w, unsigned reg, int64_t offset)
{
    if (offset <= 0) {
        fp_write_u8(w, (uint8_t)(CFA_OFFSET | reg));
        fp_write_uint(w, (uint64_t)(offset / DATA_ALIGN));
    } else {
        fp_write_u8(w, CFA_OFFSET_EXTENDED_SF);
        fp_write_uint(w, reg);
        write_sleb(w, offset / DATA_ALIGN);
    }
}

static void write_rule(struct fp_writer *w, unsigned reg, const struct fp_frame_rule *rule)
{
    static const uint8_t opcode[] = {
        [FP_RULE_SAME] = CFA_SAME_VALUE,       [FP_RULE_VALUE] = CFA_VAL_OFFSET_SF,
        [FP_RULE_REGISTER] = CFA_REGISTER,     [FP_RULE_UNDEFINED] = CFA_UNDEFINED,
        [FP_RULE_EXPRESSION] = CFA_EXPRESSION, [FP_RULE_VALUE_EXPRESSION] = CFA_VAL_EXPRESSION,
    };
    if (rule->kind == FP_RULE_SAVED) {
        write_saved(w, reg, rule->offset);
        return;
    }
    fp_write_u8(w, opcode[rule->kind]);
    fp_write_uint(w, reg);
    switch (rule->kind) {
    case FP_RULE_VALUE: write_sleb(w, rule->offset / DATA_ALIGN); break;
    case FP_RULE_REGISTER: fp_write_uint(w, (uint64_t)rule->offset); break;
    case FP_RULE_EXPRESSION:
    case FP_RULE_VALUE_EXPRESSION: write_block(w, rule->expression, rule->expression_len); break;
    case FP_RULE_SAME:
    case FP_RULE_SAVED:
    case FP_RULE_UNDEFINED: break;
    }
}

static void write_advance(struct fp_writer *w, uint32_t by)
{
    if (by < 0x40) {
        fp_write_u8(w, (uint8_t)(CFA_ADVANCE | by));
    } else if (by < 0x100) {
        fp_write_u8(w, CFA_ADVANCE_1);
        fp_write_u8(w, (uint8_t)by);
    } else if (by < 0x10000) {
        fp_write_u8(w, CFA_ADVANCE_2);
        fp_write_u8(w, (uint8_t)by);
        fp_write_u8(w, (uint8_t)(by >> 8));
    } else {
        fp_write_u8(w, CFA_ADVANCE_4);
        fp_write_u32(w, by);
    }
}

/* ---- FDEs ---- */

/* The rows of all old FDEs of a function, and the last one that was asked for. */
struct row_table {
    struct fp_frame_row **rows; /* per range */
    size_t *counts;
};

static const struct fp_frame_row *row_at(const struct row_table *t,
                                         const struct fp_machine_function *m, uint32_t insn)
{
    uint64_t address = m->insns.at[insn].address;
    uint32_t r = 0;
    while (insn - m->ranges.at[r].first_insn >= m->ranges.at[r].ninsns) r++;
    size_t low = 0, high = t->counts[r];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->rows[r][middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    return &t->rows[r][low];
}

struct row_writer {
    struct fp_writer *w;
    struct fp_frame_row now;
    uint32_t at; /* offset of the last advance */
};

static void change_to(struct row_writer *x, const struct fp_frame_row *row, uint32_t offset)
{
    if (fp_frame_rows_equal(row, &x->now) && row->args_size == x->now.args_size) return;
    if (offset != x->at) write_advance(x->w, offset - x->at);
    x->at = offset;
    if (!same_cfa(row, &x->now)) write_cfa(x->w, row);
    for (unsigned r = 0; r < FP_FRAME_REGS; r++)
        if (!same_rule(&row->regs[r], &x->now.regs[r])) write_rule(x->w, r, &row->regs[r]);
    if (row->args_size != x->now.args_size) {
        fp_write_u8(x->w, CFA_GNU_ARGS_SIZE);
        fp_write_uint(x->w, row->args_size);
    }
    x->now = *row;
}

/* At a call, an unwinder that comes from the callee looks at the last byte of the instruction, one
 * that comes from a signal at the first. */
static void change_with(struct row_writer *x, const struct fp_frame_row *row,
                        const struct fp_piece *piece)
{
    struct fp_frame_row more;
    if (!piece->pushed || row->cfa_is_expression || row->cfa_register != FP_FRAME_RSP) {
        change_to(x, row, piece->offset);
        return;
    }
    more = *row;
    more.cfa_offset += piece->pushed;
    change_to(x, &more, piece->offset);
    if (piece->taken) change_to(x, row, piece->offset + 1);
}

static void write_fde(struct fp_new_frames *n, const struct fp_machine_function *m,
                      const struct fp_moved_code *code, uint32_t range, uint64_t start,
                      uint64_t lsda, const struct row_table *rows)
{
    struct fp_new_table *t = &n->table;
    struct fp_writer *w = &t->bytes;
    const struct fp_moved_range *r = &code->ranges[range];
    if (r->first == r->end) return;
    const struct fp_fde *old = &n->old->fdes.at[m->ranges.at[range].fde];
    uint64_t cie = cie_for(n, old->cie), address = fp_new_table_here(t);
    uint32_t first = code->pieces.all.at[r->first].offset, end = fp_moved_end(code, r->end - 1);
    size_t at = w->len;
    fp_write_u32(w, 0);
    fp_write_u32(w, (uint32_t)(fp_new_table_here(t) - cie));
    write_distance(t, start + first);
    fp_write_u32(w, end - first);
    bool has_lsda = n->old->cies.at[old->cie].lsda_encoding != FP_EH_OMIT;
    fp_write_uint(w, has_lsda ? 4 : 0);
    if (has_lsda && lsda) write_distance(t, lsda);
    if (has_lsda && !lsda) fp_write_u32(w, 0);
    struct row_writer x = {.w = w, .now = first_row(), .at = first};
    for (uint32_t i = r->first; i < r->end; i++) {
        const struct fp_piece *piece = &code->pieces.all.at[i];
        change_with(&x, row_at(rows, m, piece->insn), piece);
    }
    align(w, 8);
    patch_u32(w, at, (uint32_t)(w->len - at - 4));
    fp_vec_push(n->arena, &n->fdes, (struct fp_new_fde){start + first, address});
}

void fp_new_frames_add(struct fp_new_frames *n, const struct fp_machine_function *m,
                       const struct fp_moved_code *code, uint64_t start, const uint64_t *lsdas)
{
    struct fp_arena scratch = {0};
    struct row_table rows = {
        .rows = FP_NEW_ARRAY(&scratch, struct fp_frame_row *, m->ranges.len),
        .counts = FP_NEW_ARRAY(&scratch, size_t, m->ranges.len),
    };
    for (size_t r = 0; r < m->ranges.len; r++)
        fp_frames_rows(&scratch, n->old, &n->old->fdes.at[m->ranges.at[r].fde], &rows.rows[r],
                       &rows.counts[r]);
    for (uint32_t r = 0; r < m->ranges.len; r++) write_fde(n, m, code, r, start, lsdas[r], &rows);
    fp_arena_free(&scratch);
}

void fp_new_frames_end(struct fp_new_frames *n)
{
    fp_write_u32(&n->table.bytes, 0);
}
