/* Measuring paths: see measure.h. */
#include "graph/measure.h"

/* A vertex on the way of the last path, with what was gathered up to it. Ids from
 * base to base + npaths[vertex] - 1 come this way. */
struct stop {
    uint64_t base;
    uint32_t vertex, weight, branches;
    bool at_entry;
};

struct measuring {
    struct fp_arena arena;
    const struct fp_numbering *n;
    const uint32_t *weights;
    struct stop *way;
    uint32_t depth;
};

static bool is_choice(const struct fp_cfg *cfg, const struct fp_dag_edge *edge)
{
    return edge->cfg_edge != FP_NONE && fp_cfg_out_degree(cfg, edge->src) > 1;
}

/* One step on from the last stop towards the exit. */
static struct stop step(const struct measuring *m, uint64_t id)
{
    const struct fp_dag *dag = m->n->dag;
    const struct stop *last = &m->way[m->depth - 1];
    uint32_t d = fp_number_edge(m->n, last->vertex, id - last->base);
    const struct fp_dag_edge *edge = &dag->edges[d];
    struct stop next = {last->base + m->n->value[d], edge->dst, last->weight, last->branches,
                        last->at_entry};
    next.branches += is_choice(dag->cfg, edge);
    if (edge->kind == FP_DAG_ENTRY) next.at_entry = true;
    if (edge->dst != dag->exit) next.weight += m->weights[edge->dst];
    return next;
}

static struct fp_path_measure measure_path(struct measuring *m, uint64_t id)
{
    const struct fp_dag *dag = m->n->dag;
    while (m->depth > 1) {
        const struct stop *last = &m->way[m->depth - 1];
        if (last->vertex != dag->exit && id - last->base < m->n->npaths[last->vertex]) break;
        m->depth--;
    }
    while (m->way[m->depth - 1].vertex != dag->exit) {
        m->way[m->depth] = step(m, id);
        m->depth++;
    }
    const struct stop *end = &m->way[m->depth - 1];
    return (struct fp_path_measure){end->weight, end->branches, end->base == id, end->at_entry};
}

static struct fp_path_measure measure_lap(struct measuring *m, uint64_t id)
{
    const struct fp_cfg *cfg = m->n->dag->cfg;
    struct fp_path path;
    if (!fp_path_decode(&m->arena, m->n, id, &path)) return (struct fp_path_measure){0};
    struct fp_path_measure out = {.weight = m->weights[path.first_block], .known = true};
    for (uint32_t i = 0; i < path.nedges; i++) {
        out.weight += m->weights[cfg->edges[path.edges[i]].dst];
        out.branches += fp_cfg_out_degree(cfg, cfg->edges[path.edges[i]].src) > 1;
    }
    out.branches += fp_cfg_out_degree(cfg, cfg->edges[path.end_edge].src) > 1;
    return out;
}

void fp_measure_paths(const struct fp_numbering *n, const uint32_t *weights, const uint64_t *ids,
                      size_t count, struct fp_path_measure *out)
{
    struct measuring m = {.n = n, .weights = weights, .depth = 1};
    m.way = FP_NEW_ARRAY(&m.arena, struct stop, (size_t)n->dag->nverts + 1);
    m.way[0] = (struct stop){.vertex = n->dag->entry};
    for (size_t i = 0; i < count; i++)
        out[i] = ids[i] < n->num_paths ? measure_path(&m, ids[i]) : measure_lap(&m, ids[i]);
    fp_arena_free(&m.arena);
}
