/* Graphs of given shapes: see shapes.h. */
#include "shapes.h"

#include "base/table.h"
#include "base/vec.h"

struct shape {
    struct fp_arena *arena;
    FP_VEC(struct fp_edge) edges;
    uint32_t nblocks;
};

static void join(struct shape *s, uint32_t src, uint32_t dst, enum fp_edge_kind kind)
{
    struct fp_edge edge = {src, dst, kind};
    fp_vec_push(s->arena, &s->edges, edge);
}

static struct fp_cfg *finished(struct shape *s)
{
    return fp_cfg_new(s->arena, s->nblocks, s->edges.at, (uint32_t)s->edges.len, NULL);
}

struct fp_cfg *fp_shape_diamonds(struct fp_arena *arena, uint32_t count)
{
    struct shape s = {.arena = arena, .nblocks = 3 * count + 1};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t top = 3 * i;
        join(&s, top, top + 1, FP_EDGE_NORMAL);
        join(&s, top, top + 2, FP_EDGE_NORMAL);
        join(&s, top + 1, top + 3, FP_EDGE_NORMAL);
        join(&s, top + 2, top + 3, FP_EDGE_NORMAL);
    }
    return finished(&s);
}

/* Cases of one switch, from block `top` to block `bottom`. */
static void add_switch(struct shape *s, uint32_t top, uint32_t bottom, uint32_t ways)
{
    for (uint32_t i = 0; i < ways; i++) {
        join(s, top, s->nblocks, FP_EDGE_SWITCH);
        join(s, s->nblocks++, bottom, FP_EDGE_NORMAL);
    }
}

struct fp_cfg *fp_shape_switch_in_loop(struct fp_arena *arena, uint32_t ways)
{
    struct shape s = {.arena = arena, .nblocks = 4}; /* entry, head, latch, exit */
    join(&s, 0, 1, FP_EDGE_NORMAL);
    add_switch(&s, 1, 2, ways);
    join(&s, 2, 1, FP_EDGE_NORMAL);
    join(&s, 2, 3, FP_EDGE_NORMAL);
    return finished(&s);
}

struct fp_cfg *fp_shape_switches(struct fp_arena *arena, uint32_t count, uint32_t ways)
{
    struct shape s = {.arena = arena, .nblocks = count + 1};
    for (uint32_t i = 0; i < count; i++) add_switch(&s, i, i + 1, ways);
    return finished(&s);
}

static uint32_t draw(uint64_t *state, uint32_t limit)
{
    *state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(fp_hash64(*state) % limit);
}

/* Blocks in a row; each falls through, and some also branch: a little ahead (if),
 * a little back (loop), far ahead (early return, goto) or several ways (switch). */
struct fp_cfg *fp_shape_random(struct fp_arena *arena, uint32_t nblocks, uint64_t seed)
{
    struct shape s = {.arena = arena, .nblocks = nblocks};
    for (uint32_t b = 0; b + 1 < nblocks; b++) {
        uint32_t left = nblocks - 1 - b, what = draw(&seed, 100);
        uint32_t near = b + 1 + draw(&seed, left < 12 ? left : 12);
        if (what < 35 && left > 1) {
            join(&s, b, b + 1, FP_EDGE_NORMAL);
            join(&s, b, near, FP_EDGE_NORMAL);
        } else if (what < 45) {
            join(&s, b, b - draw(&seed, b < 20 ? b + 1 : 20), FP_EDGE_NORMAL);
            join(&s, b, b + 1, FP_EDGE_NORMAL);
        } else if (what < 48) {
            for (uint32_t k = 0; k < 8; k++)
                join(&s, b, b + 1 + draw(&seed, left < 30 ? left : 30), FP_EDGE_SWITCH);
            join(&s, b, b + 1, FP_EDGE_SWITCH);
        } else if (what < 50) {
            join(&s, b, b + 1, FP_EDGE_NORMAL);
            join(&s, b, nblocks - 1, FP_EDGE_NORMAL);
        } else {
            join(&s, b, b + 1, FP_EDGE_NORMAL);
        }
    }
    return finished(&s);
}
