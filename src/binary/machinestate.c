/* What instructions do to what is known: see machinestate.h. */
#include "binary/machinestate.h"

#include "binary/liveness.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
static const uint16_t caller_saved = 1u << RAX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI |
                                     1u << 8 | 1u << 9 | 1u << 10 | 1u << 11;

/* A value of an operand: of `bits` bits, in the low ones. */
struct value {
    bool known;
    uint64_t bits;
};

static const struct value unknown;

static struct value known_value(uint64_t bits)
{
    return (struct value){true, bits};
}

static uint64_t low_bits(uint64_t value, unsigned width)
{
    return width >= 64 ? value : value & ((1ull << width) - 1);
}

static uint64_t sign_extended(uint64_t value, unsigned width)
{
    uint64_t sign = 1ull << (width - 1);
    return width >= 64 ? value : (low_bits(value, width) ^ sign) - sign;
}

void fp_state_init(struct fp_machine_state *s, const struct fp_object *object, uint64_t bias)
{
    s->object = object;
    s->bias = bias;
    s->known = 0;
    s->flags = s->flags_known = 0;
    s->stack_start = 0;
    s->stack_shared = false;
    s->nstores = 0;
    memset(s->stack_known, 0, sizeof s->stack_known);
}

void fp_state_set(struct fp_machine_state *s, int gpr, uint64_t value)
{
    s->gpr[gpr] = value;
    s->known |= (uint16_t)(1u << gpr);
}

void fp_state_set_flags(struct fp_machine_state *s, uint64_t flags)
{
    s->flags = (uint32_t)flags;
    s->flags_known = ~0u;
}

void fp_state_set_stack(struct fp_machine_state *s, const unsigned char *bytes, size_t len)
{
    if (len > FP_STATE_ABOVE) len = FP_STATE_ABOVE;
    s->stack_start = s->gpr[RSP] - FP_STATE_BELOW;
    if (!len) return;
    memcpy(s->stack + FP_STATE_BELOW, bytes, len);
    memset(s->stack_known + FP_STATE_BELOW, 1, len);
}

static void forget(struct fp_machine_state *s, int gpr)
{
    s->known &= (uint16_t)~(1u << gpr);
}

/* ---- memory ---- */

static bool on_stack(const struct fp_machine_state *s, uint64_t address, unsigned size)
{
    return s->stack_start && size <= sizeof s->stack &&
           address - s->stack_start <= sizeof s->stack - size;
}

static struct value load_stack(const struct fp_machine_state *s, uint64_t address, unsigned size)
{
    size_t at = (size_t)(address - s->stack_start);
    uint64_t value = 0;
    if (!on_stack(s, address, size)) return unknown;
    for (unsigned i = 0; i < size; i++)
        if (!s->stack_known[at + i]) return unknown;
    memcpy(&value, s->stack + at, size);
    return known_value(value);
}

/* What the file has where nothing can be written; addresses in it are moved with the object. */
static struct value load_constant(const struct fp_machine_state *s, uint64_t address, unsigned size)
{
    uint64_t linked = address - s->bias, value = 0;
    size_t len;
    if (size == 8 && fp_object_constant_pointer(s->object, linked, &value))
        return known_value(value + s->bias);
    const unsigned char *bytes = fp_object_constant(s->object, linked, &len);
    if (!bytes || len < size) return unknown;
    memcpy(&value, bytes, size);
    return known_value(value);
}

static struct value load(const struct fp_machine_state *s, uint64_t address, unsigned size)
{
    if (!size || size > 8) return unknown;
    if (on_stack(s, address, size)) return s->stack_shared ? unknown : load_stack(s, address, size);
    for (unsigned i = s->nstores; i-- > 0;) {
        const struct fp_known_store *one = &s->stores[i];
        if (one->address == address && one->size == size) return known_value(one->value);
        if (address < one->address + one->size && one->address < address + size) return unknown;
    }
    return load_constant(s, address, size);
}

