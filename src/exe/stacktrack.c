/* Stack and frame pointer by what instructions do: see stacktrack.h. */
#include "exe/stacktrack.h"

#include <Zydis/Zydis.h>

enum { RSP = 4, RBP = 5 };

struct tracking {
    const struct fp_machine *machine;
    const struct fp_machine_function *f;
    const struct fp_liveness *liveness;
    struct fp_stack *stack;
    struct fp_stack_place *in; /* per block */
    bool *reached;             /* per block */
    ZydisDecoder decoder;
};

/* ---- one instruction ---- */

struct operands {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister reg)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

static void set_known(struct fp_stack_place *p, bool rbp, bool known, int64_t value)
{
    if (rbp)
        p->rbp_known = known, p->rbp = known ? value : 0;
    else
        p->rsp_known = known, p->rsp = known ? value : 0;
}

/* lea disp(%rsp or %rbp), %rsp or %rbp */
static bool follow_lea(const struct operands *o, struct fp_stack_place *p)
{
    const ZydisDecodedOperand *mem = &o->op[1];
    bool to_rbp = is_register(&o->op[0], ZYDIS_REGISTER_RBP);
    if (!to_rbp && !is_register(&o->op[0], ZYDIS_REGISTER_RSP)) return false;
    if (mem->type != ZYDIS_OPERAND_TYPE_MEMORY || mem->mem.index != ZYDIS_REGISTER_NONE)
        return false;
    bool from_rbp = mem->mem.base == ZYDIS_REGISTER_RBP;
    if (!from_rbp && mem->mem.base != ZYDIS_REGISTER_RSP) return false;
    bool known = from_rbp ? p->rbp_known : p->rsp_known;
    set_known(p, to_rbp, known, (from_rbp ? p->rbp : p->rsp) - mem->mem.disp.value);
    return true;
}

static bool follow_mov(const struct operands *o, struct fp_stack_place *p)
{
    if (is_register(&o->op[0], ZYDIS_REGISTER_RBP) && is_register(&o->op[1], ZYDIS_REGISTER_RSP)) {
        set_known(p, true, p->rsp_known, p->rsp);
        return true;
    }
    if (is_register(&o->op[0], ZYDIS_REGISTER_RSP) && is_register(&o->op[1], ZYDIS_REGISTER_RBP)) {
        set_known(p, false, p->rbp_known, p->rbp);
        return true;
    }
    return false;
}

static bool follow_sum(const struct operands *o, struct fp_stack_place *p)
{
    bool rbp = is_register(&o->op[0], ZYDIS_REGISTER_RBP);
    if (!rbp && !is_register(&o->op[0], ZYDIS_REGISTER_RSP)) return false;
    if (o->op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
    int64_t by = o->op[1].imm.value.s;
    if (o->i.mnemonic == ZYDIS_MNEMONIC_ADD) by = -by;
    set_known(p, rbp, rbp ? p->rbp_known : p->rsp_known, (rbp ? p->rbp : p->rsp) + by);
    return true;
}

static bool follow_push(const struct operands *o, struct fp_stack_place *p)
{
    set_known(p, false, p->rsp_known, p->rsp + o->i.operand_width / 8);
    return true;
}

static bool follow_pop(const struct operands *o, struct fp_stack_place *p)
{
    if (is_register(&o->op[0], ZYDIS_REGISTER_RSP)) return false;
    set_known(p, false, p->rsp_known, p->rsp - o->i.operand_width / 8);
    if (is_register(&o->op[0], ZYDIS_REGISTER_RBP)) set_known(p, true, false, 0);
    return true;
}

static bool follow_leave(struct fp_stack_place *p)
{
    set_known(p, false, p->rbp_known, p->rbp - 8);
    set_known(p, true, false, 0);
    return true;
}

static bool follow_known(const struct operands *o, struct fp_stack_place *p)
{
    switch ((int)o->i.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ: return follow_push(o, p);
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPFQ: return follow_pop(o, p);
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD: return follow_sum(o, p);
    case ZYDIS_MNEMONIC_LEA: return follow_lea(o, p);
    case ZYDIS_MNEMONIC_MOV: return follow_mov(o, p);
    case ZYDIS_MNEMONIC_LEAVE: return follow_leave(p);
    default: return false;
    }
}

static void follow(struct tracking *t, uint32_t insn, struct fp_stack_place *p)
{
    const struct fp_insn *n = &t->f->insns.at[insn];
    uint32_t writes = t->liveness->writes[insn] & (1u << RSP | 1u << RBP);
    struct operands o;
    size_t len;
    if (n->kind == FP_INSN_CALL || !writes) return; /* a call leaves rsp as it was */
    const unsigned char *bytes = fp_object_bytes(t->machine->object, n->address, &len);
    bool decoded =
        bytes && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&t->decoder, bytes, len, &o.i, o.op));
    if (decoded && follow_known(&o, p)) return;
    if (writes & 1u << RSP) set_known(p, false, false, 0);
    if (writes & 1u << RBP) set_known(p, true, false, 0);
}

