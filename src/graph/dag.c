/* Building the dag: see dag.h. */
#include "graph/dag.h"

#include "graph/weights.h"

static uint32_t add_edge(struct fp_dag *dag, uint32_t src, uint32_t dst, uint32_t cfg_edge,
                         enum fp_dag_kind kind)
{
    dag->edges[dag->nedges] = (struct fp_dag_edge){src, dst, cfg_edge, kind};
    return dag->nedges++;
}

static void add_out_edges(struct fp_dag *dag, uint32_t block)
{
    const struct fp_cfg *cfg = dag->cfg;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        enum fp_fate fate = dag->truncation->order.fate[e];
        if (fate == FP_FATE_KEPT)
            dag->of_edge[e] = add_edge(dag, block, cfg->edges[e].dst, e, FP_DAG_REAL);
        if (fate == FP_FATE_TRUNCATED)
            dag->of_edge[e] = add_edge(dag, block, dag->exit, e, FP_DAG_END);
    }
    if (fp_cfg_out_degree(cfg, block) == 0)
        dag->exit_of[block] = add_edge(dag, block, dag->exit, FP_NONE, FP_DAG_EXIT);
}

static void add_starts(struct fp_dag *dag)
{
    const struct fp_cfg *cfg = dag->cfg;
    dag->entry_edge = add_edge(dag, dag->entry, 0, FP_NONE, FP_DAG_ENTRY);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t dst = cfg->edges[e].dst;
        if (dag->truncation->order.fate[e] == FP_FATE_TRUNCATED && dag->start_of[dst] == FP_NONE)
            dag->start_of[dst] = add_edge(dag, dag->entry, dst, FP_NONE, FP_DAG_START);
    }
}

/* Blocks come first by number, then the entry vertex: the edges are ordered by
 * source as they are added. */
static void add_edges(struct fp_dag *dag)
{
    const struct fp_order *order = &dag->truncation->order;
    for (uint32_t b = 0; b < dag->cfg->nblocks; b++) {
        dag->first_out[b] = dag->nedges;
        if (order->position[b] != FP_NONE) add_out_edges(dag, b);
    }
    dag->first_out[dag->entry] = dag->nedges;
    add_starts(dag);
    dag->first_out[dag->exit] = dag->first_out[dag->exit + 1] = dag->nedges;
}

static void list_dag_in_edges(struct fp_arena *arena, struct fp_dag *dag)
{
    uint32_t *next = FP_NEW_ARRAY(arena, uint32_t, (size_t)dag->nverts + 1);
    dag->in_edges = FP_NEW_ARRAY(arena, uint32_t, dag->nedges);
    for (uint32_t d = 0; d < dag->nedges; d++) dag->first_in[dag->edges[d].dst + 1]++;
    for (uint32_t v = 0; v < dag->nverts; v++) {
        dag->first_in[v + 1] += dag->first_in[v];
        next[v + 1] = dag->first_in[v + 1];
    }
    for (uint32_t d = 0; d < dag->nedges; d++) dag->in_edges[next[dag->edges[d].dst]++] = d;
}

static uint32_t *filled_with_none(struct fp_arena *arena, size_t count)
{
    uint32_t *array = FP_NEW_ARRAY(arena, uint32_t, count);
    for (size_t i = 0; i < count; i++) array[i] = FP_NONE;
    return array;
}

struct fp_dag *fp_dag_make(struct fp_arena *arena, const struct fp_truncation *truncation)
{
    const struct fp_cfg *cfg = truncation->cfg;
    const struct fp_order *order = &truncation->order;
    struct fp_dag *dag = FP_NEW(arena, struct fp_dag);
    dag->cfg = cfg;
    dag->truncation = truncation;
    dag->nverts = cfg->nblocks + 2;
    dag->entry = cfg->nblocks;
    dag->exit = cfg->nblocks + 1;
    dag->edges =
        FP_NEW_ARRAY(arena, struct fp_dag_edge, (size_t)cfg->nedges + 2 * (size_t)cfg->nblocks + 1);
    dag->first_out = FP_NEW_ARRAY(arena, uint32_t, (size_t)dag->nverts + 1);
    dag->first_in = FP_NEW_ARRAY(arena, uint32_t, (size_t)dag->nverts + 1);
    dag->of_edge = filled_with_none(arena, cfg->nedges);
    dag->start_of = filled_with_none(arena, cfg->nblocks);
    dag->exit_of = filled_with_none(arena, cfg->nblocks);
    add_edges(dag);
    list_dag_in_edges(arena, dag);
    dag->order = FP_NEW_ARRAY(arena, uint32_t, (size_t)order->nblocks + 2);
    dag->order[dag->norder++] = dag->entry;
    for (uint32_t i = 0; i < order->nblocks; i++) dag->order[dag->norder++] = order->blocks[i];
    dag->order[dag->norder++] = dag->exit;
    return dag;
}

double *fp_dag_weights(struct fp_arena *arena, const struct fp_dag *dag, const double *weights)
{
    const struct fp_cfg *cfg = dag->cfg;
    double *result = FP_NEW_ARRAY(arena, double, dag->nedges);
    result[dag->entry_edge] = 1;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (dag->of_edge[e] == FP_NONE) continue;
        result[dag->of_edge[e]] = weights[e];
        if (dag->edges[dag->of_edge[e]].kind == FP_DAG_END)
            result[dag->start_of[cfg->edges[e].dst]] += weights[e];
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (dag->exit_of[b] != FP_NONE)
            result[dag->exit_of[b]] = fp_weight_of_block(cfg, weights, b);
    return result;
}

/* The average over the edges into v; where all have the weight 0, over all alike. */
static double length_before(const struct fp_dag *dag, const double *weights, const double *lengths,
                            uint32_t v)
{
    double sum = 0, weight = 0, plain = 0;
    uint32_t n = dag->first_in[v + 1] - dag->first_in[v];
    for (uint32_t k = dag->first_in[v]; k < dag->first_in[v + 1]; k++) {
        uint32_t e = dag->in_edges[k];
        sum += weights[e] * lengths[dag->edges[e].src];
        weight += weights[e];
        plain += lengths[dag->edges[e].src];
    }
    return weight > 0 ? sum / weight : n ? plain / n : 0;
}

double *fp_dag_lengths(struct fp_arena *arena, const struct fp_dag *dag, const double *weights,
                       const double *sizes)
{
    const double *on = fp_dag_weights(arena, dag, weights);
    double *lengths = FP_NEW_ARRAY(arena, double, dag->nverts);
    for (uint32_t i = 0; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        lengths[v] = length_before(dag, on, lengths, v) + (v < dag->cfg->nblocks ? sizes[v] : 0);
    }
    return lengths;
}
