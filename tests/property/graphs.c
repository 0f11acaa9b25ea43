/* Random control-flow graphs against brute force.
 *
 * Each graph gets random walks, whose paths and edges are recorded step by step
 * without the code under test; then everything the graph core says about them
 * must agree: ids unique, dense and decodable; plans that count exactly what was
 * walked; edges derived from paths, and recovered from chords, equal to the edges
 * walked; PSPP labels valid; dominators and loops as by definition.
 *
 *     property-graphs [--count N] [--seed S] [--only I] [--verbose]
 */
#include "base/table.h"
#include "base/vec.h"
#include "graph/cfgtext.h"
#include "graph/blockcopies.h"
#include "graph/dominators.h"
#include "graph/flow.h"
#include "graph/loopcounts.h"
#include "graph/plan.h"
#include "graph/pspp.h"
#include "graph/tree.h"
#include "graph/weights.h"

#include "../check.h"
#include "../each_graph.h"
#include "../random_cfg.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- order, dominators, loops by definition ---- */

static bool edge_dominates(const struct fp_cfg *cfg, uint32_t d, uint32_t e)
{
    bool seen[64] = {0};
    flood(cfg, 0, FP_NONE, d, seen);
    return d != e && !seen[cfg->edges[e].src];
}

static void check_dominators(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    bool reachable[64] = {0}, seen[64];
    flood(cfg, 0, FP_NONE, FP_NONE, reachable);
    uint32_t *idom = fp_cfg_dominators(arena, cfg);
    for (uint32_t d = 0; d < cfg->nblocks; d++) {
        memset(seen, 0, sizeof seen);
        flood(cfg, 0, d, FP_NONE, seen);
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            if (!reachable[b]) {
                MUST(idom[b] == FP_NONE);
                continue;
            }
            bool truth = reachable[d] && !seen[b], found = false; /* d dominates b */
            for (uint32_t v = b;; v = idom[v]) {
                found |= v == d;
                if (v == idom[v]) break;
            }
            MUST(found == truth);
        }
    }
    uint32_t *nearest = fp_edge_dominators(arena, cfg);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (!reachable[cfg->edges[e].src]) {
            MUST(nearest[e] == FP_NONE);
            continue;
        }
        if (nearest[e] != FP_NONE) MUST(edge_dominates(cfg, nearest[e], e));
        for (uint32_t d = 0; d < cfg->nedges; d++) {
            if (!reachable[cfg->edges[d].src] || !edge_dominates(cfg, d, e)) continue;
            MUST(nearest[e] != FP_NONE);
            if (d != nearest[e] && nearest[e] != FP_NONE) MUST(edge_dominates(cfg, d, nearest[e]));
        }
    }
}

/* In a loop with one way in: b is in h's loop iff h dominates b and b reaches h
 * without leaving what h dominates. */
static void check_loops(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct fp_loops loops;
    fp_loops_find(arena, cfg, &loops);
    bool reachable[64] = {0};
    flood(cfg, 0, FP_NONE, FP_NONE, reachable);
    for (uint32_t h = 0; h < cfg->nblocks; h++) {
        if (!reachable[h] || fp_bitset_has(&loops.irreducible, h)) continue;
        bool without[64] = {0}, on_cycle = false;
        flood(cfg, 0, h, FP_NONE, without);
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            if (!reachable[b] || without[b]) continue; /* not dominated by h */
            bool from_b[64] = {0};
            /* reach h from b, never through a block that h does not dominate */
            uint32_t stack[64], depth = 0;
            stack[depth++] = b;
            bool returns = false;
            while (depth) {
                uint32_t v = stack[--depth];
                for (uint32_t e = cfg->first_out[v]; e < cfg->first_out[v + 1]; e++) {
                    uint32_t to = cfg->edges[e].dst;
                    returns |= to == h;
                    if (to == h || without[to] || from_b[to]) continue;
                    from_b[to] = true;
                    stack[depth++] = to;
                }
            }
            if (b == h) on_cycle = returns;
            if (b != h && fp_bitset_has(&loops.heads, h))
                MUST(fp_loops_contain(&loops, h, b) == returns);
        }
        if (on_cycle) MUST(fp_bitset_has(&loops.heads, h));
    }
}

static void check_order(const struct fp_cfg *cfg, const struct fp_truncation *t)
{
    bool reachable[64] = {0};
    flood(cfg, 0, FP_NONE, FP_NONE, reachable);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        MUST((t->order.position[b] != FP_NONE) == reachable[b]);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        const struct fp_edge *edge = &cfg->edges[e];
        enum fp_fate fate = t->order.fate[e];
        MUST((fate == FP_FATE_DEAD) == !reachable[edge->src]);
        if (fate == FP_FATE_KEPT) MUST(t->order.position[edge->src] < t->order.position[edge->dst]);
        if (edge->kind == FP_EDGE_UNWIND) MUST(fate == FP_FATE_KEPT || fate == FP_FATE_DEAD);
        if (edge->kind == FP_EDGE_INDIRECT || edge->kind == FP_EDGE_TWICE)
            MUST(fate == FP_FATE_TRUNCATED || fate == FP_FATE_DEAD);
    }
    struct fp_arena scratch = {0};
    struct fp_truncation again;
    MUST(fp_truncate_as_stored(&scratch, cfg, t->order.fate, &again));
    MUST(again.num_paths == t->num_paths && again.laps.len == t->laps.len);
    MUST(again.ncuts == t->ncuts);
    for (uint32_t i = 0; i < t->laps.len; i++) {
        const struct fp_lap *a = &t->laps.at[i], *b = &again.laps.at[i];
        MUST(a->closing == b->closing && a->nedges == b->nedges);
        if (a->nedges) MUST(!memcmp(a->edges, b->edges, a->nedges * sizeof *a->edges));
    }
    fp_arena_free(&scratch);
}

