/* Bounds of jump tables: see tablebound.h.
 *
 * Walks backwards from the load as long as there is one way to come, and follows the index
 * through copies and loads. The index is bounded where the way passes
 *
 *     cmp $N,index; ja/jae/jb/jbe       (also of a copy, or of the slot it was loaded from)
 *
 * and limited by `and $N,index` and by movzbl: it has no more values than that, but maybe fewer.
 *
 * Anything else that writes the index ends the walk: a wrong bound would lose targets, no bound
 * only adds some. */
#include "binary/tablebound.h"

enum { MOST_STEPS = 200, MOST_ENTRIES = 65536 };

struct bound_walk {
    const struct fp_slice *s;
    int gpr;                  /* that holds the index, or -1 */
    ZydisDecodedOperand slot; /* else the memory that holds it */
    unsigned width;           /* bits of it that matter */
    size_t narrow;            /* its limit, or 0 */
};

static bool same_memory(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
    return a->type == ZYDIS_OPERAND_TYPE_MEMORY && a->mem.base == b->mem.base &&
           a->mem.index == b->mem.index && a->mem.scale == b->mem.scale &&
           a->mem.disp.value == b->mem.disp.value && a->mem.segment == b->mem.segment;
}

static bool holds_index(const struct bound_walk *w, const ZydisDecodedOperand *op)
{
    if (w->gpr < 0) return same_memory(op, &w->slot) && op->size >= w->width;
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || fp_insn_gpr(op->reg.value) != w->gpr)
        return false;
    /* compilers compare 32 bits of an index whose upper half they know to be 0 */
    return op->size >= w->width || op->size >= 32;
}

/* The bound of `cmp $N,index` where control took, or did not take, the branch behind it. */
static size_t bound_of_compare(const struct bound_walk *w, uint32_t branch, bool taken,
                               uint32_t compare)
{
    struct fp_decoded_insn b, c;
    if (!fp_insn_decode_full(w->s->object, w->s->f->insns.at[branch].address, &b) ||
        !fp_insn_decode_full(w->s->object, w->s->f->insns.at[compare].address, &c))
        return 0;
    if (c.i.mnemonic != ZYDIS_MNEMONIC_CMP || c.op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
        !holds_index(w, &c.op[0]))
        return 0;
    uint64_t limit = c.op[1].imm.value.u;
    bool to_equal; /* the index may be the limit itself */
    switch ((int)b.i.mnemonic) {
    case ZYDIS_MNEMONIC_JNBE: to_equal = true; break;
    case ZYDIS_MNEMONIC_JNB: to_equal = false; break;
    case ZYDIS_MNEMONIC_JBE: to_equal = true, taken = !taken; break;
    case ZYDIS_MNEMONIC_JB: to_equal = false, taken = !taken; break;
    default: return 0;
    }
    if (taken || limit >= MOST_ENTRIES) return 0;
    return (size_t)limit + to_equal;
}

/* The instruction that set the flags of a branch: the nearest in front that writes any. */
static uint32_t flags_from(const struct bound_walk *w, uint32_t branch)
{
    uint32_t at = branch;
    for (int k = 0; k < 8; k++) {
        struct fp_decoded_insn d;
        at = fp_slice_before(w->s, at);
        if (at == FP_NONE || w->s->f->insns.at[at].kind == FP_INSN_CALL ||
            !fp_insn_decode_full(w->s->object, w->s->f->insns.at[at].address, &d))
            return FP_NONE;
        struct fp_insn_regs regs = fp_insn_registers(&d);
        if (regs.writes >> 16) return at;
        /* the index of the compare must still be the one that is loaded with */
        if (w->gpr >= 0 && regs.writes >> w->gpr & 1) return FP_NONE;
        if (w->gpr < 0 && w->s->f->insns.at[at].flags & FP_INSN_STORES) return FP_NONE;
    }
    return FP_NONE;
}

/* Steps over a write of the index: false where it ends the walk. */
static bool follow_write(struct bound_walk *w, uint32_t at)
{
    struct fp_decoded_insn d;
    if (!fp_insn_decode_full(w->s->object, w->s->f->insns.at[at].address, &d)) return false;
    const ZydisDecodedOperand *from = &d.op[1];
    if (d.i.mnemonic == ZYDIS_MNEMONIC_AND && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        if (from->imm.value.u < MOST_ENTRIES) w->narrow = (size_t)from->imm.value.u + 1;
        return false;
    }
    bool widens = d.i.mnemonic == ZYDIS_MNEMONIC_MOVZX;
    if (d.i.mnemonic != ZYDIS_MNEMONIC_MOV && !widens) return false;
    if (!widens && d.op[0].size < 32) return false;
    if (widens && from->size == 8 && !w->narrow) w->narrow = 256;
    if (from->size < w->width) w->width = from->size;
    if (from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        w->gpr = fp_insn_gpr(from->reg.value);
        return w->gpr >= 0 && from->reg.value != ZYDIS_REGISTER_AH &&
               from->reg.value != ZYDIS_REGISTER_BH && from->reg.value != ZYDIS_REGISTER_CH &&
               from->reg.value != ZYDIS_REGISTER_DH;
    }
    if (from->type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
    w->gpr = -1;
    w->slot = *from;
    return true;
}

/* Whether an instruction changes what the index is held in. */
static bool disturbs(const struct bound_walk *w, uint32_t at)
{
    const struct fp_insn *insn = &w->s->f->insns.at[at];
    if (w->gpr >= 0) return w->s->writes[at] >> w->gpr & 1;
    int base = fp_insn_gpr(w->slot.mem.base), index = fp_insn_gpr(w->slot.mem.index);
    return insn->kind == FP_INSN_CALL || insn->flags & (FP_INSN_LOADS | FP_INSN_STORES) ||
           (base >= 0 && w->s->writes[at] >> base & 1) ||
           (index >= 0 && w->s->writes[at] >> index & 1);
}

struct fp_table_size fp_table_bound(const struct fp_slice *s, uint32_t at, ZydisRegister index)
{
    struct bound_walk w = {.s = s, .gpr = fp_insn_gpr(index), .width = 64};
    size_t bound = 0;
    if (w.gpr < 0) return (struct fp_table_size){0};
    for (int k = 0; k < MOST_STEPS; k++) {
        uint32_t before = fp_slice_before(s, at);
        if (before == FP_NONE) break;
        if (s->f->insns.at[before].kind == FP_INSN_BRANCH) {
            bool taken = !(before + 1 == at && s->first_source[at] == FP_NONE);
            uint32_t compare = flags_from(&w, before);
            if (compare != FP_NONE) bound = bound_of_compare(&w, before, taken, compare);
            if (bound) break;
        }
        at = before;
        if (disturbs(&w, at) && (w.gpr < 0 || !follow_write(&w, at))) break;
    }
    return (struct fp_table_size){bound, w.narrow};
}
