/* Hits: see hits.h. */
#include "p3/hits.h"

uint32_t fp_hits_on_edge(const struct fp_plan *plan, uint32_t e)
{
    const struct fp_cfg *cfg = plan->numbering->dag->cfg;
    if (cfg->edges[e].kind == FP_EDGE_UNWIND) return 0;
    struct fp_edge_ops ops = fp_plan_on_edge(plan, e);
    bool moved = plan->at_end[cfg->edges[e].src] == e;
    return (uint32_t)(ops.first.kind != FP_OP_NONE && !moved) + (ops.then.kind != FP_OP_NONE);
}

uint32_t fp_hits_in_block(const struct fp_plan *plan, uint32_t block)
{
    const struct fp_dag *dag = plan->numbering->dag;
    if (dag->truncation->order.position[block] == FP_NONE) return 0; /* nothing is put there */
    uint32_t hits = plan->at_end[block] != FP_NONE;
    if (block == 0) hits += plan->on[dag->entry_edge].kind != FP_OP_NONE;
    if (dag->exit_of[block] != FP_NONE) hits += plan->on[dag->exit_of[block]].kind != FP_OP_NONE;
    return hits;
}

/* The operation of the entry happens once per call. A loop may lead back to the first block, so
 * its executions are not the calls. */
uint64_t fp_plan_hits(const struct fp_plan *plan, const struct fp_flow_counts *counts)
{
    const struct fp_dag *dag = plan->numbering->dag;
    const struct fp_cfg *cfg = dag->cfg;
    bool enters = plan->on[dag->entry_edge].kind != FP_OP_NONE;
    uint64_t hits = enters ? counts->entries : 0;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (counts->edges[e]) hits += counts->edges[e] * fp_hits_on_edge(plan, e);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint32_t here = fp_hits_in_block(plan, b) - (b == 0 && enters);
        if (!here) continue;
        uint64_t visits = b == 0 ? counts->entries : 0;
        for (uint32_t k = cfg->first_in[b]; k < cfg->first_in[b + 1]; k++)
            visits += counts->edges[cfg->in_edges[k]];
        hits += visits * here;
    }
    return hits;
}