/* ---- blocks ---- */

static bool meet(struct fp_stack_place *into, const struct fp_stack_place *from)
{
    struct fp_stack_place old = *into;
    if (into->rsp_known && (!from->rsp_known || from->rsp != into->rsp))
        set_known(into, false, false, 0);
    if (into->rbp_known && (!from->rbp_known || from->rbp != into->rbp))
        set_known(into, true, false, 0);
    return old.rsp_known != into->rsp_known || old.rbp_known != into->rbp_known;
}

static bool arrive(struct tracking *t, uint32_t block, const struct fp_stack_place *p)
{
    if (t->reached[block]) return meet(&t->in[block], p);
    t->reached[block] = true;
    t->in[block] = *p;
    return true;
}

static bool follow_block(struct tracking *t, uint32_t b)
{
    const struct fp_cfg *cfg = t->f->cfg;
    const struct fp_machine_block *block = &t->f->blocks[b];
    struct fp_stack_place p = t->in[b];
    bool changed = false;
    for (uint32_t i = block->first_insn; i < block->first_insn + block->ninsns; i++) {
        t->stack->before[i] = p;
        t->stack->seen[i] = true;
        follow(t, i, &p);
    }
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        changed |= arrive(t, cfg->edges[e].dst, &p);
    return changed;
}

void fp_stack_track(struct fp_arena *arena, const struct fp_machine *machine,
                    const struct fp_machine_function *f, const struct fp_frames *frames,
                    const struct fp_liveness *liveness, struct fp_stack *stack)
{
    struct tracking t = {.machine = machine,
                         .f = f,
                         .liveness = liveness,
                         .stack = stack,
                         .in = FP_NEW_ARRAY(arena, struct fp_stack_place, f->cfg->nblocks),
                         .reached = FP_NEW_ARRAY(arena, bool, f->cfg->nblocks)};
    ZydisDecoderInit(&t.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    *stack = (struct fp_stack){.function = f,
                               .frames = frames,
                               .before = FP_NEW_ARRAY(arena, struct fp_stack_place, f->insns.len),
                               .seen = FP_NEW_ARRAY(arena, bool, f->insns.len)};
    arrive(&t, 0, &(struct fp_stack_place){.rsp_known = true, .rsp = 8});
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            if (t.reached[b]) again |= follow_block(&t, b);
    }
}

/* ---- against the tables ---- */

bool fp_stack_cfa(const struct fp_stack *s, uint32_t insn, uint8_t *base, int64_t *offset)
{
    uint64_t address = s->function->insns.at[insn].address;
    const struct fp_fde *fde = fp_frames_find(s->frames, address);
    const struct fp_stack_place *p = &s->before[insn];
    struct fp_frame_row row;
    if (!s->seen[insn] || !fde || !fp_frames_row(s->frames, fde, address, &row) ||
        row.cfa_is_expression)
        return false;
    if (row.cfa_register == FP_FRAME_RSP && p->rsp_known && p->rsp == row.cfa_offset)
        *base = RSP;
    else if (row.cfa_register == FP_FRAME_RBP && p->rbp_known && p->rbp == row.cfa_offset)
        *base = RBP;
    else
        return false;
    *offset = row.cfa_offset;
    return true;
}
