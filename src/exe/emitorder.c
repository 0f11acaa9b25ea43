/* The order of blocks in new code: see emitorder.h. */
#include "exe/emitorder.h"

#include "exe/copiedcode.h"
#include "exe/piece.h"
#include "graph/blockcopies.h"
#include "graph/tree.h"
#include "graph/weights.h"

#include <stdlib.h>

bool fp_emit_is_in_range(const struct fp_counting *c, uint32_t insn, uint32_t range)
{
    const struct fp_code_range *r = &c->m->ranges.at[range];
    return fp_copied_insn(c, insn) - r->first_insn < r->ninsns;
}

bool fp_emit_moves(const struct fp_counting *c, uint32_t e)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    return c->move[e] != FP_STAND_NONE &&
           c->home[c->region[edge->src]] != c->home[c->region[edge->dst]];
}

bool fp_emit_is_apart(const struct fp_counting *c, uint32_t e)
{
    return c->apart[e].len || (c->move[e] == FP_STAND_APART && fp_emit_moves(c, e));
}

bool fp_emit_can_turn(const struct fp_counting *c, uint32_t b)
{
    const struct fp_insn *last = &c->m->insns.at[fp_counting_last(c->m, b)];
    uint32_t jump = fp_counting_jumps(c->m, b), fall = fp_counting_falls(c->m, b);
    if (!c->copied || last->kind != FP_INSN_BRANCH || jump == FP_NONE || fall == FP_NONE ||
        jump == fall || fp_emit_is_apart(c, jump))
        return false;
    return !c->between[fall].len &&
           !(c->move[fall] == FP_STAND_BETWEEN && fp_emit_moves(c, fall)) &&
           fp_counting_has_code(c->m, c->m->cfg->edges[fall].dst) &&
           fp_pieces_can_turn(c->machine->object, last);
}

/* ---- chains ---- */

struct link {
    double gain;   /* jumps that are not executed */
    double weight; /* of two that gain alike the hotter one is taken */
    uint32_t edge;
};

struct chaining {
    struct fp_arena *scratch;
    const struct fp_counting *c;
    uint32_t range;
    uint32_t *next, *before; /* per block */
    struct fp_union_find chain;
    FP_VEC(struct link) links;
};

static bool is_here(const struct chaining *x, uint32_t b)
{
    return fp_counting_has_code(x->c->m, b) &&
           fp_emit_is_in_range(x->c, x->c->m->blocks[b].first_insn, x->range);
}

static void join(struct chaining *x, uint32_t a, uint32_t b)
{
    if (x->next[a] != FP_NONE || x->before[b] != FP_NONE || b == 0) return;
    if (!fp_union_find_join(&x->chain, a, b)) return;
    x->next[a] = b;
    x->before[b] = a;
}

static void add_link(struct chaining *x, uint32_t e, double gain)
{
    if (is_here(x, x->c->m->cfg->edges[e].dst))
        fp_vec_push(x->scratch, &x->links, (struct link){gain, x->c->weights[e], e});
}

/* Behind a branch either way may follow; if neither does, a jump is executed on one of them. */
static void add_links(struct chaining *x, uint32_t b)
{
    const struct fp_counting *c = x->c;
    uint32_t fall = fp_counting_falls(c->m, b), jump = fp_counting_jumps(c->m, b);
    bool turns = fp_emit_can_turn(c, b);
    if (c->m->insns.at[fp_counting_last(c->m, b)].kind == FP_INSN_JUMP) {
        if (jump != FP_NONE && !fp_emit_is_apart(c, jump)) add_link(x, jump, c->weights[jump]);
        return;
    }
    if (fall == FP_NONE) return;
    double gain = c->weights[fall];
    if (turns && c->weights[jump] < gain) gain = c->weights[jump];
    add_link(x, fall, gain);
    if (turns) add_link(x, jump, gain);
}