/* ---- numbering ---- */

struct enumeration {
    struct fp_arena *arena;
    const struct fp_dag *dag;
    const uint64_t *value;
    uint32_t trail[80], len;
    FP_VEC(uint64_t) sums;
    FP_VEC(uint32_t *) trails; /* dag edges, with their number in front */
    bool keep;
};

static void enumerate(struct enumeration *all, uint32_t v, uint64_t sum)
{
    const struct fp_dag *dag = all->dag;
    if (v == dag->exit) {
        fp_vec_push(all->arena, &all->sums, sum);
        if (all->keep) {
            uint32_t *trail = FP_NEW_ARRAY(all->arena, uint32_t, all->len + 1);
            trail[0] = all->len;
            memcpy(trail + 1, all->trail, all->len * sizeof *trail);
            fp_vec_push(all->arena, &all->trails, trail);
        }
        return;
    }
    for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++) {
        all->trail[all->len++] = d;
        enumerate(all, dag->edges[d].dst, sum + all->value[d]);
        all->len--;
    }
}

static bool same_path(const struct fp_path *a, const struct fp_path *b)
{
    return a->start == b->start && a->end == b->end && a->first_block == b->first_block &&
           a->last_block == b->last_block && a->end_edge == b->end_edge && a->nedges == b->nedges &&
           (a->nedges == 0 || !memcmp(a->edges, b->edges, a->nedges * sizeof *a->edges));
}

enum { ENUMERATE_AT_MOST = 3000 };

static void check_numbering(struct fp_arena *arena, const struct fp_numbering *n)
{
    struct fp_path path, lap;
    if (n->num_paths <= ENUMERATE_AT_MOST) {
        struct enumeration all = {.arena = arena, .dag = n->dag, .value = n->value};
        enumerate(&all, n->dag->entry, 0);
        MUST(all.sums.len == n->num_paths);
        struct fp_bitset seen = fp_bitset_new(arena, n->num_paths);
        for (size_t i = 0; i < all.sums.len; i++) {
            MUST(all.sums.at[i] < n->num_paths);
            if (all.sums.at[i] >= n->num_paths) continue;
            MUST(!fp_bitset_has(&seen, all.sums.at[i]));
            fp_bitset_add(&seen, all.sums.at[i]);
        }
    }
    uint64_t tries = n->num_paths < 50 ? n->num_paths : 50;
    for (uint64_t i = 0; i < tries; i++) {
        uint64_t id = n->num_paths <= 50 ? i : random_next(&rng) % n->num_paths;
        MUST(fp_path_decode(arena, n, id, &path));
        MUST(fp_path_encode(n, &path) == id);
    }
    for (uint64_t id = n->num_paths; id < n->num_ids; id++) {
        MUST(fp_path_decode(arena, n, id, &lap));
        MUST(lap.end == FP_ENDS_AS_LAP && fp_path_encode(n, &lap) == id);
    }
    MUST(!fp_path_decode(arena, n, n->num_ids, &path));
    struct fp_numbering *again = fp_number_as_stored(arena, n->dag, n->by_value);
    MUST(again->num_ids == n->num_ids);
    for (uint32_t d = 0; d < n->dag->nedges; d++)
        if (n->npaths[n->dag->edges[d].dst]) MUST(again->value[d] == n->value[d]);
}

/* ---- plans, run on the walks ---- */

/* The path in flight as the walk goes, kept without the plan. */
struct tracking {
    struct fp_path path;
    uint32_t edges[512];
};

static void start_tracking(struct tracking *t, enum fp_path_start start, uint32_t block)
{
    t->path = (struct fp_path){.start = start,
                               .first_block = block,
                               .last_block = block,
                               .end_edge = FP_NONE,
                               .edges = t->edges};
}

struct machine {
    struct fp_arena *arena;
    const struct fp_plan *plan;
    const struct fp_numbering *n;
    uint64_t r;
    uint64_t base, ended; /* with a running register: what it began from; what it was when
                             a path was last counted or the function entered */
    struct fp_table counted, expected; /* id -> count */
    FP_VEC(struct fp_partial_path) partials;
    uint64_t *edges; /* derived from expected and partial paths */
    bool exits;
    /* what readers know: below, or as the plan has it */
    const struct fp_copied_graph *copied;
    const struct fp_numbering *known;
    const uint32_t *known_at_end;
};

