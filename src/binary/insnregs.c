/* Registers and flags of instructions, by Zydis: see insnregs.h. */
#include "binary/insnregs.h"

#include "binary/liveness.h"

bool fp_insn_decode_full(const struct fp_object *object, uint64_t address,
                         struct fp_decoded_insn *decoded)
{
    static ZydisDecoder decoder;
    static bool ready;
    if (!ready) ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ready = true;
    size_t len;
    const unsigned char *bytes = fp_object_bytes(object, address, &len);
    return bytes &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &decoded->i, decoded->op));
}

int fp_insn_gpr(ZydisRegister reg)
{
    ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15
               ? (int)(wide - ZYDIS_REGISTER_RAX)
               : -1;
}

static uint32_t bit_of(ZydisRegister reg)
{
    int gpr = fp_insn_gpr(reg);
    return gpr < 0 ? 0 : (uint32_t)1 << gpr;
}

static uint32_t flags_of(ZydisAccessedFlagsMask mask)
{
    return (mask & ZYDIS_CPUFLAG_CF ? FP_LIVE_CF : 0) | (mask & ZYDIS_CPUFLAG_PF ? FP_LIVE_PF : 0) |
           (mask & ZYDIS_CPUFLAG_AF ? FP_LIVE_AF : 0) | (mask & ZYDIS_CPUFLAG_ZF ? FP_LIVE_ZF : 0) |
           (mask & ZYDIS_CPUFLAG_SF ? FP_LIVE_SF : 0) | (mask & ZYDIS_CPUFLAG_OF ? FP_LIVE_OF : 0);
}

/* A write of 32 bits clears the upper half; one of 8 or 16 bits keeps the rest. */
static void add_register(struct fp_insn_regs *r, const ZydisDecodedOperand *op)
{
    uint32_t bit = bit_of(op->reg.value);
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) r->reads |= bit;
    if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) return;
    r->writes |= bit;
    bool whole = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) >= 32;
    if (op->actions & ZYDIS_OPERAND_ACTION_WRITE && whole)
        r->kills |= bit;
    else
        r->reads |= bit;
}

/* A count of 0 leaves the flags as they were. */
static bool may_keep_flags(const ZydisDecodedInstruction *i)
{
    return i->meta.category == ZYDIS_CATEGORY_SHIFT || i->meta.category == ZYDIS_CATEGORY_ROTATE ||
           i->mnemonic == ZYDIS_MNEMONIC_SHLD || i->mnemonic == ZYDIS_MNEMONIC_SHRD ||
           i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static void add_flags(struct fp_insn_regs *r, const ZydisDecodedInstruction *i)
{
    if (!i->cpu_flags) return;
    uint32_t changed = flags_of(i->cpu_flags->modified | i->cpu_flags->set_0 | i->cpu_flags->set_1 |
                                i->cpu_flags->undefined);
    r->reads |= flags_of(i->cpu_flags->tested);
    r->writes |= changed;
    if (!may_keep_flags(i)) r->kills |= changed;
}

/* xor r,r and sub r,r of at least 32 bits: the result does not depend on r. */
static bool clears(const struct fp_decoded_insn *d)
{
    if (d->i.mnemonic != ZYDIS_MNEMONIC_XOR && d->i.mnemonic != ZYDIS_MNEMONIC_SUB) return false;
    return d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           d->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           d->op[0].reg.value == d->op[1].reg.value &&
           ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, d->op[0].reg.value) >= 32;
}

struct fp_insn_regs fp_insn_registers(const struct fp_decoded_insn *d)
{
    struct fp_insn_regs r = {0};
    for (unsigned k = 0; k < d->i.operand_count; k++) {
        const ZydisDecodedOperand *op = &d->op[k];
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            r.reads |= bit_of(op->mem.base) | bit_of(op->mem.index);
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(&r, op);
    }
    add_flags(&r, &d->i);
    switch ((int)d->i.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_INT: r.reads |= FP_LIVE_GPRS; break;
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR: /* the result of 0 is what the register held before */
        r.reads |= bit_of(d->op[0].reg.value);
        break;
    default: break;
    }
    if (clears(d)) r.reads &= ~(r.kills & FP_LIVE_GPRS);
    return r;
}
