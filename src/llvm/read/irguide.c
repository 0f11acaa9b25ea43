/* Looking functions up in a guide: see irguide.h. */
#include "llvm/read/irguide.h"

#include "guide/staleguide.h"
#include "llvm/read/ircalls.h"
#include "llvm/read/ircontent.h"

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

static void note_stale(struct fp_ir_guide *guide, const struct fp_ir *ir)
{
    guide->stale++;
    fp_vec_push(guide->arena, &guide->stale_names, fp_arena_strdup(guide->arena, ir->f->name));
}

bool fp_ir_guide_find(struct fp_ir_guide *guide, const struct fp_ir *ir, uint64_t id,
                      struct fp_guide_function *found)
{
    if (!guide->open) return false;
    switch (fp_guide_find(ir->arena, &guide->guide, ir->f, id, found)) {
    case FP_GUIDE_FOUND: guide->found++; return true;
    case FP_GUIDE_ABSENT: guide->absent++; break;
    case FP_GUIDE_STALE: note_stale(guide, ir); break;
    }
    return false;
}

bool fp_ir_guide_find_stale(struct fp_ir_guide *guide, struct fp_ir *ir, uint64_t id,
                            struct fp_guide_function *found, double *share)
{
    struct fp_guide_placed placed;
    enum fp_guide_match match = fp_guide_find(ir->arena, &guide->guide, ir->f, id, found);
    *share = 1;
    if (match == FP_GUIDE_FOUND) {
        guide->found++;
        return true;
    }
    fp_ir_list_calls(ir);
    fp_ir_list_sites(ir);
    fp_ir_mark_content(ir);
    bool ok = fp_guide_find_stale(ir->arena, &guide->guide, ir->f, match, found, &placed);
    guide->total_counts += placed.total;
    if (placed.total > 0) *share = placed.placed / placed.total;
    if (ok) {
        guide->placed++;
        guide->moved += placed.moved;
        guide->placed_counts += placed.placed;
    } else if (match == FP_GUIDE_ABSENT) {
        guide->absent++;
    } else {
        note_stale(guide, ir);
    }
    return ok;
}

static void print_names(const struct fp_ir_guide *guide)
{
    enum { MOST_NAMES = 3 };
    for (size_t i = 0; i < guide->stale_names.len && i < MOST_NAMES; i++)
        fprintf(stderr, "%s %s", i ? "," : "", guide->stale_names.at[i]);
    fprintf(stderr, "%s", guide->stale > MOST_NAMES ? " and others" : "");
}

void fp_ir_guide_report(const struct fp_ir_guide *guide, const char *module_name)
{
    uint32_t changed = guide->stale + guide->placed;
    if (!changed) return;
    fprintf(stderr, "footpath: %s: %u of %u functions changed since the profile was made;",
            module_name, changed, changed + guide->found + guide->absent);
    if (guide->total_counts > 0)
        fprintf(stderr, " %.1f%% of their counts found a place%s",
                100 * guide->placed_counts / guide->total_counts, guide->stale ? ";" : "");
    else if (!guide->stale)
        fprintf(stderr, " they never ran");
    if (guide->stale) {
        fprintf(stderr, " it is not used for");
        print_names(guide);
    }
    fprintf(stderr, "\n");
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