static void do_op(struct machine *m, struct fp_op op)
{
    switch (op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET:
        if (m->plan->running) {
            MUST(m->r == m->ended); /* nobody looks where a path begins */
            m->base = m->r - (uint64_t)op.value;
        } else {
            m->r = (uint64_t)op.value;
        }
        break;
    case FP_OP_ADD: m->r += (uint64_t)op.value; break;
    case FP_OP_COUNT: ++*fp_table_add(&m->counted, (uint64_t)op.value); break;
    case FP_OP_COUNT_REG: ++*fp_table_add(&m->counted, m->r - m->base + (uint64_t)op.value); break;
    }
    if (op.kind == FP_OP_COUNT || op.kind == FP_OP_COUNT_REG) m->ended = m->r;
}

static void derive_edges(struct machine *m, const struct fp_path *path)
{
    for (uint32_t i = 0; i < path->nedges; i++) m->edges[path->edges[i]]++;
    /* arrivals behind setjmp are counted where a path starts */
    if (path->end_edge != FP_NONE && m->n->dag->cfg->edges[path->end_edge].kind != FP_EDGE_TWICE)
        m->edges[path->end_edge]++;
    if (path->start == FP_STARTS_AT_EDGE && path->end != FP_ENDS_AS_LAP) {
        const struct fp_cfg *cfg = m->n->dag->cfg;
        uint32_t e = cfg->in_edges[cfg->first_in[path->first_block]];
        if (cfg->edges[e].kind == FP_EDGE_TWICE) m->edges[e]++;
    }
}

static void expect(struct machine *m, struct fp_path *path)
{
    uint64_t id = fp_path_encode(m->n, path);
    MUST(id != FP_NO_ID);
    ++*fp_table_add(&m->expected, id);
    derive_edges(m, path);
}

/* The frame leaves in mid-block: what the plan knows must give the path so far. */
static void check_in_flight(struct machine *m, struct tracking *t, uint32_t block)
{
    const struct fp_plan *plan = m->plan;
    t->path.end = FP_ENDS_INSIDE;
    derive_edges(m, &t->path);
    struct fp_partial_path left = {
        .block = block, .prefix = fp_path_encode(m->n, &t->path), .count = 1};
    /* in machine code also behind the count in front of the block's branch */
    if (plan->at_end[block] != FP_NONE && !plan->counted[block] && random_chance(&rng, 50)) {
        do_op(m, fp_plan_on_edge(plan, plan->at_end[block]).first);
        left.behind = true;
    }
    fp_vec_push(m->arena, &m->partials, left);
    if (!m->exits) return;
    MUST(!plan->counted[block]);
    uint64_t sum = (uint64_t)plan->offset[block] + (plan->has_register[block] ? m->r : 0);
    struct fp_path partial;
    MUST(fp_path_decode_partial(m->arena, m->n, block, sum, &partial));
    MUST(same_path(&partial, &t->path));
}

static void take_edge(struct machine *m, struct tracking *t, uint32_t e)
{
    const struct fp_cfg *cfg = m->n->dag->cfg;
    const struct fp_truncation *truncation = m->n->dag->truncation;
    struct fp_edge_ops ops = fp_plan_on_edge(m->plan, e);
    uint32_t moved = m->plan->at_end[cfg->edges[e].src];
    if (moved != FP_NONE) do_op(m, fp_plan_on_edge(m->plan, moved).first);
    if (moved != e) do_op(m, ops.first);
    do_op(m, ops.then);
    switch ((enum fp_fate)truncation->order.fate[e]) {
    case FP_FATE_KEPT:
        t->edges[t->path.nedges++] = e;
        t->path.last_block = cfg->edges[e].dst;
        break;
    case FP_FATE_TRUNCATED:
        t->path.end = FP_ENDS_AT_EDGE;
        t->path.end_edge = e;
        expect(m, &t->path);
        start_tracking(t, FP_STARTS_AT_EDGE, cfg->edges[e].dst);
        break;
    case FP_FATE_LAP: {
        /* the path goes on as if it had just come to the header */
        uint32_t header = cfg->edges[e].dst, k = t->path.nedges;
        while (k && cfg->edges[t->edges[k - 1]].dst != header) k--;
        MUST(k || t->path.first_block == header);
        struct fp_path lap = {.start = FP_STARTS_AT_EDGE,
                              .end = FP_ENDS_AS_LAP,
                              .first_block = header,
                              .last_block = cfg->edges[e].src,
                              .end_edge = e,
                              .nedges = t->path.nedges - k,
                              .edges = t->edges + k};
        expect(m, &lap);
        t->path.nedges = k;
        t->path.last_block = header;
        break;
    }
    case FP_FATE_DEAD: MUST(!"walked a dead edge"); break;
    }
}

static void end_at_exit(struct machine *m, struct tracking *t, uint32_t block)
{
    do_op(m, m->plan->on[m->n->dag->exit_of[block]]);
    t->path.end = FP_ENDS_AT_EXIT;
    expect(m, &t->path);
}

