/* Loops in one depth-first search, irreducible ones included (Wei, Mao, Zou,
 * Chen: A New Algorithm for Identifying Loops in Decompilation, SAS 2007).
 * The time is linear in the graph times the depth of the nest. */
#include "graph/loops.h"

struct nest {
    const struct fp_cfg *cfg;
    struct fp_loops *loops;
    uint32_t *on_path; /* position on the search path from 1, or 0 */
    bool *visited;
};

/* Block b lies in the loop of h: threads h into the chain of headers above b,
 * which is ordered by position on the search path. */
static void put_in_loop(struct nest *nest, uint32_t b, uint32_t h)
{
    uint32_t *header = nest->loops->header;
    if (h == FP_NONE || b == h) return;
    while (header[b] != FP_NONE) {
        uint32_t above = header[b];
        if (above == h) return;
        if (nest->on_path[above] < nest->on_path[h]) {
            header[b] = h;
            b = h;
            h = above;
        } else {
            b = above;
        }
    }
    if (b != h) header[b] = h;
}

/* The edge b -> to, when `to` was finished before. */
static void enter_finished(struct nest *nest, uint32_t b, uint32_t to)
{
    struct fp_loops *loops = nest->loops;
    uint32_t h = loops->header[to];
    if (h == FP_NONE) return;
    if (nest->on_path[h]) {
        put_in_loop(nest, b, h);
        return;
    }
    /* a second way into the loops around `to`, up to one that b is in as well */
    for (; h != FP_NONE; h = loops->header[h]) {
        if (nest->on_path[h]) {
            put_in_loop(nest, b, h);
            return;
        }
        fp_bitset_add(&loops->irreducible, h);
    }
}

struct loop_visit {
    uint32_t block, next_edge;
};

static void search_loops(struct nest *nest, struct loop_visit *stack)
{
    const struct fp_cfg *cfg = nest->cfg;
    uint32_t depth = 0;
    stack[depth++] = (struct loop_visit){0, cfg->first_out[0]};
    nest->visited[0] = true;
    nest->on_path[0] = 1;
    while (depth) {
        struct loop_visit *top = &stack[depth - 1];
        uint32_t b = top->block;
        if (top->next_edge == cfg->first_out[b + 1]) {
            nest->on_path[b] = 0;
            depth--;
            if (depth) put_in_loop(nest, stack[depth - 1].block, nest->loops->header[b]);
            continue;
        }
        uint32_t to = cfg->edges[top->next_edge++].dst;
        if (!nest->visited[to]) {
            nest->visited[to] = true;
            nest->on_path[to] = depth + 1;
            stack[depth++] = (struct loop_visit){to, cfg->first_out[to]};
        } else if (nest->on_path[to]) {
            fp_bitset_add(&nest->loops->heads, to);
            put_in_loop(nest, b, to);
        } else {
            enter_finished(nest, b, to);
        }
    }
}

/* Chains can be long and shared, so depths are filled in from the outermost. */
static void fill_depths(struct fp_loops *loops, uint32_t *chain, uint32_t nblocks)
{
    for (uint32_t b = 0; b < nblocks; b++) {
        uint32_t len = 0, v = b;
        while (v != FP_NONE && !loops->depth[v]) {
            chain[len++] = v;
            v = loops->header[v];
        }
        while (len) {
            uint32_t w = chain[--len], h = loops->header[w];
            loops->depth[w] =
                (h == FP_NONE ? 1 : loops->depth[h]) + fp_bitset_has(&loops->heads, w);
        }
    }
    for (uint32_t b = 0; b < nblocks; b++) loops->depth[b]--;
}

void fp_loops_find(struct fp_arena *arena, const struct fp_cfg *cfg, struct fp_loops *loops)
{
    struct fp_arena scratch = {0};
    uint32_t n = cfg->nblocks;
    loops->header = FP_NEW_ARRAY(arena, uint32_t, n);
    loops->depth = FP_NEW_ARRAY(arena, uint32_t, n);
    loops->heads = fp_bitset_new(arena, n);
    loops->irreducible = fp_bitset_new(arena, n);
    for (uint32_t b = 0; b < n; b++) loops->header[b] = FP_NONE;
    struct nest nest = {
        .cfg = cfg,
        .loops = loops,
        .on_path = FP_NEW_ARRAY(&scratch, uint32_t, n),
        .visited = FP_NEW_ARRAY(&scratch, bool, n),
    };
    search_loops(&nest, FP_NEW_ARRAY(&scratch, struct loop_visit, n));
    fill_depths(loops, FP_NEW_ARRAY(&scratch, uint32_t, n), n);
    fp_arena_free(&scratch);
}

bool fp_loops_contain(const struct fp_loops *loops, uint32_t header, uint32_t block)
{
    while (block != FP_NONE && block != header) block = loops->header[block];
    return block == header;
}

bool fp_loops_seldom_left_by(const struct fp_loops *loops, const struct fp_cfg *cfg,
                             const double *weights, uint32_t edge)
{
    static const double MOSTLY = 4;
    uint32_t src = cfg->edges[edge].src;
    uint32_t loop = fp_bitset_has(&loops->heads, src) ? src : loops->header[src];
    double whole = 0;
    if (loop == FP_NONE || fp_loops_contain(loops, loop, cfg->edges[edge].dst)) return false;
    for (uint32_t e = cfg->first_out[src]; e < cfg->first_out[src + 1]; e++) whole += weights[e];
    return weights[edge] * MOSTLY < whole;
}
