/* Copies the instruction under a trap into a slot, where it is executed instead.
 *
 * The copy is followed by a jump to the next instruction. So a trap costs one signal, and it
 * stays in place for other threads. Operands relative to the instruction pointer are
 * adjusted, and jumps are written anew. A call becomes two instructions that push the return
 * address of the call, and a jump.
 *
 * Not handled: calls where the processor keeps a second stack of return addresses; int3; and
 * instructions that compilers do not emit. Functions with such an instruction at a place of
 * theirs are not sampled.
 */
#include "rt.h"

#include <string.h>

/* What follows the opcode, per opcode. M: modrm; b, z, v: a constant of 1, of 2 or 4, of
 * up to 8 bytes; w: a constant of 2; m: modrm and b; W: modrm and z; j, k, J: jumps; c: a call;
 * t, T: a constant depending on modrm; i: FF; - nothing; x: not understood. Prefixes are read
 * before. */
static const char one_byte[257] =
    "MMMMbzxxMMMMbzxxMMMMbzxxMMMMbzxxMMMMbzxxMMMMbzxxMMMMbzxxMMMMbzxx"
    "xxxxxxxxxxxxxxxx----------------xxxMxxxxzWbmxxxxjjjjjjjjjjjjjjjj"
    "mWxmMMMMMMMMxMxM----------xx----xxxx----bz------bbbbbbbbvvvvvvvv"
    "mmw-xxmWx-xxxxxxMMMMxxxxMMMMMMMMxxxxxxxxcJxkxxxxxxxxx-tT--xx--Mi";

/* Behind 0F. K: a conditional jump. */
static char two_bytes(unsigned char opcode)
{
    if (opcode == 0x05 || opcode == 0x0b) return '-'; /* syscall, ud2 */
    if (opcode < 0x10) return opcode == 0x0d ? 'M' : 'x';
    if (opcode >= 0x80 && opcode < 0x90) return 'K';
    if (opcode >= 0x20 && opcode < 0x28) return 'x';
    if (opcode >= 0x30 && opcode < 0x40) return 'x';
    if (opcode >= 0xc8 && opcode < 0xd0) return '-';
    switch (opcode) {
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4:
    case 0xc5:
    case 0xc6: return 'm';
    case 0x77:
    case 0xa2: return '-';
    case 0xa0:
    case 0xa1:
    case 0xa6:
    case 0xa7:
    case 0xa8:
    case 0xa9:
    case 0xaa: return 'x';
    default: return 'M';
    }
}

/* With VEX and EVEX, by opcode map. */
static char vector_opcode(unsigned map, unsigned char opcode)
{
    if (map == 2) return 'M';
    if (map == 3) return 'm';
    return map == 1 && opcode != 0x77 ? two_bytes(opcode) : 'x';
}

struct insn {
    size_t len;
    size_t modrm; /* where it is, if the instruction has one */
    size_t disp;  /* where the offset from the instruction pointer is, or 0 */
    char kind;    /* C: a call through a register or memory */
    unsigned char condition;
};

struct cursor {
    const unsigned char *at;
    size_t i;
    bool wide, narrow; /* REX.W, 66 */
};

static char read_opcode(struct cursor *c, struct insn *insn)
{
    for (; c->i < 14 && c->at[c->i] &&
           strchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0", c->at[c->i]);
         c->i++)
        c->narrow |= c->at[c->i] == 0x66;
    if ((c->at[c->i] & 0xf0) == 0x40) c->wide = c->at[c->i++] & 8;
    const unsigned char *at = c->at + c->i;
    if (at[0] == 0xc5) return c->i += 3, vector_opcode(1, at[2]);
    if (at[0] == 0xc4) return c->i += 4, vector_opcode(at[1] & 0x1f, at[3]);
    if (at[0] == 0x62) return c->i += 5, vector_opcode(at[1] & 7, at[4]);
    if (at[0] != 0x0f) {
        insn->condition = at[0] & 0x0f;
        return c->i += 1, one_byte[at[0]];
    }
    if (at[1] == 0x38 || at[1] == 0x3a) return c->i += 3, at[1] == 0x38 ? 'M' : 'm';
    insn->condition = at[1] & 0x0f;
    return c->i += 2, two_bytes(at[1]);
}

static void read_modrm(struct cursor *c, struct insn *insn)
{
    unsigned char modrm = c->at[c->i++], mod = modrm >> 6, rm = modrm & 7;
    if (mod == 3) return;
    if (rm == 4) {
        unsigned char sib = c->at[c->i++];
        if (mod == 0 && (sib & 7) == 5) c->i += 4;
    }
    if (mod == 0 && rm == 5) {
        insn->disp = c->i;
        c->i += 4;
    }
    c->i += mod == 1 ? 1 : mod == 2 ? 4 : 0;
}