static void store_stack(struct fp_machine_state *s, uint64_t address, unsigned size,
                        struct value value)
{
    size_t at = (size_t)(address - s->stack_start);
    memset(s->stack_known + at, value.known, size);
    if (value.known && size <= 8) memcpy(s->stack + at, &value.bits, size);
}

static void store(struct fp_machine_state *s, uint64_t address, unsigned size, struct value value)
{
    if (on_stack(s, address, size)) {
        store_stack(s, address, size, value);
        return;
    }
    for (unsigned i = 0; i < size; i++) /* across an end of what is kept */
        if (on_stack(s, address + i, 1)) s->stack_known[address + i - s->stack_start] = 0;
    if (s->nstores == FP_STATE_STORES || !value.known || size > 8) s->nstores = 0;
    if (!value.known || !size || size > 8) return;
    s->stores[s->nstores++] =
        (struct fp_known_store){address, low_bits(value.bits, 8 * size), (uint8_t)size};
}

/* Through a pointer that is not known: that may be to a variable on the stack. */
static void store_anywhere(struct fp_machine_state *s)
{
    s->nstores = 0;
    s->stack_shared = true;
}

/* ---- operands ---- */

static bool part_of_address(const struct fp_machine_state *s, ZydisRegister reg, uint64_t *sum,
                            uint64_t scale)
{
    if (reg == ZYDIS_REGISTER_NONE) return true;
    int gpr = fp_insn_gpr(reg);
    if (gpr < 0 || !(s->known >> gpr & 1)) return false;
    *sum += s->gpr[gpr] * scale;
    return true;
}

static bool address_of(const struct fp_machine_state *s, const struct fp_decoded_insn *d,
                       uint64_t address, const ZydisDecodedOperand *op, uint64_t *found)
{
    *found = (uint64_t)op->mem.disp.value;
    if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS) return false;
    if (op->mem.base == ZYDIS_REGISTER_RIP) {
        *found += address + d->i.length + s->bias;
        return true;
    }
    bool known = part_of_address(s, op->mem.base, found, 1) &&
                 part_of_address(s, op->mem.index, found, op->mem.scale);
    *found = low_bits(*found, d->i.address_width);
    return known;
}

static bool high_byte(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_AH || reg == ZYDIS_REGISTER_BH || reg == ZYDIS_REGISTER_CH ||
           reg == ZYDIS_REGISTER_DH;
}

static struct value get(const struct fp_machine_state *s, const struct fp_decoded_insn *d,
                        uint64_t address, const ZydisDecodedOperand *op)
{
    uint64_t at;
    int gpr;
    switch (op->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        gpr = fp_insn_gpr(op->reg.value);
        if (gpr < 0 || !(s->known >> gpr & 1)) return unknown;
        return known_value(low_bits(s->gpr[gpr] >> (high_byte(op->reg.value) ? 8 : 0), op->size));
    case ZYDIS_OPERAND_TYPE_IMMEDIATE: return known_value(op->imm.value.u);
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return address_of(s, d, address, op, &at) ? load(s, at, op->size / 8u) : unknown;
    default: return unknown;
    }
}

static void set_register(struct fp_machine_state *s, ZydisRegister reg, unsigned width,
                         struct value value)
{
    int gpr = fp_insn_gpr(reg);
    if (gpr < 0) return;
    unsigned shift = high_byte(reg) ? 8 : 0;
    bool whole = width >= 32;
    if (!value.known || (!whole && !(s->known >> gpr & 1))) {
        forget(s, gpr);
        return;
    }
    uint64_t mask = low_bits(~0ull, width) << shift;
    uint64_t kept = whole ? 0 : s->gpr[gpr] & ~mask;
    fp_state_set(s, gpr, kept | (value.bits << shift & mask));
}

