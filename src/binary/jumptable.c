/* Jump tables: see jumptable.h.
 *
 * Searches backwards over a few instructions in front of the jump, by address, which is the
 * order in which compilers emit these sequences. Jumps into that range are not followed.
 */
#include "binary/jumptable.h"

#include <Zydis/Zydis.h>

enum {
    LOOK_BACK = 24,        /* for load, addition and bounds check */
    LOOK_BACK_BASE = 4000, /* the address of the table may be computed far above, before a loop */
    MOST_ENTRIES = 65536,
};

struct decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

struct table_search {
    const struct fp_object *object;
    const struct fp_machine_function *f;
    ZydisDecoder decoder;
    uint64_t table;
    bool offsets; /* 32-bit distances from the table, else addresses */
};

static bool decode(const struct table_search *s, uint32_t index, struct decoded *d)
{
    const struct fp_insn *insn = &s->f->insns.at[index];
    size_t len;
    const unsigned char *bytes = fp_object_bytes(s->object, insn->address, &len);
    return bytes && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&s->decoder, bytes, len, &d->i, d->op));
}

static ZydisRegister wide(ZydisRegister reg)
{
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static bool writes(const struct decoded *d, ZydisRegister reg)
{
    return d->i.operand_count && d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           d->op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && wide(d->op[0].reg.value) == reg;
}

/* The last instruction before `from` that writes a register. */
static uint32_t writer_of(const struct table_search *s, uint32_t from, ZydisRegister reg,
                          uint32_t look_back, struct decoded *d)
{
    for (uint32_t k = 1; k <= look_back && k <= from; k++)
        if (decode(s, from - k, d) && writes(d, reg)) return from - k;
    return FP_NONE;
}

/* lea table(%rip),reg */
static bool base_address(struct table_search *s, uint32_t from, ZydisRegister reg)
{
    struct decoded d;
    for (uint32_t k = 1; k <= LOOK_BACK_BASE && k <= from; k++) {
        if (!decode(s, from - k, &d) || !writes(&d, reg)) continue;
        bool lea = d.i.mnemonic == ZYDIS_MNEMONIC_LEA && d.op[1].mem.base == ZYDIS_REGISTER_RIP;
        if (lea) {
            s->table =
                s->f->insns.at[from - k].address + d.i.length + (uint64_t)d.op[1].mem.disp.value;
            return true;
        }
        if (d.i.mnemonic == ZYDIS_MNEMONIC_MOV && d.op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            s->table = d.op[1].imm.value.u;
            return true;
        }
        if (d.i.mnemonic == ZYDIS_MNEMONIC_POP || d.i.mnemonic == ZYDIS_MNEMONIC_MOV) continue;
        return false;
    }
    return false;
}

static bool table_of_addresses(struct table_search *s, uint32_t at,
                               const ZydisDecodedOperandMem *mem)
{
    if (mem->scale != 8 || mem->index == ZYDIS_REGISTER_NONE) return false;
    s->offsets = false;
    if (mem->base == ZYDIS_REGISTER_NONE) {
        s->table = (uint64_t)mem->disp.value;
        return true;
    }
    if (!base_address(s, at, wide(mem->base))) return false;
    s->table += (uint64_t)mem->disp.value;
    return true;
}

/* add B,R with movslq (B,I,4),R, in either order of the operands of add */
static bool table_of_offsets(struct table_search *s, uint32_t add, const struct decoded *d)
{
    if (d->i.mnemonic != ZYDIS_MNEMONIC_ADD || d->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    ZydisRegister regs[2] = {wide(d->op[0].reg.value), wide(d->op[1].reg.value)};
    for (int k = 0; k < 2; k++) {
        struct decoded load;
        uint32_t at = writer_of(s, add, regs[k], LOOK_BACK, &load);
        if (at == FP_NONE || load.i.mnemonic != ZYDIS_MNEMONIC_MOVSXD) continue;
        const ZydisDecodedOperand *from = &load.op[1];
        if (from->type != ZYDIS_OPERAND_TYPE_MEMORY || from->mem.scale != 4) continue;
        if (wide(from->mem.base) != regs[1 - k] && from->mem.base != ZYDIS_REGISTER_NONE) continue;
        s->offsets = true;
        return base_address(s, at, regs[1 - k]);
    }
    return false;
}

static bool find_table(struct table_search *s, uint32_t jump)
{
    struct decoded d, by;
    if (!decode(s, jump, &d)) return false;
    if (d.op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) return table_of_addresses(s, jump, &d.op[0].mem);
    if (d.op[0].type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    uint32_t at = writer_of(s, jump, wide(d.op[0].reg.value), LOOK_BACK, &by);
    if (at == FP_NONE) return false;
    if (by.i.mnemonic == ZYDIS_MNEMONIC_MOV && by.op[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
        return table_of_addresses(s, at, &by.op[1].mem);
    return table_of_offsets(s, at, &by);
}

/* cmp $N,I; ja: N+1 entries. Only the nearest comparison counts, and only if it
 * guards the jump by an unsigned test. */
static size_t bound_of(const struct table_search *s, uint32_t jump)
{
    struct decoded test, compare;
    for (uint32_t k = 1; k < LOOK_BACK && k < jump; k++) {
        const struct fp_insn *insn = &s->f->insns.at[jump - k];
        if (insn->kind == FP_INSN_RETURN || insn->kind == FP_INSN_JUMP ||
            insn->kind == FP_INSN_JUMP_INDIRECT)
            return MOST_ENTRIES;
        if (insn->kind != FP_INSN_BRANCH || !decode(s, jump - k, &test)) continue;
        bool above = test.i.mnemonic == ZYDIS_MNEMONIC_JNBE,
             not_below = test.i.mnemonic == ZYDIS_MNEMONIC_JNB;
        if (!above && !not_below) return MOST_ENTRIES;
        for (uint32_t n = k + 1; n <= k + 3 && n <= jump; n++) {
            if (!decode(s, jump - n, &compare) || compare.i.mnemonic != ZYDIS_MNEMONIC_CMP)
                continue;
            if (compare.op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return MOST_ENTRIES;
            uint64_t limit = compare.op[1].imm.value.u + above;
            return limit && limit < MOST_ENTRIES ? (size_t)limit : MOST_ENTRIES;
        }
        return MOST_ENTRIES;
    }
    return MOST_ENTRIES;
}

static bool read_entry(const struct table_search *s, size_t index, uint64_t *target)
{
    if (!s->offsets) return fp_object_pointer(s->object, s->table + index * 8, target);
    size_t len;
    const unsigned char *bytes = fp_object_bytes(s->object, s->table + index * 4, &len);
    int32_t distance;
    if (!bytes || len < 4) return false;
    memcpy(&distance, bytes, 4);
    *target = s->table + (uint64_t)(int64_t)distance;
    return true;
}

uint64_t *fp_jump_table(struct fp_arena *arena, const struct fp_object *object,
                        const struct fp_machine_function *f, uint32_t jump, size_t *count)
{
    struct table_search s = {.object = object, .f = f};
    FP_VEC(uint64_t) targets = {0};
    *count = 0;
    ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!find_table(&s, jump)) return NULL;
    size_t bound = bound_of(&s, jump);
    for (size_t i = 0; i < bound; i++) {
        uint64_t target;
        if (!read_entry(&s, i, &target) || fp_machine_insn(f, target, true) == FP_NONE) break;
        fp_vec_push(arena, &targets, target);
    }
    /* an invalid entry within the bounds check: this is not the table */
    if (targets.len < 2 || (bound != MOST_ENTRIES && targets.len < bound)) return NULL;
    *count = targets.len;
    return targets.at;
}