static bool maps_equal(const struct fp_table *a, const struct fp_table *b)
{
    uint64_t key, value;
    for (size_t i = 0; fp_table_next(a, &i, &key, &value);) {
        const uint64_t *other = fp_table_find(b, key);
        if (!other || *other != value) return false;
    }
    return a->len == b->len;
}

/* What the counters hold, as counts of paths. */
static void recover(struct machine *m)
{
    size_t n = 0;
    uint64_t *ids = FP_NEW_ARRAY(m->arena, uint64_t, m->counted.len);
    uint64_t *counts = FP_NEW_ARRAY(m->arena, uint64_t, m->counted.len);
    for (size_t i = 0; fp_table_next(&m->counted, &i, &ids[n], &counts[n]);) n++;
    for (size_t i = 0; m->copied && i < m->partials.len; i++)
        m->partials.at[i].block = m->copied->block_of[m->partials.at[i].block];
    fp_recover(m->known, m->known_at_end, ids, counts, n, m->partials.at, m->partials.len);
    fp_table_init(&m->counted, m->arena);
    for (size_t i = 0; i < n; i++)
        if (counts[i]) *fp_table_add(&m->counted, ids[i]) = counts[i];
}

/* What readers know of a copied graph: the numbering and the counts in front of branches of the old
 * one. */
struct old_graph {
    const struct fp_copied_graph *copied;
    const struct fp_numbering *n;
    uint32_t *at_end;
};

/* Gives how often each path was taken, by id. old: where the plan is for a copied graph. */
static struct fp_table check_plan(struct fp_arena *arena, const struct fp_plan *plan, bool exits,
                                  const struct walks *w, const struct old_graph *old)
{
    const struct fp_numbering *n = plan->numbering;
    const struct fp_cfg *cfg = n->dag->cfg;
    struct machine m = {.arena = arena,
                        .plan = plan,
                        .n = n,
                        .exits = exits,
                        .copied = old ? old->copied : NULL,
                        .known = old ? old->n : n,
                        .known_at_end = old ? old->at_end : plan->at_end};
    fp_table_init(&m.counted, arena);
    fp_table_init(&m.expected, arena);
    m.edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges);
    struct tracking t;
    uint64_t early = 0; /* counted ahead of a frame that then left */
    for (size_t i = 0; i < w->steps.len; i++) {
        const struct step *step = &w->steps.at[i];
        switch (step->kind) {
        case ENTER:
            m.r = m.ended = random_next(&rng); /* stale */
            do_op(&m, plan->on[n->dag->entry_edge]);
            start_tracking(&t, FP_STARTS_AT_ENTRY, 0);
            break;
        case TAKE: take_edge(&m, &t, step->edge); break;
        case AGAIN: /* behind setjmp: r is whatever it was then */
            m.r = random_next(&rng);
            do_op(&m, plan->on[n->dag->start_of[step->block]]);
            start_tracking(&t, FP_STARTS_AT_EDGE, step->block);
            break;
        case LEAVE:
            if (fp_cfg_out_degree(cfg, step->block) == 0) {
                end_at_exit(&m, &t, step->block);
            } else {
                early += plan->counted[step->block];
                bool declared = cfg->flags[step->block] & FP_BLOCK_LEAVES;
                m.exits = exits && declared;
                check_in_flight(&m, &t, step->block);
            }
            break;
        }
        bool last = i + 1 == w->steps.len || w->steps.at[i + 1].kind == ENTER;
        uint32_t here = t.path.last_block;
        if (last && step->kind != LEAVE && fp_cfg_out_degree(cfg, here) == 0)
            end_at_exit(&m, &t, here);
    }
    /* without `exits`, a path may have been counted that then never ended */
    recover(&m);
    if (!early) MUST(maps_equal(&m.counted, &m.expected));
    for (uint32_t e = 0; e < cfg->nedges; e++) MUST(m.edges[e] == w->edges[e]);
    return m.expected;
}

/* ---- copies of blocks ---- */

static uint64_t graphs_with_copies, blocks_copied, counts_moved;

/* The way out of a block of the copied graph that an edge of the old one stands for. */
static uint32_t copied_edge(const struct fp_copied_graph *g, uint32_t block, uint32_t old)
{
    for (uint32_t e = g->cfg->first_out[block]; e < g->cfg->first_out[block + 1]; e++)
        if (g->edge_of[e] == old) return e;
    MUST(!"a copy lacks a way out");
    return 0;
}

/* The same walks in the copied graph. */
static struct walks copied_walks(struct fp_arena *arena, const struct fp_copied_graph *g,
                                 const struct walks *w)
{
    struct walks copied = *w;
    uint32_t here = 0;
    copied.edges = FP_NEW_ARRAY(arena, uint64_t, g->cfg->nedges);
    copied.steps.at = FP_NEW_ARRAY(arena, struct step, w->steps.len);
    for (size_t i = 0; i < w->steps.len; i++) {
        struct step step = w->steps.at[i];
        switch (step.kind) {
        case ENTER: here = 0; break;
        case TAKE:
            step.edge = copied_edge(g, here, step.edge);
            copied.edges[step.edge]++;
            here = g->cfg->edges[step.edge].dst;
            break;
        case AGAIN: MUST(!"a call returned twice"); break;
        case LEAVE:
            MUST(g->block_of[here] == step.block);
            step.block = here;
            break;
        }
        copied.steps.at[i] = step;
    }
    return copied;
}

