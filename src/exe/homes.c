/* A home for the path register of every region: see counting.h. */
#include "exe/counting.h"

enum { RAX = 0, RSP = 4 };

struct choosing {
    struct fp_counting *c;
    uint32_t *taken; /* per region: registers that the program needs there */
    bool *used;      /* per region: some operation is about it */
};

static void take_insns(struct choosing *h, uint32_t region, uint32_t from, uint32_t end)
{
    const struct fp_liveness *l = &h->c->liveness;
    for (uint32_t i = from; i < end; i++) {
        h->taken[region] |= l->before[i] | l->after[i] | l->reads[i] | l->writes[i];
        if (h->c->m->insns.at[i].kind == FP_INSN_CALL) h->taken[region] |= FP_LIVE_GPRS;
    }
}

/* A set value lives from there to the end of the block, a read one from the block's start. */
static void take_around(struct choosing *h, uint32_t b, uint32_t insn)
{
    const struct fp_counting *c = h->c;
    uint32_t first = c->m->blocks[b].first_insn, end = first + c->m->blocks[b].ninsns;
    for (size_t i = 0; i < c->before[insn].len; i++) {
        const struct fp_placed_op *op = &c->before[insn].at[i];
        if (op->region == FP_NONE) continue;
        h->used[op->region] = true;
        h->taken[op->region] |= c->liveness.before[insn];
        if (op->op.kind != FP_OP_SET) take_insns(h, op->region, first, insn);
        if (op->op.kind != FP_OP_COUNT_REG) take_insns(h, op->region, insn, end);
    }
}

static void take_point(struct choosing *h, const fp_placed_ops *ops, uint32_t live)
{
    for (size_t i = 0; i < ops->len; i++) {
        if (ops->at[i].region == FP_NONE) continue;
        h->used[ops->at[i].region] = true;
        h->taken[ops->at[i].region] |= live;
    }
}

static void take_blocks(struct choosing *h)
{
    const struct fp_counting *c = h->c;
    for (uint32_t b = 0; b < c->m->cfg->nblocks; b++) {
        uint32_t first = c->m->blocks[b].first_insn, n = c->m->blocks[b].ninsns;
        for (uint32_t i = first; i < first + n; i++) take_around(h, b, i);
        if (!c->live[b]) continue;
        h->taken[c->region[b]] |= fp_liveness_at_block(&c->liveness, b);
        take_insns(h, c->region[b], first, first + n);
    }
}

static void take_edges(struct choosing *h)
{
    const struct fp_counting *c = h->c;
    for (uint32_t e = 0; e < c->m->cfg->nedges; e++) {
        uint32_t live = fp_liveness_at_block(&c->liveness, c->m->cfg->edges[e].dst);
        take_point(h, &c->between[e], live);
        take_point(h, &c->apart[e], live);
    }
    take_point(h, &c->entry, fp_liveness_at_block(&c->liveness, 0));
    for (uint32_t e = 0; e < c->m->cfg->nedges; e++) {
        if (c->move[e] == FP_STAND_NONE) continue;
        h->used[c->region[c->m->cfg->edges[e].src]] = true;
        h->used[c->region[c->m->cfg->edges[e].dst]] = true;
    }
}

/* rax is left for saving flags. */
static uint8_t choose(uint32_t taken)
{
    uint32_t left = ~taken & FP_LIVE_GPRS & ~(1u << RAX | 1u << RSP);
    return left ? (uint8_t)__builtin_ctz(left) : FP_HOME_SLOT;
}

void fp_counting_choose_homes(struct fp_counting *c)
{
    uint32_t n = c->m->cfg->nblocks;
    struct choosing h = {.c = c,
                         .taken = FP_NEW_ARRAY(c->arena, uint32_t, n),
                         .used = FP_NEW_ARRAY(c->arena, bool, n)};
    c->home = FP_NEW_ARRAY(c->arena, uint8_t, n);
    take_blocks(&h);
    take_edges(&h);
    for (uint32_t b = 0; b < n; b++) c->home[b] = h.used[b] ? choose(h.taken[b]) : FP_HOME_NONE;
    fp_counting_settle_homes(c, h.taken);
    for (uint32_t b = 0; b < n; b++) c->uses_slot |= c->home[b] == FP_HOME_SLOT;
}
