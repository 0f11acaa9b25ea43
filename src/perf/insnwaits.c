/* How long instructions wait for others: see insnwaits.h. */
#include "perf/insnwaits.h"

#include "binary/insnregs.h"

#include <math.h>
#include <string.h>

/* Of the first level of caches, where results of the last instructions are at hand. */
enum { LOAD = 4, MULTIPLY = 3, FLOAT = 3, DIVIDE = 13 };

struct chain {
    double ready[ZYDIS_REGISTER_MAX_VALUE + 1]; /* per register, the widest */
    double last;
};

static ZydisRegister whole(ZydisRegister reg)
{
    ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return wide == ZYDIS_REGISTER_NONE ? reg : wide;
}

static bool ignored(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_RSP;
}

static double at(const struct chain *c, ZydisRegister reg)
{
    reg = whole(reg);
    return ignored(reg) ? 0 : c->ready[reg];
}

static double latency(const struct fp_insn *insn, const struct fp_decoded_insn *d)
{
    if (insn->flags & (FP_INSN_DIVIDES | FP_INSN_FLOAT_DIVIDES)) return DIVIDE;
    if (insn->flags & FP_INSN_MULTIPLIES) return MULTIPLY;
    if (insn->flags & FP_INSN_FLOATS) return FLOAT;
    bool copies = d->i.mnemonic == ZYDIS_MNEMONIC_MOV || d->i.mnemonic == ZYDIS_MNEMONIC_MOVAPS ||
                  d->i.mnemonic == ZYDIS_MNEMONIC_MOVZX || d->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    return copies ? 0 : 1;
}

static bool same_registers(const struct fp_decoded_insn *d)
{
    bool clears = d->i.mnemonic == ZYDIS_MNEMONIC_XOR || d->i.mnemonic == ZYDIS_MNEMONIC_SUB ||
                  d->i.mnemonic == ZYDIS_MNEMONIC_PXOR || d->i.mnemonic == ZYDIS_MNEMONIC_XORPS;
    return clears && d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           d->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && d->op[0].reg.value == d->op[1].reg.value;
}

/* When the inputs are there. */
static double start_of(const struct chain *c, const struct fp_insn *insn,
                       const struct fp_decoded_insn *d)
{
    double start = 0, address = 0;
    if (same_registers(d)) return 0;
    for (unsigned k = 0; k < d->i.operand_count; k++) {
        const ZydisDecodedOperand *op = &d->op[k];
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            address = fmax(address, fmax(at(c, op->mem.base), at(c, op->mem.index)));
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            start = fmax(start, at(c, op->reg.value));
    }
    return fmax(start, address + (insn->flags & FP_INSN_LOADS ? LOAD : 0));
}

static void follow(struct chain *c, const struct fp_insn *insn, const struct fp_decoded_insn *d)
{
    double end = start_of(c, insn, d) + latency(insn, d);
    for (unsigned k = 0; k < d->i.operand_count; k++) {
        const ZydisDecodedOperand *op = &d->op[k];
        if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        ZydisRegister reg = whole(op->reg.value);
        if (!ignored(reg)) c->ready[reg] = end;
    }
    if (end > c->last) c->last = end;
}

static void follow_block(struct chain *c, const struct fp_object *object,
                         const struct fp_machine_function *f, uint32_t block, double *waits)
{
    for (uint32_t i = 0; i < f->blocks[block].ninsns; i++) {
        uint32_t at = f->blocks[block].first_insn + i;
        const struct fp_insn *insn = &f->insns.at[at];
        struct fp_decoded_insn d;
        double before = c->last;
        bool leaves = insn->kind == FP_INSN_CALL || insn->kind == FP_INSN_RETURN;
        if (!leaves && fp_insn_decode_full(object, insn->address, &d)) follow(c, insn, &d);
        waits[at] = c->last - before;
    }
}

static bool is_loop(const struct fp_cfg *cfg, uint32_t block)
{
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        if (cfg->edges[e].dst == block) return true;
    return false;
}

double *fp_insn_waits(struct fp_arena *arena, const struct fp_object *object,
                      const struct fp_machine_function *f)
{
    enum { WARM = 3 };
    double *waits = FP_NEW_ARRAY(arena, double, f->insns.len);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        struct chain c = {.last = 0};
        for (int round = 0; round < (is_loop(f->cfg, b) ? WARM : 1); round++)
            follow_block(&c, object, f, b, waits);
    }
    return waits;
}
