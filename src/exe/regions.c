/* Regions of the path register, and moves between them: see counting.h.
 *
 * A region with a call has the slot for its home. A loop without calls in such a function should
 * not pay for that. So blocks are joined to regions along the hottest edges first, and only while a
 * register is left that is free in all of them. On the other edges the value moves:
 *
 *     slot --- load ---> loop, in a register --- store ---> slot
 *
 * No code can stand on some edges; they always join their blocks.
 */
#include "exe/counting.h"
#include "graph/weights.h"

#include <stdlib.h>

enum { RAX = 0, RSP = 4 };

/* ---- joining blocks ---- */

/* Registers in which something else can live all through the block. */
static uint32_t free_in(const struct fp_counting *c, uint32_t b)
{
    const struct fp_liveness *l = &c->liveness;
    uint32_t taken = fp_liveness_at_block(l, b) | 1u << RAX | 1u << RSP;
    uint32_t first = c->m->blocks[b].first_insn, end = first + c->m->blocks[b].ninsns;
    for (uint32_t i = first; i < end; i++) {
        taken |= l->before[i] | l->after[i] | l->reads[i] | l->writes[i];
        if (c->m->insns.at[i].kind == FP_INSN_CALL) taken |= FP_LIVE_GPRS;
    }
    return ~taken & FP_LIVE_GPRS;
}

static uint32_t root(uint32_t *up, uint32_t b)
{
    while (up[b] != b) b = up[b] = up[up[b]];
    return b;
}

struct joint {
    double weight;
    uint32_t edge;
};

/* Hottest first; else as in the code, so that files are the same each time. */
static int by_weight(const void *a, const void *b)
{
    const struct joint *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static void join(struct fp_counting *c, uint32_t *left, uint32_t e, bool always)
{
    uint32_t a = root(c->region, c->m->cfg->edges[e].src);
    uint32_t b = root(c->region, c->m->cfg->edges[e].dst);
    if (a == b || (!always && !(left[a] & left[b]) && (left[a] || left[b]))) return;
    left[b] &= left[a];
    c->region[a] = b;
}

void fp_counting_find_regions(struct fp_counting *c, const bool *carried, const bool *can_move)
{
    const struct fp_cfg *cfg = c->m->cfg;
    uint32_t *left = FP_NEW_ARRAY(c->arena, uint32_t, cfg->nblocks);
    struct joint *joints = FP_NEW_ARRAY(c->arena, struct joint, cfg->nedges);
    size_t n = 0;
    c->region = FP_NEW_ARRAY(c->arena, uint32_t, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        c->region[b] = b;
        left[b] = free_in(c, b);
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (carried[e] && can_move[e])
            joints[n++] = (struct joint){c->weights[e], e};
        else if (carried[e])
            join(c, left, e, true);
    }
    if (n) qsort(joints, n, sizeof *joints, by_weight);
    for (size_t i = 0; i < n; i++) join(c, left, joints[i].edge, false);
    for (uint32_t b = 0; b < cfg->nblocks; b++) c->region[b] = root(c->region, b);
}

/* ---- is a register worth its moves? ---- */

static void add_gain(const struct fp_counting *c, const fp_placed_ops *ops, double weight,
                     double *gain)
{
    (void)c;
    for (size_t i = 0; i < ops->len; i++)
        if (ops->at[i].op.kind == FP_OP_SET || ops->at[i].op.kind == FP_OP_COUNT_REG)
            gain[ops->at[i].region] += weight;
}

/* Per region: instructions that a register saves. */
static double *find_gains(const struct fp_counting *c)
{
    const struct fp_cfg *cfg = c->m->cfg;
    double *gain = FP_NEW_ARRAY(c->arena, double, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint32_t first = c->m->blocks[b].first_insn, n = c->m->blocks[b].ninsns;
        double weight = fp_weight_of_block(cfg, c->weights, b);
        for (uint32_t i = first; i < first + n; i++) add_gain(c, &c->before[i], weight, gain);
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        add_gain(c, &c->between[e], c->weights[e], gain);
        add_gain(c, &c->apart[e], c->weights[e], gain);
    }
    add_gain(c, &c->entry, 1, gain);
    return gain;
}

static double cost_of_move(const struct fp_counting *c, uint32_t e)
{
    bool jumps = c->move[e] == FP_STAND_APART && !c->apart[e].len;
    return c->weights[e] * (jumps ? 2 : 1);
}

/* Regions that a move joins get one register where both can. The hottest such edge decides: one
 * look at each region suffices. */
static void agree(struct fp_counting *c, const uint32_t *taken)
{
    const struct fp_cfg *cfg = c->m->cfg;
    bool *fixed = FP_NEW_ARRAY(c->arena, bool, cfg->nblocks);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t a = c->region[cfg->edges[e].src], b = c->region[cfg->edges[e].dst];
        if (c->move[e] == FP_STAND_NONE || c->home[a] >= FP_HOME_SLOT ||
            c->home[b] >= FP_HOME_SLOT || fixed[b])
            continue;
        if (!(taken[b] >> c->home[a] & 1)) c->home[b] = c->home[a];
        fixed[a] = fixed[b] = true;
    }
}

void fp_counting_settle_homes(struct fp_counting *c, const uint32_t *taken)
{
    const struct fp_cfg *cfg = c->m->cfg;
    double *gain = find_gains(c), *cost = FP_NEW_ARRAY(c->arena, double, cfg->nblocks);
    agree(c, taken);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < cfg->nblocks; b++) cost[b] = 0;
        for (uint32_t e = 0; e < cfg->nedges; e++) {
            uint32_t a = c->region[cfg->edges[e].src], b = c->region[cfg->edges[e].dst];
            if (c->move[e] == FP_STAND_NONE || c->home[a] == c->home[b]) continue;
            cost[a] += cost_of_move(c, e);
            cost[b] += cost_of_move(c, e);
        }
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            if (c->home[b] >= FP_HOME_SLOT || cost[b] == 0 || cost[b] < gain[b]) continue;
            c->home[b] = FP_HOME_SLOT;
            again = true;
        }
    }
}
