/* Laps counted where their loop is left: see lapexits.h. */
#include "graph/lapexits.h"

/* A loop must be expected to go round this many times per exit, or it does not pay. */
static const double WORTHWHILE = 3;

uint32_t fp_lap_block(const struct fp_cfg *cfg, const struct fp_lap *lap, uint32_t k)
{
    return k ? cfg->edges[lap->edges[k - 1]].dst : cfg->edges[lap->closing].dst;
}

uint32_t fp_lap_place(const struct fp_cfg *cfg, const struct fp_lap *lap, uint32_t block)
{
    for (uint32_t k = 0; k <= lap->nedges; k++)
        if (fp_lap_block(cfg, lap, k) == block) return k;
    return FP_NONE;
}

/* Does an edge out of the k-th block leave the loop? */
static bool leaves(const struct fp_truncation *t, const struct fp_lap *lap, uint32_t k, uint32_t e)
{
    if (e == lap->closing || t->order.fate[e] == FP_FATE_DEAD) return false;
    /* the lap of a loop inside this one stays here */
    if (t->order.fate[e] == FP_FATE_LAP &&
        fp_lap_place(t->cfg, lap, t->cfg->edges[e].dst) != FP_NONE)
        return false;
    return k == lap->nedges || e != lap->edges[k];
}

static uint32_t exit_of(const struct fp_truncation *t, const struct fp_lap *lap,
                        const double *weights)
{
    const struct fp_cfg *cfg = t->cfg;
    uint32_t exit = FP_NONE;
    for (uint32_t k = 0; k <= lap->nedges; k++) {
        uint32_t block = fp_lap_block(cfg, lap, k);
        if (cfg->flags[block] & (FP_BLOCK_LEAVES | FP_BLOCK_PAD | FP_BLOCK_HUB)) return FP_NONE;
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            if (!leaves(t, lap, k, e)) continue;
            if (exit != FP_NONE || cfg->edges[e].kind > FP_EDGE_SWITCH) return FP_NONE;
            exit = e;
        }
    }
    if (exit == FP_NONE) return FP_NONE;
    return weights[lap->closing] > WORTHWHILE * weights[exit] ? exit : FP_NONE;
}

uint32_t *fp_lap_exits(struct fp_arena *arena, const struct fp_truncation *truncation,
                       const double *weights)
{
    const struct fp_laps *laps = &truncation->laps;
    uint32_t *exits = FP_NEW_ARRAY(arena, uint32_t, laps->len);
    for (uint32_t i = 0; i < laps->len; i++) exits[i] = exit_of(truncation, &laps->at[i], weights);
    return exits;
}