static void set(struct fp_machine_state *s, const struct fp_decoded_insn *d, uint64_t address,
                const ZydisDecodedOperand *op, struct value value)
{
    uint64_t at;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        set_register(s, op->reg.value, op->size, value);
    } else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        if (address_of(s, d, address, op, &at))
            store(s, at, op->size / 8u, value);
        else
            store_anywhere(s);
    }
}

/* ---- flags ---- */

static void set_flag(struct fp_machine_state *s, uint32_t flag, bool value)
{
    s->flags = value ? s->flags | flag : s->flags & ~flag;
    s->flags_known |= flag;
}

static void set_result_flags(struct fp_machine_state *s, uint64_t result, unsigned width)
{
    result = low_bits(result, width);
    set_flag(s, ZYDIS_CPUFLAG_ZF, !result);
    set_flag(s, ZYDIS_CPUFLAG_SF, result >> (width - 1) & 1);
    set_flag(s, ZYDIS_CPUFLAG_PF, !(__builtin_popcountll(result & 0xff) & 1));
}

static uint64_t add_with_flags(struct fp_machine_state *s, uint64_t a, uint64_t b, uint64_t carry,
                               unsigned width)
{
    uint64_t sum = low_bits(a + b + carry, width);
    set_result_flags(s, sum, width);
    set_flag(s, ZYDIS_CPUFLAG_CF, sum < a || (carry && sum == a));
    set_flag(s, ZYDIS_CPUFLAG_OF, (~(a ^ b) & (a ^ sum)) >> (width - 1) & 1);
    return sum;
}

static uint64_t subtract_with_flags(struct fp_machine_state *s, uint64_t a, uint64_t b,
                                    uint64_t borrow, unsigned width)
{
    uint64_t rest = low_bits(a - b - borrow, width);
    set_result_flags(s, rest, width);
    set_flag(s, ZYDIS_CPUFLAG_CF, a < b || (borrow && a == b));
    set_flag(s, ZYDIS_CPUFLAG_OF, ((a ^ b) & (a ^ rest)) >> (width - 1) & 1);
    return rest;
}

static uint64_t logic_with_flags(struct fp_machine_state *s, uint64_t result, unsigned width)
{
    set_result_flags(s, result, width);
    set_flag(s, ZYDIS_CPUFLAG_CF, false);
    set_flag(s, ZYDIS_CPUFLAG_OF, false);
    return result;
}

/* The condition that the low four bits of an opcode name, in the order of the manuals: o, b, z,
 * be, s, p, l, le, each followed by its opposite. */
static bool condition(const struct fp_machine_state *s, unsigned code, bool *holds)
{
    static const uint32_t needs[] = {ZYDIS_CPUFLAG_OF,
                                     ZYDIS_CPUFLAG_CF,
                                     ZYDIS_CPUFLAG_ZF,
                                     ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF,
                                     ZYDIS_CPUFLAG_SF,
                                     ZYDIS_CPUFLAG_PF,
                                     ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF,
                                     ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_ZF};
    unsigned kind = code >> 1 & 7;
    bool zero = s->flags & ZYDIS_CPUFLAG_ZF;
    bool less = !(s->flags & ZYDIS_CPUFLAG_SF) != !(s->flags & ZYDIS_CPUFLAG_OF);
    if ((s->flags_known & needs[kind]) != needs[kind]) return false;
    bool found = kind == 6 ? less : kind == 7 ? less || zero : (s->flags & needs[kind]) != 0;
    *holds = found != (code & 1);
    return true;
}

/* ---- instructions ---- */

/* What an instruction changes is unknown behind it. */
static void forget_results(struct fp_machine_state *s, uint64_t address,
                           const struct fp_decoded_insn *d)
{
    struct fp_insn_regs regs = fp_insn_registers(d);
    /* memory first: its address may be in a register that changes, too */
    for (unsigned k = 0; k < d->i.operand_count; k++) {
        const ZydisDecodedOperand *op = &d->op[k];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        bool repeated = d->i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE);
        if (repeated) s->stack_shared = true;
        set(s, d, address, op, unknown);
    }
    s->known &= (uint16_t)~(regs.writes & FP_LIVE_GPRS);
    if (d->i.cpu_flags)
        s->flags_known &= ~(d->i.cpu_flags->modified | d->i.cpu_flags->set_0 |
                            d->i.cpu_flags->set_1 | d->i.cpu_flags->undefined);
}

