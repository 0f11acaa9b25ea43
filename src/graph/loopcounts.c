/* Loops whose counters are added up where they are left: see loopcounts.h. */
#include "graph/loopcounts.h"

#include "base/vec.h"

/* A loop must be expected to go round this many times per exit, or it does not pay. */
static const double ROUNDS = 3;

typedef FP_VEC(uint32_t) numbers;

struct loop_search {
    struct fp_arena *arena;
    const struct fp_truncation *truncation;
    const struct fp_cfg *cfg;
    const struct fp_flow *flow;
    const uint32_t *flow_slot;
    const double *weights;
    struct fp_loops loops;
    uint32_t *flow_of; /* per cfg edge: its flow edge, or FP_NONE */
    numbers *members;  /* per header of a loop: its blocks, those of loops inside not included */
    FP_VEC(struct fp_counted_loop) found;
};

/* What is known of one loop while its edges are looked at. */
struct loop_look {
    uint32_t header;
    numbers exits, counted;
    double rounds, leaves;
};

static bool is_in(const struct loop_search *s, const struct loop_look *look, uint32_t block)
{
    return fp_loops_contain(&s->loops, look->header, block);
}

/* Nothing but ordinary edges leads to the block, and from outside the loop only to its header. */
static bool are_ways_in_plain(const struct loop_search *s, const struct loop_look *look,
                              uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
        const struct fp_edge *edge = &cfg->edges[cfg->in_edges[k]];
        if (edge->kind > FP_EDGE_SWITCH) return false;
        if (cfg->flags[edge->src] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) return false;
        bool dead = s->truncation->order.fate[cfg->in_edges[k]] == FP_FATE_DEAD;
        if (!dead && block != look->header && !is_in(s, look, edge->src)) return false;
    }
    return true;
}

/* Takes note of an edge out of a block of the loop. False: the loop cannot be done. */
static bool look_at_edge(struct loop_search *s, struct loop_look *look, uint32_t e)
{
    const struct fp_edge *edge = &s->cfg->edges[e];
    const uint32_t *position = s->truncation->order.position;
    uint32_t i = s->flow_of[e];
    if (edge->kind > FP_EDGE_SWITCH || i == FP_NONE) return false;
    if (!is_in(s, look, edge->dst)) {
        look->leaves += s->weights[e];
        fp_vec_push(s->arena, &look->exits, e);
        return true;
    }
    if (edge->dst == look->header)
        look->rounds += s->weights[e];
    else if (position[edge->dst] <= position[edge->src])
        return false;
    if (s->flow_slot[i] != FP_NONE) fp_vec_push(s->arena, &look->counted, i);
    return true;
}

static bool look_at_block(struct loop_search *s, struct loop_look *look, uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    if (cfg->flags[block] & (FP_BLOCK_LEAVES | FP_BLOCK_PAD | FP_BLOCK_HUB)) return false;
    if (!are_ways_in_plain(s, look, block)) return false;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        if (!look_at_edge(s, look, e)) return false;
    return true;
}

static uint32_t lap_of(const struct loop_search *s, uint32_t header)
{
    const struct fp_laps *laps = &s->truncation->laps;
    for (uint32_t i = 0; i < laps->len; i++)
        if (s->cfg->edges[laps->at[i].closing].dst == header) return i;
    return FP_NONE;
}

static void try_loop(struct loop_search *s, uint32_t header)
{
    struct loop_look look = {.header = header};
    const numbers *blocks = &s->members[header];
    if (blocks->at[0] != header) return;
    for (size_t i = 0; i < blocks->len; i++)
        if (!look_at_block(s, &look, blocks->at[i])) return;
    if (!look.exits.len || !look.counted.len || look.rounds <= ROUNDS * look.leaves) return;
    struct fp_counted_loop loop = {
        .blocks = blocks->at,
        .nblocks = (uint32_t)blocks->len,
        .exits = look.exits.at,
        .nexits = (uint32_t)look.exits.len,
        .counted = look.counted.at,
        .ncounted = (uint32_t)look.counted.len,
        .lap = lap_of(s, header),
    };
    fp_vec_push(s->arena, &s->found, loop);
}

static void read_flow(struct loop_search *s)
{
    s->flow_of = FP_NEW_ARRAY(s->arena, uint32_t, s->cfg->nedges);
    for (uint32_t e = 0; e < s->cfg->nedges; e++) s->flow_of[e] = FP_NONE;
    for (uint32_t i = 0; i < s->flow->nedges; i++)
        if (s->flow->edges[i].kind == FP_FLOW_EDGE) s->flow_of[s->flow->edges[i].cfg_edge] = i;
}

/* Gives the headers of loops that have loops inside. */
static struct fp_bitset read_members(struct loop_search *s)
{
    const struct fp_order *order = &s->truncation->order;
    struct fp_bitset outer = fp_bitset_new(s->arena, s->cfg->nblocks);
    fp_loops_find(s->arena, s->cfg, &s->loops);
    s->members = FP_NEW_ARRAY(s->arena, numbers, s->cfg->nblocks);
    for (uint32_t i = 0; i < order->nblocks; i++) {
        uint32_t b = order->blocks[i], around = s->loops.header[b];
        bool heads = fp_bitset_has(&s->loops.heads, b);
        if (heads && around != FP_NONE) fp_bitset_add(&outer, around);
        uint32_t header = heads ? b : around;
        if (header != FP_NONE) fp_vec_push(s->arena, &s->members[header], b);
    }
    return outer;
}

struct fp_counted_loops fp_counted_loops_find(struct fp_arena *arena,
                                              const struct fp_truncation *truncation,
                                              const struct fp_flow *flow, const uint32_t *flow_slot,
                                              const double *weights)
{
    struct loop_search s = {
        .arena = arena,
        .truncation = truncation,
        .cfg = truncation->cfg,
        .flow = flow,
        .flow_slot = flow_slot,
        .weights = weights,
    };
    read_flow(&s);
    struct fp_bitset outer = read_members(&s);
    for (uint32_t b = 0; b < s.cfg->nblocks; b++)
        if (fp_bitset_has(&s.loops.heads, b) && !fp_bitset_has(&outer, b) &&
            !fp_bitset_has(&s.loops.irreducible, b))
            try_loop(&s, b);
    return (struct fp_counted_loops){s.found.at, (uint32_t)s.found.len};
}
