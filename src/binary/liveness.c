/* Liveness of registers and flags: see liveness.h. */
#include "binary/liveness.h"

#include "binary/insnregs.h"

enum {
    EVERYTHING = FP_LIVE_GPRS | FP_LIVE_FLAGS,
    RSP = 1 << 4,
    RESULTS = 1 << 0 | 1 << 2, /* rax, rdx */
    CALLER_SAVED = 0x0fc7,
};

struct live_work {
    struct fp_liveness *l;
    const struct fp_machine_function *f;
    uint32_t *kills;    /* per instruction */
    uint32_t at_return; /* what is live there */
};

/* ---- single instructions ---- */

/* A register that is pushed may be saved for the caller, whatever the convention says. */
static uint32_t pushed(const struct fp_decoded_insn *d)
{
    if (d->i.mnemonic != ZYDIS_MNEMONIC_PUSH || d->op[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    int gpr = fp_insn_gpr(d->op[0].reg.value);
    return gpr < 0 ? 0 : (uint32_t)1 << gpr;
}

static void read_insns(struct live_work *w, const struct fp_object *object)
{
    uint32_t written = 0, saved = 0;
    for (size_t i = 0; i < w->f->insns.len; i++) {
        const struct fp_insn *insn = &w->f->insns.at[i];
        struct fp_decoded_insn d;
        w->l->before[i] = w->l->after[i] = w->l->reads[i] = EVERYTHING;
        if (insn->block == FP_NONE || !fp_insn_decode_full(object, insn->address, &d)) continue;
        struct fp_insn_regs regs = fp_insn_registers(&d);
        if (insn->kind == FP_INSN_CALL)
            regs = (struct fp_insn_regs){FP_LIVE_GPRS, FP_LIVE_FLAGS, FP_LIVE_FLAGS};
        else
            written |= regs.writes & FP_LIVE_GPRS;
        saved |= pushed(&d);
        w->l->reads[i] = regs.reads;
        w->l->writes[i] = regs.writes;
        w->kills[i] = regs.kills;
    }
    w->at_return = FP_LIVE_GPRS & ~(CALLER_SAVED & written & ~saved & ~(uint32_t)RESULTS);
}

/* ---- blocks ---- */

/* Live where a block ends, before its out-edges are asked: what control needs that leaves here. */
static uint32_t leaving(const struct live_work *w, uint32_t block)
{
    const struct fp_machine_block *b = &w->f->blocks[block];
    bool no_way = fp_cfg_out_degree(w->f->cfg, block) == 0;
    if (!b->ninsns) return no_way ? FP_LIVE_GPRS : 0; /* the tail */
    switch ((enum fp_insn_kind)w->f->insns.at[b->first_insn + b->ninsns - 1].kind) {
    case FP_INSN_RETURN: return w->at_return;
    case FP_INSN_STOP: return EVERYTHING;
    case FP_INSN_CALL:
    case FP_INSN_JUMP:
    case FP_INSN_JUMP_INDIRECT: return no_way ? FP_LIVE_GPRS : 0;
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_SKIP:
    case FP_INSN_BRANCH: break;
    }
    return no_way ? EVERYTHING : 0;
}

static uint32_t live_in(struct live_work *w, uint32_t block)
{
    const struct fp_cfg *cfg = w->f->cfg;
    const struct fp_machine_block *b = &w->f->blocks[block];
    uint32_t live = leaving(w, block);
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        live |= w->l->in[cfg->edges[e].dst];
    /* the unwinder writes registers from what it finds in frames: nothing is dead for it */
    if (cfg->flags[block] & FP_BLOCK_PAD) live |= FP_LIVE_GPRS;
    for (uint32_t i = b->first_insn + b->ninsns; i-- > b->first_insn;) {
        w->l->after[i] = live | RSP;
        live = (live & ~w->kills[i]) | w->l->reads[i] | RSP;
        w->l->before[i] = live;
    }
    return live | RSP;
}

void fp_liveness_make(struct fp_liveness *l, const struct fp_machine *machine,
                      const struct fp_machine_function *f)
{
    *l = (struct fp_liveness){.function = f};
    struct live_work w = {.l = l, .f = f};
    size_t n = f->insns.len;
    l->before = FP_NEW_ARRAY(&l->scratch, uint32_t, n);
    l->after = FP_NEW_ARRAY(&l->scratch, uint32_t, n);
    l->reads = FP_NEW_ARRAY(&l->scratch, uint32_t, n);
    l->writes = FP_NEW_ARRAY(&l->scratch, uint32_t, n);
    l->in = FP_NEW_ARRAY(&l->scratch, uint32_t, f->cfg->nblocks);
    w.kills = FP_NEW_ARRAY(&l->scratch, uint32_t, n);
    read_insns(&w, machine->object);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = f->cfg->nblocks; b-- > 0;) {
            uint32_t live = live_in(&w, b);
            again |= live != l->in[b];
            l->in[b] = live;
        }
    }
}

void fp_liveness_free(struct fp_liveness *l)
{
    fp_arena_free(&l->scratch);
}

uint32_t fp_liveness_at_block(const struct fp_liveness *l, uint32_t block)
{
    return l->in[block];
}

uint32_t fp_liveness_unused(const struct fp_liveness *l, const uint32_t *blocks, size_t nblocks)
{
    const struct fp_machine_function *f = l->function;
    uint32_t used = RSP;
    for (size_t k = 0; k < nblocks; k++) {
        const struct fp_machine_block *b = &f->blocks[blocks[k]];
        used |= l->in[blocks[k]];
        for (uint32_t i = b->first_insn; i < b->first_insn + b->ninsns; i++)
            used |= l->before[i] | l->after[i] | l->reads[i] | l->writes[i];
    }
    return ~used & FP_LIVE_GPRS;
}
