/* Looking functions up in a guide: see irguide.h. */
#include "llvm/read/irguide.h"

#include <stdio.h>

bool fp_ir_guide_open(struct fp_ir_guide *guide, struct fp_arena *arena, const char *path)
{
    struct fp_error error = {0};
    char message[512];
    *guide = (struct fp_ir_guide){.arena = arena};
    guide->open = fp_guide_open(arena, path, &guide->guide, &error);
    if (guide->open) return true;
    fp_error_text(&error, message, sizeof message);
    fprintf(stderr, "footpath: %s; the profile is not used\n", message);
    return false;
}

void fp_ir_guide_close(struct fp_ir_guide *guide)
{
    if (guide->open) fp_guide_close(&guide->guide);
    guide->open = false;
}

bool fp_ir_guide_find(struct fp_ir_guide *guide, const struct fp_ir *ir, uint64_t id,
                      struct fp_guide_function *found)
{
    if (!guide->open) return false;
    switch (fp_guide_find(ir->arena, &guide->guide, ir->f, id, found)) {
    case FP_GUIDE_FOUND: guide->found++; return true;
    case FP_GUIDE_ABSENT: guide->absent++; break;
    case FP_GUIDE_STALE:
        guide->stale++;
        fp_vec_push(guide->arena, &guide->stale_names, fp_arena_strdup(guide->arena, ir->f->name));
        break;
    }
    return false;
}

void fp_ir_guide_report(const struct fp_ir_guide *guide, const char *module_name)
{
    enum { MOST_NAMES = 3 };
    if (!guide->stale) return;
    fprintf(
        stderr,
        "footpath: %s: %u of %u functions changed since the profile was made; it is not used for",
        module_name, guide->stale, guide->stale + guide->found + guide->absent);
    for (size_t i = 0; i < guide->stale_names.len && i < MOST_NAMES; i++)
        fprintf(stderr, "%s %s", i ? "," : "", guide->stale_names.at[i]);
    fprintf(stderr, "%s\n", guide->stale > MOST_NAMES ? " and others" : "");
}

void fp_ir_guide_weights(struct fp_ir *ir, const struct fp_guide_function *found)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    double most = 1, scale = 0;
    for (uint32_t e = 0; ir->weights && e < cfg->nedges; e++)
        if (ir->weights[e] > most) most = ir->weights[e];
    for (uint32_t e = 0; e < cfg->nedges; e++) scale += (double)found->edges[e];
    if (scale == 0 && !found->entries) return; /* it never ran: the estimate is all there is */
    if (!ir->weights) ir->weights = FP_NEW_ARRAY(ir->arena, double, cfg->nedges);
    /* weights are relative to one call, as the estimates are */
    double calls = found->entries ? (double)found->entries : 1;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        ir->weights[e] = (double)found->edges[e] / calls + ir->weights[e] / most * 1e-9;
}