static bool has_twice(const struct fp_cfg *cfg)
{
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_TWICE) return true;
    return false;
}

/* A plan for the copied graph counts the same paths by the same ids. */
static void check_copies(struct fp_arena *arena, const struct fp_plan *plan, const double *weights,
                         const struct fp_plan_options *options, const struct walks *w,
                         const struct fp_table *expected)
{
    const struct fp_cfg *cfg = plan->numbering->dag->cfg;
    uint32_t *bytes = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    double *cost = FP_NEW_ARRAY(arena, double, cfg->nblocks);
    if (options->eager || has_twice(cfg)) return;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        bool fixed = cfg->flags[b] & (FP_BLOCK_HUB | FP_BLOCK_PAD) || random_chance(&rng, 10);
        bytes[b] = fixed ? 0 : 1 + (uint32_t)random_below(&rng, 40);
        cost[b] = 1 + (double)random_below(&rng, 3) / 2;
    }
    struct fp_copy_options how = {.weights = weights,
                                  .counted = plan->counted,
                                  .bytes = bytes,
                                  .register_cost = cost,
                                  .laps = random_chance(&rng, 70),
                                  .most_bytes = random_below(&rng, 1000)};
    struct fp_copied_graph *g = fp_copy_blocks(arena, plan->numbering, &how);
    if (!g) return;
    graphs_with_copies++;
    blocks_copied += g->cfg->nblocks - cfg->nblocks;
    MUST(g->bytes <= how.most_bytes);
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        const struct fp_edge *edge = &g->cfg->edges[e], *old = &cfg->edges[g->edge_of[e]];
        MUST(g->block_of[edge->src] == old->src && g->block_of[edge->dst] == old->dst);
        MUST(e >= cfg->nedges || g->edge_of[e] == e);
    }
    struct walks walks = copied_walks(arena, g, w);
    struct fp_plan *copied = fp_plan_make(arena, g->numbering, g->weights, options);
    struct old_graph old = {g, plan->numbering, FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks)};
    fp_copied_counts(g, copied->at_end, old.at_end);
    for (uint32_t b = 0; b < cfg->nblocks; b++) counts_moved += old.at_end[b] != FP_NONE;
    struct fp_table found = check_plan(arena, copied, options->exits, &walks, &old);
    MUST(maps_equal(&found, expected));
}

/* ---- edge counters on chords ---- */

static double chord_weight(const struct fp_tree_edge *edges, uint32_t count,
                           const struct fp_bitset *taken)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!fp_bitset_has(taken, i)) sum += edges[i].weight;
    return sum;
}

static void check_flow(struct fp_arena *arena, const struct fp_cfg *cfg,
                       const struct fp_order *order, const struct walks *w, const double *weights)
{
    struct fp_flow *flow = fp_flow_make(arena, cfg, order, weights);
    uint64_t *truth = FP_NEW_ARRAY(arena, uint64_t, flow->nedges);
    uint64_t *counts = FP_NEW_ARRAY(arena, uint64_t, flow->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++) {
        const struct fp_flow_edge *edge = &flow->edges[i];
        switch (edge->kind) {
        case FP_FLOW_ENTRY: truth[i] = w->entries; break;
        case FP_FLOW_EDGE: truth[i] = w->edges[edge->cfg_edge]; break;
        case FP_FLOW_EXIT: truth[i] = w->exits[edge->src]; break;
        case FP_FLOW_FRONT: truth[i] = w->calls_of_twice[edge->cfg_edge]; break;
        }
        bool chord = !fp_bitset_has(&flow->in_tree, i);
        counts[i] = chord ? truth[i] : 0xdead;
        if (chord && edge->cfg_edge != FP_NONE)
            MUST(cfg->edges[edge->cfg_edge].kind != FP_EDGE_UNWIND);
    }
    MUST(fp_flow_check(flow, truth, w->left) == FP_NONE);
    MUST(fp_flow_solve(flow, counts, w->left));
    MUST(!memcmp(counts, truth, flow->nedges * sizeof *counts));
}

/* ---- counters that are added up where their loop is left ---- */

static uint64_t loops_with_counters, frames_lost_in_loops;

/* Goes along the walks with the counters of loops in registers, which a frame that is left
 * inside a loop loses. */
struct held {
    const struct fp_cfg *cfg;
    const struct fp_flow *flow;
    struct fp_counted_loops loops;
    uint32_t *flow_of; /* per cfg edge */
    uint32_t *loop_of; /* per flow edge: the loop that counts it in a register, or FP_NONE */
    uint64_t *memory, *registers; /* per flow edge */
    int64_t *left;                /* per block; frames that lost registers are at the header */
    uint32_t inside;              /* the loop whose registers are not 0, or FP_NONE */
    bool lost;                    /* some frame was left inside a loop */
};

