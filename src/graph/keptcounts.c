/* Finding loops whose counts are kept: see keptcounts.h. */
#include "graph/keptcounts.h"

#include "graph/loops.h"

#include <assert.h>

enum { MOST_COUNTERS = 4, MOST_INSTRUCTIONS = 40 };
static const double ROUNDS = 8; /* expected per entry */
/* Of the function's expected instructions. The registers of a loop that has less are dearer to the
 * rest of the function than its rounds are. */
static const double SHARE = 0.1;

struct kept_loop {
    bool possible;
    bool moves; /* the running register */
    double rounds, entries;
    double executed; /* instructions, expected */
    uint32_t instructions, ncounters;
    int64_t counters[MOST_COUNTERS];
    uint32_t left_by; /* the origin of the block that is left, or FP_NONE */
};

struct kept_search {
    const struct fp_plan *plan;
    const struct fp_truncation *truncation;
    const struct fp_cfg *cfg;
    const double *weights;
    const uint32_t *instructions, *origin;
    const struct fp_bitset *watched, *by_data; /* watched: NULL where moves are kept */
    struct fp_loops loops;
    uint32_t *of; /* per block: the innermost loop around it */
    struct kept_loop *found;
    uint32_t *seen_in; /* per origin: the loop that has it; copies are alternatives of a round */
    double executed;   /* instructions of the function, expected */
};

static enum fp_fate fate_of(const struct kept_search *s, uint32_t e)
{
    return (enum fp_fate)s->truncation->order.fate[e];
}

static void look_at_op(const struct kept_search *s, struct kept_loop *loop, struct fp_op op)
{
    loop->moves |= op.kind == FP_OP_ADD;
    if (s->plan->running) return;
    if (op.kind == FP_OP_COUNT_REG) loop->possible = false;
    if (op.kind != FP_OP_COUNT) return;
    for (uint32_t i = 0; i < loop->ncounters; i++)
        if (loop->counters[i] == op.value) return;
    if (loop->ncounters == MOST_COUNTERS)
        loop->possible = false;
    else
        loop->counters[loop->ncounters++] = op.value;
}

/* Laps that are added up behind the loop are no counts in it. */
static bool is_lap_outside(const struct kept_search *s, uint32_t e)
{
    const struct fp_laps *laps = &s->truncation->laps;
    if (fate_of(s, e) != FP_FATE_LAP || !s->plan->lap_exits) return false;
    for (uint32_t i = 0; i < laps->len; i++)
        if (laps->at[i].closing == e) return s->plan->lap_exits[i] != FP_NONE;
    return false;
}

static void look_at_way_out(const struct kept_search *s, struct kept_loop *loop, uint32_t e)
{
    uint32_t src = s->origin[s->cfg->edges[e].src];
    if (loop->left_by != FP_NONE && loop->left_by != src) loop->possible = false;
    if (fp_bitset_has(s->by_data, s->cfg->edges[e].src)) loop->possible = false;
    loop->left_by = src;
}

static void look_at_edges(const struct kept_search *s, struct kept_loop *loop, uint32_t header,
                          uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    uint32_t moved = s->plan->at_end[block];
    if (moved != FP_NONE && is_lap_outside(s, moved)) loop->possible = false;
    if (moved != FP_NONE) look_at_op(s, loop, fp_plan_on_edge(s->plan, moved).first);
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        if (cfg->edges[e].kind > FP_EDGE_SWITCH || fate_of(s, e) == FP_FATE_DEAD)
            loop->possible = false;
        if (!loop->possible) return;
        if (!fp_loops_contain(&s->loops, header, cfg->edges[e].dst)) {
            look_at_way_out(s, loop, e);
            continue;
        }
        struct fp_edge_ops ops = fp_plan_on_edge(s->plan, e);
        if (is_lap_outside(s, e)) loop->possible = false;
        if (e != moved) look_at_op(s, loop, ops.first);
        look_at_op(s, loop, ops.then);
        if (cfg->edges[e].dst == header) loop->rounds += s->weights[e];
    }
}

