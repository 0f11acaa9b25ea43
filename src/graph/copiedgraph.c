/* The graph with copies of blocks: see copying.h. Its numbering has the values of the old one. */
#include "graph/copying.h"

/* Ways out of a copy are ordered as those of its origin; starts, all from the entry, by value. */
static void rank_copies(const struct fp_copying *c, struct fp_numbering *n,
                        const uint32_t *block_of)
{
    const struct fp_dag *dag = n->dag, *old = c->n->dag;
    for (uint32_t b = 0; b < dag->cfg->nblocks; b++) {
        uint32_t first = dag->first_out[b], from = old->first_out[block_of[b]];
        for (uint32_t i = 0; first + i < dag->first_out[b + 1]; i++)
            n->by_value[first + i] = first + (c->n->by_value[from + i] - from);
    }
    uint32_t first = dag->first_out[dag->entry], end = dag->first_out[dag->entry + 1];
    for (uint32_t d = first; d < end; d++) {
        uint32_t i = d;
        for (; i > first && n->value[n->by_value[i - 1]] > n->value[d]; i--)
            n->by_value[i] = n->by_value[i - 1];
        n->by_value[i] = d;
    }
}

static void number_copies(struct fp_copying *c, struct fp_arena *arena, struct fp_copied_graph *g)
{
    const struct fp_dag *dag = g->dag, *old = c->n->dag;
    struct fp_numbering *n = FP_NEW(arena, struct fp_numbering);
    *n = (struct fp_numbering){.dag = dag,
                               .npaths = FP_NEW_ARRAY(arena, uint64_t, dag->nverts),
                               .value = FP_NEW_ARRAY(arena, uint64_t, dag->nedges),
                               .by_value = FP_NEW_ARRAY(arena, uint32_t, dag->nedges),
                               .num_paths = c->n->num_paths,
                               .num_ids = c->n->num_ids};
    for (uint32_t b = 0; b < g->cfg->nblocks; b++) {
        uint32_t origin = g->block_of[b];
        n->npaths[b] = c->n->npaths[origin];
        if (dag->start_of[b] != FP_NONE)
            n->value[dag->start_of[b]] = c->n->value[old->start_of[origin]];
        if (dag->exit_of[b] != FP_NONE)
            n->value[dag->exit_of[b]] = c->n->value[old->exit_of[origin]];
    }
    n->npaths[dag->entry] = c->n->npaths[old->entry];
    n->npaths[dag->exit] = 1;
    n->value[dag->entry_edge] = c->n->value[old->entry_edge];
    for (uint32_t e = 0; e < g->cfg->nedges; e++)
        if (dag->of_edge[e] != FP_NONE)
            n->value[dag->of_edge[e]] = c->n->value[old->of_edge[g->edge_of[e]]];
    rank_copies(c, n, g->block_of);
    g->numbering = n;
}

/* The edges of the live nodes, in their order: old edges keep their numbers. */
static void make_cfg(struct fp_copying *c, struct fp_arena *arena, uint32_t *now,
                     struct fp_copied_graph *g)
{
    uint32_t *number = FP_NEW_ARRAY(c->scratch, uint32_t, c->nodes.len), nblocks = 0, nedges = 0;
    struct fp_edge *edges = FP_NEW_ARRAY(c->scratch, struct fp_edge, c->edges.len);
    uint8_t *flags = FP_NEW_ARRAY(c->scratch, uint8_t, c->nodes.len);
    g->block_of = FP_NEW_ARRAY(arena, uint32_t, c->nodes.len);
    g->edge_of = FP_NEW_ARRAY(arena, uint32_t, c->edges.len);
    g->weights = FP_NEW_ARRAY(arena, double, c->edges.len);
    for (uint32_t v = 0; v < c->nodes.len; v++) {
        if (c->nodes.at[v].dead) continue;
        number[v] = nblocks;
        flags[nblocks] = c->cfg->flags[c->nodes.at[v].origin];
        g->block_of[nblocks++] = c->nodes.at[v].origin;
    }
    for (uint32_t e = 0; e < c->edges.len; e++) {
        const struct fp_copy_edge *edge = &c->edges.at[e];
        if (c->nodes.at[edge->src].dead) continue;
        edges[nedges] =
            (struct fp_edge){number[edge->src], number[edge->dst], fp_copying_kind(c, e)};
        now[e] = nedges;
        g->weights[nedges] = edge->weight > 0 ? edge->weight : 0;
        g->edge_of[nedges++] = edge->origin;
    }
    g->cfg = fp_cfg_new(arena, nblocks, edges, nedges, flags);
}

/* The edges of a lap in the unit of a copy. now: per edge of the copying, its number in the copied
 * graph. */
static uint32_t *copied_lap(struct fp_copying *c, struct fp_arena *arena, const struct fp_lap *old,
                            uint32_t head, const uint32_t *now)
{
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, old->nedges);
    for (uint32_t v = head; v < head + c->nodes.at[head].nmembers; v++) {
        const struct fp_copy_node *node = &c->nodes.at[v];
        for (uint32_t e = node->first_edge; e < node->first_edge + node->nedges; e++)
            for (uint32_t i = 0; i < old->nedges; i++)
                if (old->edges[i] == c->edges.at[e].origin) edges[i] = now[e];
    }
    return edges;
}