static struct held held_by(struct fp_arena *arena, const struct fp_truncation *t,
                           const struct fp_flow *flow)
{
    uint32_t *slots = FP_NEW_ARRAY(arena, uint32_t, flow->nedges);
    double *often = FP_NEW_ARRAY(arena, double, t->cfg->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++)
        slots[i] = fp_bitset_has(&flow->in_tree, i) ? FP_NONE : i;
    for (uint32_t e = 0; e < t->cfg->nedges; e++) often[e] = t->order.fate[e] != FP_FATE_KEPT;
    struct held h = {
        .cfg = t->cfg,
        .flow = flow,
        .loops = fp_counted_loops_find(arena, t, flow, slots, often),
        .flow_of = FP_NEW_ARRAY(arena, uint32_t, t->cfg->nedges),
        .loop_of = FP_NEW_ARRAY(arena, uint32_t, flow->nedges),
        .memory = FP_NEW_ARRAY(arena, uint64_t, flow->nedges),
        .registers = FP_NEW_ARRAY(arena, uint64_t, flow->nedges),
        .left = FP_NEW_ARRAY(arena, int64_t, t->cfg->nblocks),
        .inside = FP_NONE,
    };
    for (uint32_t i = 0; i < flow->nedges; i++) {
        h.loop_of[i] = FP_NONE;
        if (flow->edges[i].kind == FP_FLOW_EDGE) h.flow_of[flow->edges[i].cfg_edge] = i;
    }
    for (uint32_t l = 0; l < h.loops.len; l++)
        for (uint32_t k = 0; k < h.loops.at[l].ncounted; k++) {
            MUST(h.loop_of[h.loops.at[l].counted[k]] == FP_NONE);
            h.loop_of[h.loops.at[l].counted[k]] = l;
        }
    loops_with_counters += h.loops.len;
    return h;
}

static void add_held_up(struct held *h, uint32_t edge)
{
    for (uint32_t l = 0; l < h->loops.len; l++)
        for (uint32_t k = 0; k < h->loops.at[l].nexits; k++) {
            if (h->loops.at[l].exits[k] != edge) continue;
            for (uint32_t i = 0; i < h->flow->nedges; i++)
                if (h->loop_of[i] == l) h->memory[i] += h->registers[i], h->registers[i] = 0;
            h->inside = FP_NONE;
        }
}

static uint32_t loop_with(const struct held *h, uint32_t block)
{
    for (uint32_t l = 0; l < h->loops.len; l++)
        for (uint32_t k = 0; k < h->loops.at[l].nblocks; k++)
            if (h->loops.at[l].blocks[k] == block) return l;
    return FP_NONE;
}

static void hold_step(struct held *h, const struct step *step)
{
    if (step->kind == LEAVE) {
        uint32_t l = loop_with(h, step->block);
        for (uint32_t i = 0; i < h->flow->nedges; i++) h->registers[i] = 0;
        if (fp_cfg_out_degree(h->cfg, step->block))
            h->left[l == FP_NONE ? step->block : h->loops.at[l].blocks[0]]++;
        frames_lost_in_loops += l != FP_NONE;
        h->lost |= l != FP_NONE;
        h->inside = FP_NONE;
    }
    if (step->kind == ENTER) MUST(h->inside == FP_NONE);
    if (step->kind != TAKE && step->kind != AGAIN) return;
    uint32_t i = h->flow_of[step->edge], l = h->loop_of[i];
    if (l != FP_NONE) {
        MUST(h->inside == l || h->inside == FP_NONE);
        h->inside = l;
        h->registers[i]++;
    } else {
        h->memory[i]++;
    }
    add_held_up(h, step->edge);
}

/* What reaches memory is exact where all frames return, and else a flow of frames that were
 * left at the headers. */
static void check_held(struct fp_arena *arena, const struct fp_truncation *t, const struct walks *w,
                       const double *weights)
{
    struct fp_flow *flow = fp_flow_make(arena, t->cfg, &t->order, weights);
    struct held h = held_by(arena, t, flow);
    for (size_t i = 0; i < w->steps.len; i++) hold_step(&h, &w->steps.at[i]);
    for (uint32_t i = 0; i < flow->nedges; i++) {
        const struct fp_flow_edge *edge = &flow->edges[i];
        if (edge->kind == FP_FLOW_ENTRY) h.memory[i] = w->entries;
        if (edge->kind == FP_FLOW_EXIT) h.memory[i] = w->exits[edge->src];
        if (edge->kind == FP_FLOW_FRONT) h.memory[i] = w->calls_of_twice[edge->cfg_edge];
        if (edge->kind == FP_FLOW_EDGE && !h.lost) MUST(h.memory[i] == w->edges[edge->cfg_edge]);
    }
    MUST(fp_flow_solve(flow, h.memory, h.left));
    MUST(fp_flow_check(flow, h.memory, h.left) == FP_NONE);
    for (uint32_t i = 0; i < flow->nedges; i++)
        if (flow->edges[i].kind == FP_FLOW_EDGE)
            MUST(h.memory[i] <= w->edges[flow->edges[i].cfg_edge]);
}