static void compute(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    const ZydisDecodedOperand *to = &d->op[0];
    struct value a = get(s, d, address, to), b = get(s, d, address, &d->op[1]);
    unsigned width = to->size;
    bool same = to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                d->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && to->reg.value == d->op[1].reg.value;
    int m = (int)d->i.mnemonic;
    if (same && (m == ZYDIS_MNEMONIC_XOR || m == ZYDIS_MNEMONIC_SUB)) a = b = known_value(0);
    if (m == ZYDIS_MNEMONIC_INC || m == ZYDIS_MNEMONIC_DEC) b = known_value(1);
    bool clears = m == ZYDIS_MNEMONIC_AND && ((a.known && !a.bits) || (b.known && !b.bits));
    if (clears) a = b = known_value(0);
    if (!a.known || !b.known) {
        forget_results(s, address, d);
        return;
    }
    b.bits = low_bits(b.bits, width);
    uint32_t carry = s->flags & ZYDIS_CPUFLAG_CF, carry_known = s->flags_known & ZYDIS_CPUFLAG_CF;
    uint64_t result = 0;
    switch (m) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_INC: result = add_with_flags(s, a.bits, b.bits, 0, width); break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_DEC: result = subtract_with_flags(s, a.bits, b.bits, 0, width); break;
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_TEST: result = logic_with_flags(s, a.bits & b.bits, width); break;
    case ZYDIS_MNEMONIC_OR: result = logic_with_flags(s, a.bits | b.bits, width); break;
    case ZYDIS_MNEMONIC_XOR: result = logic_with_flags(s, a.bits ^ b.bits, width); break;
    default: break;
    }
    if (m == ZYDIS_MNEMONIC_INC || m == ZYDIS_MNEMONIC_DEC) { /* these keep the carry */
        s->flags = (s->flags & ~(uint32_t)ZYDIS_CPUFLAG_CF) | carry;
        s->flags_known = (s->flags_known & ~(uint32_t)ZYDIS_CPUFLAG_CF) | carry_known;
    }
    if (m != ZYDIS_MNEMONIC_CMP && m != ZYDIS_MNEMONIC_TEST)
        set(s, d, address, to, known_value(result));
}

static void compute_with_carry(struct fp_machine_state *s, uint64_t address,
                               const struct fp_decoded_insn *d)
{
    struct value a = get(s, d, address, &d->op[0]), b = get(s, d, address, &d->op[1]);
    unsigned width = d->op[0].size;
    bool adds = d->i.mnemonic == ZYDIS_MNEMONIC_ADC, carry = s->flags & ZYDIS_CPUFLAG_CF;
    bool same = d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                d->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                d->op[0].reg.value == d->op[1].reg.value;
    if (!adds && same) a = b = known_value(0);
    if (!a.known || !b.known || !(s->flags_known & ZYDIS_CPUFLAG_CF)) {
        forget_results(s, address, d);
        return;
    }
    b.bits = low_bits(b.bits, width);
    uint64_t result = adds ? add_with_flags(s, a.bits, b.bits, carry, width)
                           : subtract_with_flags(s, a.bits, b.bits, carry, width);
    set(s, d, address, &d->op[0], known_value(result));
}

static uint64_t shifted(int mnemonic, uint64_t value, unsigned by, unsigned width)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_SHL: return low_bits(value << by, width);
    case ZYDIS_MNEMONIC_SHR: return value >> by;
    default: return low_bits((uint64_t)((int64_t)sign_extended(value, width) >> by), width);
    }
}

