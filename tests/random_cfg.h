/* Random control-flow graphs, and random walks through them, recorded step by step
 * without the code under test. All from `rng`, which the test seeds. */
#ifndef FP_TESTS_RANDOM_CFG_H
#define FP_TESTS_RANDOM_CFG_H

#include "base/vec.h"
#include "graph/cfg.h"

#include "random.h"

static uint64_t rng;

/* ---- making graphs ---- */

struct making {
    struct fp_arena *arena;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(uint8_t) flags;
    uint32_t nplain; /* blocks that ordinary edges may lead to */
};

static uint32_t new_block(struct making *m, uint8_t flags)
{
    fp_vec_push(m->arena, &m->flags, flags);
    return (uint32_t)m->flags.len - 1;
}

static void new_edge(struct making *m, uint32_t src, uint32_t dst, enum fp_edge_kind kind)
{
    struct fp_edge edge = {src, dst, kind};
    fp_vec_push(m->arena, &m->edges, edge);
}

/* Mostly forward, so that graphs have depth; sometimes anywhere. */
static uint32_t some_target(struct making *m, uint32_t from)
{
    if (from + 1 < m->nplain && random_chance(&rng, 65))
        return from + 1 + random_below(&rng, m->nplain - from - 1 > 3 ? 3 : m->nplain - from - 1);
    return random_below(&rng, m->nplain);
}

static struct fp_cfg *random_cfg(struct fp_arena *arena)
{
    struct making m = {.arena = arena};
    uint32_t n = 1 + random_below(&rng, random_chance(&rng, 10) ? 30 : 12);
    m.nplain = n;
    for (uint32_t b = 0; b < n; b++) new_block(&m, random_chance(&rng, 20) ? FP_BLOCK_LEAVES : 0);
    uint32_t pads[2], npads = random_chance(&rng, 30) ? 1 + random_below(&rng, 2) : 0;
    for (uint32_t i = 0; i < npads; i++) {
        pads[i] = new_block(&m, FP_BLOCK_PAD);
        new_edge(&m, pads[i], random_below(&rng, n), FP_EDGE_NORMAL);
    }
    uint32_t hub = FP_NONE;
    if (random_chance(&rng, 15)) {
        hub = new_block(&m, FP_BLOCK_HUB);
        for (uint32_t k = 1 + random_below(&rng, 3); k--;)
            new_edge(&m, hub, random_below(&rng, n), FP_EDGE_NORMAL);
    }
    for (uint32_t b = 0; b < n; b++) {
        uint32_t from = b, what = random_below(&rng, 100);
        if (random_chance(&rng, 4)) { /* setjmp in the middle */
            from = new_block(&m, m.flags.at[b]);
            new_edge(&m, b, from, FP_EDGE_TWICE);
        }
        if (what < 12) continue; /* leaves the function */
        if (what < 45) {
            new_edge(&m, from, some_target(&m, b), FP_EDGE_NORMAL);
        } else if (what < 80) {
            for (int k = 0; k < 2; k++) new_edge(&m, from, some_target(&m, b), FP_EDGE_NORMAL);
        } else if (what < 88 || (what < 95 && !npads)) {
            for (uint32_t k = 1 + random_below(&rng, 5); k--;)
                new_edge(&m, from, some_target(&m, b), FP_EDGE_SWITCH);
        } else if (what < 95) {
            if (random_chance(&rng, 80)) new_edge(&m, from, some_target(&m, b), FP_EDGE_NORMAL);
            new_edge(&m, from, pads[random_below(&rng, npads)], FP_EDGE_UNWIND);
        } else if (hub != FP_NONE) {
            new_edge(&m, from, hub, FP_EDGE_INDIRECT);
        } else {
            new_edge(&m, from, b, FP_EDGE_NORMAL); /* self loop */
            if (random_chance(&rng, 80)) new_edge(&m, from, some_target(&m, b), FP_EDGE_NORMAL);
        }
    }
    return fp_cfg_new(arena, (uint32_t)m.flags.len, m.edges.at, (uint32_t)m.edges.len, m.flags.at);
}