/* No other spanning tree has lighter chords. */
static void check_tree(struct fp_arena *arena, const struct fp_dag *dag, const double *weights)
{
    struct fp_tree_edge *edges = FP_NEW_ARRAY(arena, struct fp_tree_edge, dag->nedges);
    struct fp_tree_edge *shuffled = FP_NEW_ARRAY(arena, struct fp_tree_edge, dag->nedges);
    for (uint32_t d = 0; d < dag->nedges; d++)
        shuffled[d] = edges[d] =
            (struct fp_tree_edge){dag->edges[d].src, dag->edges[d].dst, weights[d]};
    struct fp_bitset best = fp_spanning_tree(arena, dag->nverts, edges, dag->nedges);
    double least = chord_weight(edges, dag->nedges, &best);
    for (int k = 0; k < 3; k++) {
        for (uint32_t d = 0; d < dag->nedges; d++)
            shuffled[d].weight = (double)random_below(&rng, 1000);
        struct fp_bitset other = fp_spanning_tree(arena, dag->nverts, shuffled, dag->nedges);
        MUST(fp_bitset_count(&other) == fp_bitset_count(&best));
        MUST(least <= chord_weight(edges, dag->nedges, &other) * (1 + 1e-9));
    }
}

/* ---- selective numbering ---- */

static bool all_wanted(const uint32_t *trail, const struct fp_bitset *wanted)
{
    for (uint32_t i = 1; i <= trail[0]; i++)
        if (!fp_bitset_has(wanted, trail[i])) return false;
    return true;
}

static void check_pspp(struct fp_arena *arena, const struct fp_numbering *n, const double *weights)
{
    const struct fp_dag *dag = n->dag;
    if (n->num_paths > 400) return;
    struct enumeration all = {.arena = arena, .dag = dag, .keep = true};
    all.value = FP_NEW_ARRAY(arena, uint64_t, dag->nedges);
    enumerate(&all, dag->entry, 0);
    struct fp_bitset wanted = fp_bitset_new(arena, dag->nedges);
    if (random_chance(&rng, 50)) { /* the edges of some paths */
        for (size_t i = 0; i < all.trails.len; i++)
            for (uint32_t k = 1; random_chance(&rng, 30) && k <= all.trails.at[i][0]; k++)
                fp_bitset_add(&wanted, all.trails.at[i][k]);
    }
    for (uint32_t d = 0; d < dag->nedges; d++)
        if (random_chance(&rng, 40)) fp_bitset_add(&wanted, d);
    struct fp_pspp *p = fp_pspp_number(arena, dag, &wanted, weights);
    struct fp_table owners; /* sum -> 1 + path, or UINT64_MAX for uninteresting */
    fp_table_init(&owners, arena);
    for (size_t i = 0; i < all.trails.len; i++) {
        uint32_t *trail = all.trails.at[i], *edges, nedges;
        uint64_t sum = 0;
        for (uint32_t k = 1; k <= trail[0]; k++) sum += p->value[trail[k]];
        MUST(sum < p->num_ids);
        bool interesting = all_wanted(trail, &wanted);
        uint64_t *owner = fp_table_add(&owners, sum);
        if (interesting)
            MUST(*owner == 0);
        else
            MUST(*owner == 0 || *owner == UINT64_MAX);
        *owner = interesting ? i + 1 : UINT64_MAX;
        bool decoded = fp_pspp_decode(arena, p, sum, &edges, &nedges);
        MUST(decoded == interesting);
        if (decoded && interesting)
            MUST(nedges == trail[0] && !memcmp(edges, trail + 1, nedges * sizeof *edges));
    }
}

/* ---- one graph ---- */

static double weighted_cost, unweighted_cost;
static uint64_t running_plans;

static void check_text(struct fp_arena *arena, const struct fp_cfg *cfg)
{
    struct fp_writer first = {0}, second = {0};
    struct fp_named_cfg parsed;
    struct fp_error error = {0};
    fp_cfg_print(&first, cfg, NULL, NULL);
    fp_write_u8(&first, 0);
    MUST(fp_cfg_parse(arena, (char *)first.bytes, &parsed, &error));
    if (!error.set) {
        fp_cfg_print(&second, parsed.cfg, parsed.names, NULL);
        /* blocks come back in order of mention, so compare as sets of lines */
        MUST(second.len + 1 == first.len);
        MUST(parsed.cfg->nedges == cfg->nedges && parsed.cfg->nblocks == cfg->nblocks);
    }
    fp_writer_free(&first);
    fp_writer_free(&second);
}

static double *walk_weights(struct fp_arena *arena, const struct fp_cfg *cfg, const struct walks *w)
{
    double *weights = FP_NEW_ARRAY(arena, double, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) weights[e] = (double)w->edges[e];
    return weights;
}