static void shift(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    struct value a = get(s, d, address, &d->op[0]), by = get(s, d, address, &d->op[1]);
    unsigned width = d->op[0].size, n = (unsigned)by.bits & (width == 64 ? 63 : 31);
    int m = (int)d->i.mnemonic;
    if (by.known && !n) { /* the upper half of a register is cleared nevertheless */
        set(s, d, address, &d->op[0], a);
        return;
    }
    if (!a.known || !by.known || n >= width) {
        forget_results(s, address, d);
        return;
    }
    uint64_t out = m == ZYDIS_MNEMONIC_SHL ? a.bits >> (width - n) : a.bits >> (n - 1);
    uint64_t result = shifted(m, a.bits, n, width);
    set_result_flags(s, result, width);
    set_flag(s, ZYDIS_CPUFLAG_CF, out & 1);
    s->flags_known &= ~(uint32_t)ZYDIS_CPUFLAG_OF;
    set(s, d, address, &d->op[0], known_value(result));
}

static void negate(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    struct value a = get(s, d, address, &d->op[0]);
    unsigned width = d->op[0].size;
    bool not = d->i.mnemonic == ZYDIS_MNEMONIC_NOT;
    if (!a.known) {
        forget_results(s, address, d);
        return;
    }
    uint64_t result = not ? low_bits(~a.bits, width) : subtract_with_flags(s, 0, a.bits, 0, width);
    set(s, d, address, &d->op[0], known_value(result));
}

/* imul with two or three operands; its flags are rarely asked for. */
static void multiply(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    unsigned last = d->i.operand_count_visible - 1;
    unsigned width = d->op[0].size;
    struct value a = last ? get(s, d, address, &d->op[last - 1]) : unknown;
    struct value b = get(s, d, address, &d->op[last]);
    forget_results(s, address, d);
    if (!last || !a.known || !b.known) return;
    uint64_t product =
        sign_extended(a.bits, width) * sign_extended(b.bits, (unsigned)d->op[last].size);
    set(s, d, address, &d->op[0], known_value(low_bits(product, width)));
}

static void move(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    struct value value = get(s, d, address, &d->op[1]);
    bool extends = d->i.mnemonic == ZYDIS_MNEMONIC_MOVSX || d->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    if (extends) value.bits = sign_extended(value.bits, d->op[1].size);
    set(s, d, address, &d->op[0], value);
}

static void move_if(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    bool holds;
    bool known = condition(s, d->i.opcode, &holds);
    struct value value = known && holds ? get(s, d, address, &d->op[1])
                         : known        ? get(s, d, address, &d->op[0])
                                        : unknown;
    set(s, d, address, &d->op[0], value);
}

static void set_if(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    bool holds;
    bool known = condition(s, d->i.opcode, &holds);
    set(s, d, address, &d->op[0], known ? known_value(holds) : unknown);
}

static void load_address(struct fp_machine_state *s, uint64_t address,
                         const struct fp_decoded_insn *d)
{
    uint64_t found;
    bool known = address_of(s, d, address, &d->op[1], &found);
    set(s, d, address, &d->op[0], known ? known_value(low_bits(found, d->op[0].size)) : unknown);
}

static void widen(struct fp_machine_state *s, const struct fp_decoded_insn *d)
{
    bool known = s->known >> RAX & 1;
    uint64_t rax = s->gpr[RAX];
    switch ((int)d->i.mnemonic) {
    case ZYDIS_MNEMONIC_CBW:
        set_register(s, ZYDIS_REGISTER_AX, 16, (struct value){known, sign_extended(rax, 8)});
        break;
    case ZYDIS_MNEMONIC_CWDE:
        set_register(s, ZYDIS_REGISTER_EAX, 32, (struct value){known, sign_extended(rax, 16)});
        break;
    case ZYDIS_MNEMONIC_CDQE:
        set_register(s, ZYDIS_REGISTER_RAX, 64, (struct value){known, sign_extended(rax, 32)});
        break;
    case ZYDIS_MNEMONIC_CDQ:
        set_register(s, ZYDIS_REGISTER_EDX, 32,
                     (struct value){known, rax >> 31 & 1 ? 0xffffffffu : 0});
        break;
    default:
        set_register(s, ZYDIS_REGISTER_RDX, 64, (struct value){known, rax >> 63 ? ~0ull : 0});
        break;
    }
}