/* ---- what is reached ---- */

/* Marks the blocks that `from` leads to, without going through a block or along an edge. */
static inline void flood(const struct fp_cfg *cfg, uint32_t from, uint32_t without_block,
                         uint32_t without_edge, bool *seen)
{
    uint32_t stack[64], depth = 0;
    if (from == without_block) return;
    stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        uint32_t b = stack[--depth];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            uint32_t to = cfg->edges[e].dst;
            if (e == without_edge || to == without_block || seen[to]) continue;
            seen[to] = true;
            stack[depth++] = to;
        }
    }
}

/* ---- walks: the truth ---- */

struct step {
    enum { ENTER, TAKE, AGAIN, LEAVE } kind; /* AGAIN: longjmp behind a twice edge */
    uint32_t edge;                           /* of TAKE and AGAIN */
    uint32_t block;                          /* where it happened */
};

struct walks {
    FP_VEC(struct step) steps; /* of all walks; each begins with ENTER */
    uint64_t *edges;           /* per cfg edge: times arrived by it */
    uint64_t *calls_of_twice;  /* per cfg edge: times its front was passed */
    uint64_t entries;
    uint64_t *exits; /* per block */
    int64_t *left;   /* per block: left in mid-block */
};

/* A block that leaves ends the walk, or jumps behind a setjmp passed before. */
static bool leave_or_jump(struct fp_arena *arena, const struct fp_cfg *cfg, struct walks *w,
                          uint32_t *block, const uint32_t *passed, uint32_t npassed)
{
    if (fp_cfg_out_degree(cfg, *block) != 0)
        w->left[*block]++;
    else
        w->exits[*block]++;
    struct step leave = {LEAVE, FP_NONE, *block};
    fp_vec_push(arena, &w->steps, leave);
    if (!npassed || random_chance(&rng, 50)) return true;
    uint32_t e = passed[random_below(&rng, npassed)];
    struct step again = {AGAIN, e, cfg->edges[e].dst};
    fp_vec_push(arena, &w->steps, again);
    w->edges[e]++;
    *block = cfg->edges[e].dst;
    return false;
}

static void one_walk(struct fp_arena *arena, const struct fp_cfg *cfg, struct walks *w)
{
    uint32_t block = 0, passed[16], npassed = 0;
    struct step enter = {ENTER, FP_NONE, 0};
    fp_vec_push(arena, &w->steps, enter);
    w->entries++;
    for (uint32_t steps = 0;; steps++) {
        bool may_leave = cfg->flags[block] & FP_BLOCK_LEAVES;
        if (may_leave && (steps > 150 || random_chance(&rng, 10))) {
            if (leave_or_jump(arena, cfg, w, &block, passed, npassed)) return;
            continue;
        }
        uint32_t degree = fp_cfg_out_degree(cfg, block);
        if (degree == 0) {
            w->exits[block]++;
            return;
        }
        if (steps > 200) { /* an endless loop: only here may any block leave */
            w->left[block]++;
            struct step leave = {LEAVE, FP_NONE, block};
            fp_vec_push(arena, &w->steps, leave);
            return;
        }
        uint32_t e = cfg->first_out[block] + random_below(&rng, degree);
        struct step take = {TAKE, e, block};
        fp_vec_push(arena, &w->steps, take);
        w->edges[e]++;
        if (cfg->edges[e].kind == FP_EDGE_TWICE) {
            w->calls_of_twice[e]++;
            if (npassed < 16) passed[npassed++] = e;
        }
        block = cfg->edges[e].dst;
    }
}

static struct walks random_walks(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct walks w = {
        .edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges),
        .calls_of_twice = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges),
        .exits = FP_NEW_ARRAY(arena, uint64_t, cfg->nblocks),
        .left = FP_NEW_ARRAY(arena, int64_t, cfg->nblocks),
    };
    for (int i = 0; i < 4; i++) one_walk(arena, cfg, &w);
    return w;
}

#endif
