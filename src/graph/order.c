/* Depth-first search: back edges and a topological order (paper 001, section
 * "arbitrary control flow", extended to edges that can carry no code). */
#include "graph/order.h"

#include "base/bitset.h"
#include "base/vec.h"

#include <string.h>

enum colour { WHITE, GREY, BLACK };

struct order_frame {
    uint32_t block, next_edge;
};

struct order_search {
    const struct fp_cfg *cfg;
    struct fp_bitset removed; /* edges the search does not follow */
    struct fp_bitset closing; /* edges found to close a cycle */
    uint8_t *colour;
    struct order_frame *stack;
    uint32_t *roots; /* the entry and the targets of removed edges, in order found */
    uint32_t nroots;
    uint32_t *postorder;
    uint32_t npost;
};

static bool always_removed(enum fp_edge_kind kind)
{
    return kind == FP_EDGE_INDIRECT || kind == FP_EDGE_TWICE;
}

static void add_root(struct order_search *s, uint32_t block)
{
    s->roots[s->nroots++] = block;
}

static void search_from(struct order_search *s, uint32_t root)
{
    const struct fp_cfg *cfg = s->cfg;
    if (s->colour[root] != WHITE) return;
    uint32_t depth = 0;
    s->stack[depth++] = (struct order_frame){root, cfg->first_out[root]};
    s->colour[root] = GREY;
    while (depth) {
        struct order_frame *top = &s->stack[depth - 1];
        if (top->next_edge == cfg->first_out[top->block + 1]) {
            s->colour[top->block] = BLACK;
            s->postorder[s->npost++] = top->block;
            depth--;
            continue;
        }
        uint32_t e = top->next_edge++, to = cfg->edges[e].dst;
        if (fp_bitset_has(&s->removed, e)) {
            add_root(s, to);
        } else if (s->colour[to] == WHITE) {
            s->colour[to] = GREY;
            s->stack[depth++] = (struct order_frame){to, cfg->first_out[to]};
        } else if (s->colour[to] == GREY) {
            fp_bitset_add(&s->closing, e);
        }
    }
}

/* One search over everything reachable. Returns whether it can stand: no
 * unwind edge closes a cycle. Otherwise the out-edges of the pads concerned
 * are removed, for another search. */
static bool search_all(struct order_search *s)
{
    const struct fp_cfg *cfg = s->cfg;
    memset(s->colour, WHITE, cfg->nblocks);
    memset(s->closing.words, 0, (cfg->nedges / 64 + 1) * sizeof(uint64_t));
    s->npost = s->nroots = 0;
    add_root(s, 0);
    for (uint32_t i = 0; i < s->nroots; i++) search_from(s, s->roots[i]);
    bool stands = true;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (fp_bitset_has(&s->closing, e) && cfg->edges[e].kind == FP_EDGE_UNWIND) {
            fp_bitset_add(&s->removed, cfg->first_out[cfg->edges[e].dst]);
            stands = false;
        }
    return stands;
}

static void read_result(const struct order_search *s, struct fp_order *order)
{
    const struct fp_cfg *cfg = s->cfg;
    order->nblocks = s->npost;
    for (uint32_t b = 0; b < cfg->nblocks; b++) order->position[b] = FP_NONE;
    for (uint32_t i = 0; i < s->npost; i++) {
        uint32_t block = s->postorder[s->npost - 1 - i];
        order->blocks[i] = block;
        order->position[block] = i;
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        enum fp_fate fate = FP_FATE_KEPT;
        if (fp_bitset_has(&s->removed, e) || fp_bitset_has(&s->closing, e))
            fate = FP_FATE_TRUNCATED;
        if (order->position[cfg->edges[e].src] == FP_NONE) fate = FP_FATE_DEAD;
        order->fate[e] = (uint8_t)fate;
    }
}

void fp_order_make(struct fp_arena *arena, const struct fp_cfg *cfg, struct fp_order *order)
{
    struct fp_arena scratch = {0};
    struct order_search s = {
        .cfg = cfg,
        .removed = fp_bitset_new(&scratch, cfg->nedges),
        .closing = fp_bitset_new(&scratch, cfg->nedges),
        .colour = FP_NEW_ARRAY(&scratch, uint8_t, cfg->nblocks),
        .stack = FP_NEW_ARRAY(&scratch, struct order_frame, cfg->nblocks),
        .roots = FP_NEW_ARRAY(&scratch, uint32_t, (size_t)cfg->nedges + 1),
        .postorder = FP_NEW_ARRAY(&scratch, uint32_t, cfg->nblocks),
    };
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (always_removed(cfg->edges[e].kind)) fp_bitset_add(&s.removed, e);
    while (!search_all(&s)) {
    }
    order->blocks = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    order->position = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    order->fate = FP_NEW_ARRAY(arena, uint8_t, cfg->nedges);
    read_result(&s, order);
    fp_arena_free(&scratch);
}

static void mark_reachable(const struct fp_cfg *cfg, uint32_t *stack, uint32_t *position)
{
    uint32_t depth = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++) position[b] = FP_NONE;
    position[0] = 0;
    stack[depth++] = 0;
    while (depth) {
        uint32_t block = stack[--depth];
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            uint32_t to = cfg->edges[e].dst;
            if (position[to] != FP_NONE) continue;
            position[to] = 0;
            stack[depth++] = to;
        }
    }
}

static bool fate_allowed(enum fp_edge_kind kind, uint8_t fate)
{
    if (fate == FP_FATE_LAP) return kind <= FP_EDGE_SWITCH;
    if (kind == FP_EDGE_UNWIND) return fate == FP_FATE_KEPT;
    if (always_removed(kind)) return fate == FP_FATE_TRUNCATED;
    return fate == FP_FATE_KEPT || fate == FP_FATE_TRUNCATED;
}

/* Takes blocks whose kept in-edges have all been followed; a cycle is never
 * taken. */
static void take_in_order(const struct fp_cfg *cfg, uint32_t *waiting, struct fp_order *order)
{
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (order->fate[e] == FP_FATE_KEPT) waiting[cfg->edges[e].dst]++;
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (order->position[b] != FP_NONE && !waiting[b]) order->blocks[order->nblocks++] = b;
    for (uint32_t i = 0; i < order->nblocks; i++) {
        uint32_t block = order->blocks[i];
        order->position[block] = i;
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
            if (order->fate[e] == FP_FATE_KEPT && --waiting[cfg->edges[e].dst] == 0)
                order->blocks[order->nblocks++] = cfg->edges[e].dst;
    }
}

bool fp_order_from_fates(struct fp_arena *arena, const struct fp_cfg *cfg, const uint8_t *fates,
                         struct fp_order *order)
{
    struct fp_arena scratch = {0};
    order->blocks = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    order->position = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    order->fate = FP_NEW_ARRAY(arena, uint8_t, cfg->nedges);
    order->nblocks = 0;
    mark_reachable(cfg, FP_NEW_ARRAY(&scratch, uint32_t, cfg->nblocks), order->position);
    bool ok = true;
    uint32_t reachable = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++) reachable += order->position[b] != FP_NONE;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        bool dead = order->position[cfg->edges[e].src] == FP_NONE;
        order->fate[e] = dead ? FP_FATE_DEAD : fates[e];
        if (!dead && !fate_allowed(cfg->edges[e].kind, fates[e])) ok = false;
    }
    if (ok) {
        take_in_order(cfg, FP_NEW_ARRAY(&scratch, uint32_t, cfg->nblocks), order);
        ok = order->nblocks == reachable;
    }
    fp_arena_free(&scratch);
    return ok;
}