/* ---- the stack ---- */

static void push_value(struct fp_machine_state *s, struct value value)
{
    if (!(s->known >> RSP & 1)) return;
    s->gpr[RSP] -= 8;
    store(s, s->gpr[RSP], 8, value);
}

/* Saved registers and return addresses: nobody else writes there. */
static struct value pop_value(struct fp_machine_state *s)
{
    if (!(s->known >> RSP & 1)) return unknown;
    struct value value = load_stack(s, s->gpr[RSP], 8);
    s->gpr[RSP] += 8;
    return value;
}

static void leave(struct fp_machine_state *s)
{
    if (!(s->known >> RBP & 1)) {
        forget(s, RSP);
        return;
    }
    fp_state_set(s, RSP, s->gpr[RBP]);
    set_register(s, ZYDIS_REGISTER_RBP, 64, pop_value(s));
}

void fp_state_push_return(struct fp_machine_state *s, uint64_t address,
                          const struct fp_decoded_insn *d)
{
    push_value(s, known_value(address + d->i.length + s->bias));
}

void fp_state_forget_call(struct fp_machine_state *s)
{
    s->known &= (uint16_t)~caller_saved;
    s->flags_known = 0;
    s->stack_shared = true;
    s->nstores = 0;
}

/* ---- control ---- */

bool fp_state_branches(const struct fp_machine_state *s, const struct fp_decoded_insn *d,
                       bool *taken)
{
    bool by_flags = d->i.meta.category == ZYDIS_CATEGORY_COND_BR &&
                    (d->i.opcode >> 4 == 7 || d->i.opcode >> 4 == 8);
    return by_flags && condition(s, d->i.opcode, taken);
}

bool fp_state_target(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d,
                     uint64_t *target)
{
    struct value value =
        d->i.meta.category == ZYDIS_CATEGORY_RET ? pop_value(s) : get(s, d, address, &d->op[0]);
    *target = value.bits - s->bias;
    return value.known;
}

/* ---- */

void fp_state_step(struct fp_machine_state *s, uint64_t address, const struct fp_decoded_insn *d)
{
    switch ((int)d->i.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR: compute(s, address, d); break;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB: compute_with_carry(s, address, d); break;
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR: shift(s, address, d); break;
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_NOT: negate(s, address, d); break;
    case ZYDIS_MNEMONIC_IMUL: multiply(s, address, d); break;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD: move(s, address, d); break;
    case ZYDIS_MNEMONIC_LEA: load_address(s, address, d); break;
    case ZYDIS_MNEMONIC_CBW:
    case ZYDIS_MNEMONIC_CWDE:
    case ZYDIS_MNEMONIC_CDQE:
    case ZYDIS_MNEMONIC_CDQ:
    case ZYDIS_MNEMONIC_CQO: widen(s, d); break;
    case ZYDIS_MNEMONIC_PUSH: push_value(s, get(s, d, address, &d->op[0])); break;
    case ZYDIS_MNEMONIC_POP: set(s, d, address, &d->op[0], pop_value(s)); break;
    case ZYDIS_MNEMONIC_LEAVE: leave(s); break;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_INT: fp_state_forget_call(s); break;
    default:
        if (d->i.meta.category == ZYDIS_CATEGORY_CMOV)
            move_if(s, address, d);
        else if (d->i.meta.category == ZYDIS_CATEGORY_SETCC)
            set_if(s, address, d);
        else
            forget_results(s, address, d);
    }
}