/* Instructions of a block that are expected to be executed. */
static double executed_in(const struct kept_search *s, uint32_t block)
{
    double executions = 0;
    for (uint32_t e = s->cfg->first_out[block]; e < s->cfg->first_out[block + 1]; e++)
        executions += s->weights[e];
    return executions * s->instructions[block];
}

static void look_at_block(struct kept_search *s, uint32_t block)
{
    const struct fp_cfg *cfg = s->cfg;
    const uint32_t bad = FP_BLOCK_CALLS | FP_BLOCK_LEAVES | FP_BLOCK_PAD | FP_BLOCK_HUB;
    uint32_t header = s->of[block];
    struct kept_loop *loop = &s->found[header];
    if (header == block && s->loops.header[block] != FP_NONE)
        s->found[s->loops.header[block]].possible = false;
    if (cfg->flags[block] & bad) loop->possible = false;
    if (s->watched && fp_bitset_has(s->watched, block)) loop->possible = false;
    if (!loop->possible) return;
    loop->executed += executed_in(s, block);
    look_at_edges(s, loop, header, block);
    for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
        uint32_t e = cfg->in_edges[k];
        if (fp_loops_contain(&s->loops, header, cfg->edges[e].src)) continue;
        if (block != header) loop->possible = false;
        loop->entries += s->weights[e];
    }
    if (s->seen_in[s->origin[block]] == header) return;
    s->seen_in[s->origin[block]] = header;
    loop->instructions += s->instructions[block];
}

static bool is_kept(const struct kept_search *s, const struct kept_loop *loop)
{
    bool any = s->plan->running ? loop->moves : loop->ncounters > 0;
    return loop->possible && any && loop->left_by != FP_NONE &&
           loop->instructions <= MOST_INSTRUCTIONS && loop->rounds >= ROUNDS * loop->entries &&
           loop->executed >= SHARE * s->executed;
}

static uint32_t *find_kept(struct fp_arena *arena, const struct fp_plan *plan,
                           const double *weights, const uint32_t *instructions,
                           const uint32_t *origin, const struct fp_bitset *watched,
                           const struct fp_bitset *by_data)
{
    const struct fp_truncation *truncation = plan->numbering->dag->truncation;
    uint32_t n = truncation->cfg->nblocks;
    struct kept_search s = {.plan = plan,
                            .truncation = truncation,
                            .cfg = truncation->cfg,
                            .weights = weights,
                            .instructions = instructions,
                            .origin = origin,
                            .watched = watched,
                            .by_data = by_data};
    bool any = false;
    fp_loops_find(arena, s.cfg, &s.loops);
    s.of = FP_NEW_ARRAY(arena, uint32_t, n);
    s.found = FP_NEW_ARRAY(arena, struct kept_loop, n);
    s.seen_in = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t b = 0; b < n; b++) {
        bool heads = fp_bitset_has(&s.loops.heads, b);
        s.of[b] = heads ? b : s.loops.header[b];
        s.found[b].possible = heads && !fp_bitset_has(&s.loops.irreducible, b);
        s.found[b].left_by = s.seen_in[b] = FP_NONE;
    }
    for (uint32_t b = 0; b < n; b++) {
        s.executed += executed_in(&s, b);
        if (s.of[b] != FP_NONE) look_at_block(&s, b);
    }
    for (uint32_t b = 0; b < n; b++) {
        if (s.of[b] != FP_NONE && !is_kept(&s, &s.found[s.of[b]])) s.of[b] = FP_NONE;
        any |= s.of[b] != FP_NONE;
    }
    return any ? s.of : NULL;
}

uint32_t *fp_kept_counts(struct fp_arena *arena, const struct fp_plan *plan, const double *weights,
                         const uint32_t *instructions, const uint32_t *origin,
                         const struct fp_bitset *watched, const struct fp_bitset *by_data)
{
    assert(!plan->running && watched);
    return find_kept(arena, plan, weights, instructions, origin, watched, by_data);
}

uint32_t *fp_kept_moves(struct fp_arena *arena, const struct fp_plan *plan, const double *weights,
                        const uint32_t *instructions, const uint32_t *origin,
                        const struct fp_bitset *by_data)
{
    assert(plan->running);
    return find_kept(arena, plan, weights, instructions, origin, NULL, by_data);
}