static bool may_run(const struct fp_cfg *cfg)
{
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_TWICE) return false;
    return true;
}

/* Nothing on edges that can carry no code, and cheaper than a register that is set. */
static void check_running(struct fp_arena *arena, const struct fp_numbering *n,
                          const double *weights, const struct walks *w)
{
    const struct fp_cfg *cfg = n->dag->cfg;
    struct fp_plan *plan =
        fp_plan_make(arena, n, weights, &(struct fp_plan_options){.running = true});
    if (!plan->running) return;
    running_plans++;
    check_plan(arena, plan, false, w, NULL);
    for (uint32_t d = 0; d < n->dag->nedges; d++) {
        uint32_t e = n->dag->edges[d].cfg_edge;
        if (n->dag->edges[d].kind != FP_DAG_REAL) continue;
        MUST(cfg->edges[e].kind != FP_EDGE_UNWIND || plan->on[d].kind == FP_OP_NONE);
        MUST(plan->on[d].kind != FP_OP_SET || cfg->flags[cfg->edges[e].src] & FP_BLOCK_HUB);
    }
}

static void check_variant(const struct fp_cfg *cfg, const struct walks *w, unsigned variant)
{
    static const uint64_t limits[] = {0, 0, 5, 40};
    struct fp_arena arena = {0};
    struct fp_limits limit = {
        .max_paths = limits[random_below(&rng, 4)],
        .good_paths = random_chance(&rng, 20) ? 1 + random_below(&rng, 50) : 0,
        .large_paths = random_chance(&rng, 50) ? 1 + random_below(&rng, 200) : 0,
        .no_laps = random_chance(&rng, 25),
        .loop_entries = random_chance(&rng, 30) ? 1 + (double)random_below(&rng, 4) : 0,
    };
    double *profile = walk_weights(&arena, cfg, w);
    const double *weights = random_chance(&rng, 50) ? profile : NULL;
    struct fp_truncation t;
    fp_truncate(&arena, cfg, weights, &limit, &t);
    check_order(cfg, &t);
    struct fp_dag *dag = fp_dag_make(&arena, &t);
    double *dag_weights = fp_dag_weights(&arena, dag, profile);
    enum fp_numbering_order how = variant & 1 ? FP_NUMBER_HOTTEST_FIRST : FP_NUMBER_LARGEST_LAST;
    struct fp_numbering *n = fp_number(&arena, dag, how, dag_weights);
    MUST(n->num_paths == t.num_paths && n->num_paths >= 1);
    check_numbering(&arena, n);
    struct fp_plan_options options = {
        .eager = random_chance(&rng, 15),
        .exits = random_chance(&rng, 50),
        .no_chords = random_chance(&rng, 10),
        .branch_counts = random_chance(&rng, 60),
    };
    struct fp_plan *plan = fp_plan_make(&arena, n, weights, &options);
    struct fp_table expected = check_plan(&arena, plan, options.exits, w, NULL);
    check_copies(&arena, plan, profile, &options, w, &expected);
    if (may_run(cfg)) check_running(&arena, n, weights, w);
    options.branch_counts = false; /* what a moved count costs is not its edge's weight */
    if (!options.eager && !options.no_chords) {
        struct fp_plan *plain = fp_plan_make(&arena, n, NULL, &options);
        struct fp_plan *guided = fp_plan_make(&arena, n, profile, &options);
        weighted_cost += fp_plan_cost(guided, profile);
        unweighted_cost += fp_plan_cost(plain, profile);
    }
    check_flow(&arena, cfg, &t.order, w, weights);
    check_held(&arena, &t, w, weights);
    check_tree(&arena, dag, dag_weights);
    check_pspp(&arena, n, dag_weights);
    fp_arena_free(&arena);
}

static void check_graph(uint64_t index, uint64_t seed)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    rng = seed * 0x9e3779b97f4a7c15u + index;
    random_next(&rng);
    struct fp_cfg *cfg = random_cfg(&arena);
    current = cfg;
    current_index = index;
    current_seed = seed;
    MUST(fp_cfg_check(cfg, &error));
    if (!error.set) {
        if (index % 4 == 0) {
            check_dominators(&arena, cfg);
            check_loops(&arena, cfg);
            check_text(&arena, cfg);
        }
        struct walks w = random_walks(&arena, cfg);
        for (unsigned variant = 0; variant < 2; variant++) check_variant(cfg, &w, variant);
    }
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    each_graph(argc, argv, check_graph);
    printf("weight of edges with an operation, guided by a profile / not guided: %.3f\n",
           weighted_cost / unweighted_cost);
    printf("%" PRIu64 " plans with a running register\n", running_plans);
    printf("%" PRIu64 " loops with counters, %" PRIu64 " frames lost in them\n",
           loops_with_counters, frames_lost_in_loops);
    printf("%" PRIu64 " graphs with copies, %" PRIu64 " copies, %" PRIu64
           " counts in front of their branches\n",
           graphs_with_copies, blocks_copied, counts_moved);
    return check_summary();
}