/* Laps have been copied whole. They stay in order of their closing edges. An old block to which
 * copies alone led that were brought back is not reached any more, and its lap is none. */
static void make_laps(struct fp_copying *c, struct fp_arena *arena, const uint32_t *now,
                      struct fp_copied_graph *g)
{
    const struct fp_laps *old = &c->n->dag->truncation->laps;
    struct fp_laps *laps = &g->truncation->laps;
    uint32_t *number, *lap_of = FP_NEW_ARRAY(c->scratch, uint32_t, c->cfg->nedges), n = 0;
    for (uint32_t i = 0; i < old->len; i++) lap_of[old->at[i].closing] = i + 1;
    for (uint32_t e = 0; e < c->edges.len; e++) n += lap_of[c->edges.at[e].origin] != 0;
    *laps = (struct fp_laps){.at = FP_NEW_ARRAY(arena, struct fp_lap, n)};
    laps->number = number = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t e = 0; e < c->edges.len; e++) {
        uint32_t lap = lap_of[c->edges.at[e].origin], v = c->edges.at[e].src;
        if (!lap || c->nodes.at[v].dead || g->truncation->order.fate[now[e]] == FP_FATE_DEAD)
            continue;
        struct fp_lap one = old->at[lap - 1];
        if (v >= c->cfg->nblocks)
            one.edges = copied_lap(c, arena, &old->at[lap - 1], c->nodes.at[v].head, now);
        one.closing = now[e];
        number[laps->len] = lap - 1;
        laps->at[laps->len++] = one;
    }
}

struct fp_copied_graph *fp_copied_graph_make(struct fp_arena *arena, struct fp_copying *c)
{
    struct fp_copied_graph *g = FP_NEW(arena, struct fp_copied_graph);
    const struct fp_truncation *old = c->n->dag->truncation;
    uint32_t *now = FP_NEW_ARRAY(c->scratch, uint32_t, c->edges.len);
    make_cfg(c, arena, now, g);
    uint8_t *fates = FP_NEW_ARRAY(c->scratch, uint8_t, g->cfg->nedges);
    for (uint32_t e = 0; e < g->cfg->nedges; e++) fates[e] = c->fate[g->edge_of[e]];
    g->truncation = FP_NEW(arena, struct fp_truncation);
    *g->truncation = *old;
    g->truncation->cfg = g->cfg;
    if (!fp_order_from_fates(arena, g->cfg, fates, &g->truncation->order)) return NULL;
    make_laps(c, arena, now, g);
    g->dag = fp_dag_make(arena, g->truncation);
    number_copies(c, arena, g);
    g->nold = c->cfg->nblocks;
    g->bytes = c->bytes_used;
    return g;
}

/* ---- counts in front of branches ---- */

static bool is_critical(const struct fp_cfg *cfg, uint32_t e)
{
    return fp_cfg_out_degree(cfg, cfg->edges[e].src) > 1 &&
           fp_cfg_in_degree(cfg, cfg->edges[e].dst) > 1;
}

/* What the hottest copy of each block does. */
static void propose(const struct fp_copied_graph *g, const uint32_t *at_end, uint32_t *old,
                    double *weight)
{
    for (uint32_t b = 0; b < g->nold; b++) old[b] = FP_NONE;
    for (uint32_t b = 0; b < g->cfg->nblocks; b++) {
        uint32_t e = at_end[b], origin = g->block_of[b];
        if (e == FP_NONE || g->truncation->order.position[b] == FP_NONE) continue;
        if (old[origin] != FP_NONE && g->weights[e] <= weight[origin]) continue;
        old[origin] = g->edge_of[e];
        weight[origin] = g->weights[e];
    }
}

void fp_copied_counts(const struct fp_copied_graph *g, uint32_t *at_end, uint32_t *old)
{
    struct fp_arena scratch = {0};
    double *gain = FP_NEW_ARRAY(&scratch, double, g->nold);
    propose(g, at_end, old, gain);
    for (uint32_t b = 0; b < g->nold; b++) gain[b] = 0;
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        uint32_t b = g->block_of[g->cfg->edges[e].src];
        if (old[b] == FP_NONE) continue;
        gain[b] -= g->weights[e];
        if (g->edge_of[e] == old[b]) gain[b] += g->weights[e] * (is_critical(g->cfg, e) ? 2 : 1);
    }
    for (uint32_t b = 0; b < g->nold; b++)
        if (gain[b] < 0) old[b] = FP_NONE;
    for (uint32_t b = 0; b < g->cfg->nblocks; b++) at_end[b] = FP_NONE;
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        uint32_t u = g->cfg->edges[e].src;
        if (g->edge_of[e] == old[g->block_of[u]]) at_end[u] = e;
    }
    fp_arena_free(&scratch);
}