static bool read_insn(const unsigned char *at, struct insn *insn)
{
    struct cursor c = {.at = at};
    *insn = (struct insn){0};
    char kind = insn->kind = read_opcode(&c, insn);
    unsigned reg = at[c.i] >> 3 & 7; /* where a modrm is next */
    size_t z = c.narrow && !c.wide ? 2 : 4;
    if (kind == 'x' || (kind == 'i' && (reg == 3 || reg == 5 || reg == 7))) return false;
    if (kind == 'W' && at[c.i - 1] == 0xc7 && reg == 7) return false; /* xbegin */
    if (kind == 'i' && reg == 2) insn->kind = 'C';
    insn->modrm = c.i;
    if (strchr("MmWtTi", kind)) read_modrm(&c, insn);
    switch (kind) {
    case 'b':
    case 'm':
    case 'j':
    case 'k': c.i += 1; break;
    case 'w': c.i += 2; break;
    case 'z':
    case 'W': c.i += z; break;
    case 'v': c.i += c.wide ? 8 : z; break;
    case 't': c.i += reg < 2; break;
    case 'T': c.i += reg < 2 ? z : 0; break;
    case 'c':
    case 'J':
    case 'K': c.i += 4; break;
    default: break;
    }
    insn->len = c.i;
    return true;
}

/* Writes the last 4 bytes of a jump, the distance to the target. False: it does not fit. */
static bool put_offset(unsigned char *at, const unsigned char *target)
{
    int64_t offset = target - (at + 4);
    int32_t narrow = (int32_t)offset;
    memcpy(at, &narrow, sizeof narrow);
    return narrow == offset;
}

static const unsigned char *jump_target(const unsigned char *at, const struct insn *insn)
{
    int32_t offset = (signed char)at[insn->len - 1];
    if (strchr("JKc", insn->kind)) memcpy(&offset, at + insn->len - 4, sizeof offset);
    return at + insn->len + offset;
}

static bool put_jump(unsigned char *slot, const unsigned char *target)
{
    slot[0] = 0xe9;
    return put_offset(slot + 1, target);
}

size_t rt_insn_length(const unsigned char *at)
{
    struct insn insn;
    return read_insn(at, &insn) ? insn.len : 0;
}

/* Copies an instruction. False: an operand is too far from the copy. */
static bool copy(const unsigned char *at, const struct insn *insn, unsigned char *slot)
{
    memcpy(slot, at, insn->len);
    if (!insn->disp) return true;
    int32_t offset;
    memcpy(&offset, at + insn->disp, sizeof offset);
    int64_t moved = offset + (at - slot);
    offset = (int32_t)moved;
    memcpy(slot + insn->disp, &offset, sizeof offset);
    return offset == moved;
}

/* Does the processor keep a second stack of return addresses? */
static bool has_shadow_stack(void)
{
    uint64_t top = 0;
    __asm__ volatile("rdsspq %0" : "+r"(top)); /* leaves 0 where there is none */
    return top;
}

enum { PUSH = 13 };

/* push $low half; movl $high half, 4(%rsp): neither changes a flag. */
static void put_push(unsigned char *slot, uint64_t value)
{
    static const unsigned char form[PUSH] = {0x68, 0, 0, 0, 0, 0xc7, 0x44, 0x24, 4};
    memcpy(slot, form, PUSH);
    memcpy(slot + 1, &value, 4);
    memcpy(slot + 9, (const char *)&value + 4, 4);
}

/* A call through memory at the stack pointer would read another word behind the push. */
static bool uses_stack(const unsigned char *at, const struct insn *insn)
{
    unsigned char modrm = at[insn->modrm], sib = at[insn->modrm + 1];
    bool extended = insn->modrm >= 2 && (at[insn->modrm - 2] & 0xf1) == 0x41; /* r12, not rsp */
    return (modrm & 7) == 4 && ((modrm >> 6) == 3 || (sib & 7) == 4) && !extended;
}

static bool make_call(const unsigned char *at, const struct insn *insn, unsigned char *slot)
{
    enum { JUMP_BITS = 0x20, CALL_BITS = 0x10 };
    if (has_shadow_stack()) return false;
    put_push(slot, (uint64_t)(at + insn->len));
    if (insn->kind == 'c') return put_jump(slot + PUSH, jump_target(at, insn));
    if (PUSH + insn->len > RT_SLOT_SIZE || uses_stack(at, insn)) return false;
    bool fits = copy(at, insn, slot + PUSH);
    slot[PUSH + insn->modrm] ^= JUMP_BITS | CALL_BITS;
    return fits;
}

bool rt_slot_make(const unsigned char *at, unsigned char *slot)
{
    struct insn insn;
    if (!read_insn(at, &insn) || insn.len > 15) return false;
    switch (insn.kind) {
    case 'c':
    case 'C': return make_call(at, &insn, slot);
    case 'J':
    case 'k': return put_jump(slot, jump_target(at, &insn));
    case 'j':
    case 'K':
        slot[0] = 0x0f;
        slot[1] = 0x80 | insn.condition;
        return put_offset(slot + 2, jump_target(at, &insn)) && put_jump(slot + 6, at + insn.len);
    default: return copy(at, &insn, slot) && put_jump(slot + insn.len, at + insn.len);
    }
}