static int most_first(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->gain != y->gain) return x->gain < y->gain ? 1 : -1;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static void make_chains(struct chaining *x)
{
    const struct fp_machine_function *m = x->c->m;
    uint32_t nold = x->c->copied->old->cfg->nblocks;
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) {
        if (!is_here(x, b)) continue;
        uint32_t fall = fp_counting_falls(m, b);
        bool stays = fall != FP_NONE && b < nold && m->cfg->edges[fall].dst < nold;
        if (stays && is_here(x, m->cfg->edges[fall].dst)) join(x, b, m->cfg->edges[fall].dst);
    }
    for (uint32_t b = 0; b < m->cfg->nblocks; b++)
        if (is_here(x, b)) add_links(x, b);
    if (x->links.len) qsort(x->links.at, x->links.len, sizeof *x->links.at, most_first);
    for (size_t i = 0; i < x->links.len; i++) {
        const struct fp_edge *edge = &m->cfg->edges[x->links.at[i].edge];
        join(x, edge->src, edge->dst);
    }
}

/* ---- chains in order ---- */

struct ordered {
    double heat;
    uint32_t chain; /* its first block */
    uint32_t old;   /* the first instruction of an old block in it, or FP_NONE */
};

static int in_order(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->old != y->old) return x->old < y->old ? -1 : 1;
    if (x->heat != y->heat) return x->heat < y->heat ? 1 : -1;
    return x->chain < y->chain ? -1 : x->chain > y->chain;
}

static struct ordered look_at(const struct chaining *x, uint32_t first)
{
    struct ordered one = {.chain = first, .old = FP_NONE};
    for (uint32_t b = first; b != FP_NONE; b = x->next[b]) {
        double weight = fp_weight_of_block(x->c->m->cfg, x->c->weights, b);
        uint32_t insn = x->c->m->blocks[b].first_insn;
        if (weight > one.heat) one.heat = weight;
        if (b < x->c->copied->old->cfg->nblocks && insn < one.old) one.old = insn;
    }
    return one;
}

static uint32_t order_with_copies(const struct fp_counting *c, uint32_t range, uint32_t *order)
{
    uint32_t n = c->m->cfg->nblocks, nchains = 0, count = 0;
    struct fp_arena scratch = {0};
    struct chaining x = {.scratch = &scratch,
                         .c = c,
                         .range = range,
                         .next = FP_NEW_ARRAY(&scratch, uint32_t, n),
                         .before = FP_NEW_ARRAY(&scratch, uint32_t, n),
                         .chain = fp_union_find_new(&scratch, n)};
    struct ordered *chains = FP_NEW_ARRAY(&scratch, struct ordered, n);

    for (uint32_t b = 0; b < n; b++) x.next[b] = x.before[b] = FP_NONE;
    make_chains(&x);
    for (uint32_t b = 0; b < n; b++)
        if (is_here(&x, b) && x.before[b] == FP_NONE) chains[nchains++] = look_at(&x, b);
    if (nchains) qsort(chains, nchains, sizeof *chains, in_order);
    for (uint32_t i = 0; i < nchains; i++)
        for (uint32_t b = chains[i].chain; b != FP_NONE; b = x.next[b]) order[count++] = b;
    fp_arena_free(&scratch);
    return count;
}

uint32_t fp_emit_order(struct fp_arena *arena, const struct fp_counting *c, uint32_t range,
                       uint32_t **blocks)
{
    const struct fp_code_range *r = &c->m->ranges.at[range];
    uint32_t *order = FP_NEW_ARRAY(arena, uint32_t, c->m->cfg->nblocks), n = 0;
    *blocks = order;
    if (c->copied) return order_with_copies(c, range, order);
    for (uint32_t i = r->first_insn; i < r->first_insn + r->ninsns; i++) {
        uint32_t b = c->m->insns.at[i].block;
        if (b != FP_NONE && (!n || order[n - 1] != b)) order[n++] = b;
    }
    return n;
}
