/* Decoding of single instructions, by Zydis: see machine.h. */
#include "binary/machine.h"

#include <Zydis/Zydis.h>

#include <string.h>

static const ZydisDecoder *decoder(void)
{
    static ZydisDecoder one;
    static bool ready;
    if (!ready) ZydisDecoderInit(&one, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ready = true;
    return &one;
}

static enum fp_insn_kind kind_of(const ZydisDecodedInstruction *i)
{
    bool direct = i->raw.imm[0].size != 0;
    switch ((int)i->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return FP_INSN_BRANCH;
    case ZYDIS_CATEGORY_UNCOND_BR: return direct ? FP_INSN_JUMP : FP_INSN_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_CALL: return FP_INSN_CALL;
    case ZYDIS_CATEGORY_RET: return FP_INSN_RETURN;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP: return FP_INSN_NOP;
    default: break;
    }
    switch ((int)i->mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_INT3: return FP_INSN_STOP;
    default: return FP_INSN_PLAIN;
    }
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* What an instruction of vector registers does with floats: the flags, or 0 for integers and for
 * those that only move. Its name says so: an operation, and ss, sd, ps or pd behind it. */
static unsigned float_flags(const ZydisDecodedInstruction *i)
{
    static const char *const operations[] = {"add", "sub",   "mul",   "min",  "max",
                                             "cmp", "comi",  "ucomi", "hadd", "hsub",
                                             "rcp", "rsqrt", "dp",    "round"};
    const char *name = ZydisMnemonicGetString(i->mnemonic);
    size_t len = strlen(name);
    if (i->meta.category == ZYDIS_CATEGORY_X87_ALU)
        return starts_with(name, "fdiv") || starts_with(name, "fsqrt")
                   ? FP_INSN_FLOATS | FP_INSN_FLOAT_DIVIDES
                   : FP_INSN_FLOATS;
    if (i->meta.category != ZYDIS_CATEGORY_SSE && i->meta.category != ZYDIS_CATEGORY_AVX) return 0;
    const char *type = len > 2 ? name + len - 2 : "";
    if ((type[0] != 's' && type[0] != 'p') || (type[1] != 's' && type[1] != 'd')) return 0;
    if (name[0] == 'v') name++;
    if (starts_with(name, "div") || starts_with(name, "sqrt"))
        return FP_INSN_FLOATS | FP_INSN_FLOAT_DIVIDES;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (starts_with(name, operations[k])) return FP_INSN_FLOATS;
    return 0;
}

static uint16_t flags_of(const ZydisDecodedInstruction *i)
{
    unsigned flags = 0;
    bool memory = i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod != 3;
    int m = (int)i->mnemonic;
    if (memory && m != ZYDIS_MNEMONIC_LEA && m != ZYDIS_MNEMONIC_NOP) {
        /* 88, 89, c6, c7 and moves to memory of vector registers only store */
        bool stores = i->opcode == 0x88 || i->opcode == 0x89 || i->opcode == 0xc6 ||
                      i->opcode == 0xc7 || i->opcode == 0x11 || i->opcode == 0x29 ||
                      i->opcode == 0x7f;
        flags |= stores ? FP_INSN_STORES : FP_INSN_LOADS;
    }
    if (m == ZYDIS_MNEMONIC_POP) flags |= FP_INSN_LOADS;
    if (m == ZYDIS_MNEMONIC_PUSH) flags |= FP_INSN_STORES;
    if (m == ZYDIS_MNEMONIC_DIV || m == ZYDIS_MNEMONIC_IDIV || m == ZYDIS_MNEMONIC_DIVSD ||
        m == ZYDIS_MNEMONIC_DIVSS || m == ZYDIS_MNEMONIC_SQRTSD)
        flags |= FP_INSN_DIVIDES;
    if (m == ZYDIS_MNEMONIC_IMUL || m == ZYDIS_MNEMONIC_MUL) flags |= FP_INSN_MULTIPLIES;
    flags |= float_flags(i);
    if (i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        flags |= FP_INSN_REPEATS;
    if (i->attributes & ZYDIS_ATTRIB_HAS_LOCK || m == ZYDIS_MNEMONIC_XCHG) flags |= FP_INSN_LOCKED;
    return (uint16_t)flags;
}

/* Addresses in operands: relative to rip; the 32 bits of a displacement or immediate that are an
 * address where the program is linked at a fixed one. */
static void find_names(const ZydisDecodedInstruction *i, const struct fp_insn *insn,
                       struct fp_insn_names *names)
{
    bool memory = i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod != 3;
    if (memory && i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5) {
        names->place = insn->address + i->length + (uint64_t)i->raw.disp.value;
        names->has_place = true;
        names->taken = i->mnemonic == ZYDIS_MNEMONIC_LEA;
    } else if (memory && i->raw.disp.size == 32) {
        names->fixed_place = (uint64_t)i->raw.disp.value;
    }
    if (!i->raw.imm[0].is_relative && i->raw.imm[0].size >= 32)
        names->fixed_value = i->raw.imm[0].value.u;
}

uint8_t fp_insn_decode_names(const unsigned char *bytes, size_t len, uint64_t address,
                             struct fp_insn *insn, struct fp_insn_names *names)
{
    ZydisDecodedInstruction i;
    *names = (struct fp_insn_names){0};
    *insn =
        (struct fp_insn){.address = address, .block = FP_NONE, .length = 1, .kind = FP_INSN_STOP};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), NULL, bytes, len, &i))) {
        names->broken = true;
        return 1;
    }
    insn->length = i.length;
    insn->kind = (uint8_t)kind_of(&i);
    insn->flags = flags_of(&i);
    bool relative =
        insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH || insn->kind == FP_INSN_CALL;
    if (relative && i.raw.imm[0].size)
        insn->target = address + i.length + (uint64_t)i.raw.imm[0].value.s;
    else if (insn->kind == FP_INSN_CALL && i.raw.modrm.mod == 0 && i.raw.modrm.rm == 5)
        /* call *slot(%rip): the slot stands for the function */
        insn->target = address + i.length + (uint64_t)i.raw.disp.value;
    find_names(&i, insn, names);
    names->transaction = i.mnemonic == ZYDIS_MNEMONIC_XBEGIN;
    names->direct = relative && i.raw.imm[0].size;
    return i.length;
}

uint8_t fp_insn_decode(const unsigned char *bytes, size_t len, uint64_t address,
                       struct fp_insn *insn)
{
    struct fp_insn_names names;
    return fp_insn_decode_names(bytes, len, address, insn, &names);
}
