/* Copies of blocks of machine code: see copiedcode.h. */
#include "exe/copiedcode.h"

#include "graph/blockcopies.h"
#include "graph/weights.h"

/* ---- what can be copied ---- */

enum {
    JUMP_BYTES = 5, /* at the end of a copy */
    PAD_BYTES = 24, /* code that sets the register where an exception lands */
};

/* Control comes to the targets of a jump table by their old addresses: two jumps cannot share
 * them, if a sum is to be a constant behind one of the two. */
static bool has_plain_ways(const struct fp_cfg *cfg, uint32_t b)
{
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        if (cfg->edges[e].kind == FP_EDGE_SWITCH || cfg->edges[e].kind == FP_EDGE_TWICE)
            return false;
    for (uint32_t i = cfg->first_in[b]; i < cfg->first_in[b + 1]; i++)
        if (cfg->edges[cfg->in_edges[i]].kind == FP_EDGE_TWICE) return false;
    return true;
}

static uint32_t bytes_of(const struct fp_machine_function *m, uint32_t b)
{
    uint32_t bytes = JUMP_BYTES;
    if (m->cfg->flags[b] & FP_BLOCK_PAD) return PAD_BYTES;
    if (!fp_counting_has_code(m, b) || !has_plain_ways(m->cfg, b)) return 0;
    for (uint32_t i = m->blocks[b].first_insn; i <= fp_counting_last(m, b); i++)
        bytes += m->insns.at[i].length;
    return bytes;
}

/* An operation on a register takes one instruction, on the slot two. A register is rarely free
 * where calls are made. */
static double register_cost(const struct fp_machine_function *m)
{
    for (size_t i = 0; i < m->insns.len; i++)
        if (m->insns.at[i].kind == FP_INSN_CALL && m->insns.at[i].block != FP_NONE) return 1.7;
    return 1.1;
}

/* ---- the function with its copies ---- */

static void copy_insns(struct fp_counting *c, struct fp_copied_code *x)
{
    struct fp_machine_function *m = &x->m;
    const struct fp_cfg *cfg = x->graph->cfg;
    size_t n = x->old->insns.len, all = n;
    for (uint32_t b = x->old->cfg->nblocks; b < cfg->nblocks; b++)
        all += x->old->blocks[x->graph->block_of[b]].ninsns;
    m->insns.at = FP_NEW_ARRAY(c->arena, struct fp_insn, all);
    m->insns.cap = all;
    m->blocks = FP_NEW_ARRAY(c->arena, struct fp_machine_block, cfg->nblocks);
    x->insn_of = FP_NEW_ARRAY(c->arena, uint32_t, all);
    memcpy(m->insns.at, x->old->insns.at, n * sizeof *m->insns.at);
    for (uint32_t i = 0; i < n; i++) x->insn_of[i] = i;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        m->blocks[b] = x->old->blocks[x->graph->block_of[b]];
        if (b < x->old->cfg->nblocks) continue;
        uint32_t first = m->blocks[b].first_insn;
        m->blocks[b].first_insn = (uint32_t)m->insns.len;
        for (uint32_t i = first; i < first + m->blocks[b].ninsns; i++) {
            x->insn_of[m->insns.len] = i;
            m->insns.at[m->insns.len] = x->old->insns.at[i];
            m->insns.at[m->insns.len++].block = b;
        }
    }
}

static struct fp_copied_code *copy_code(struct fp_counting *c, struct fp_copied_graph *graph)
{
    struct fp_copied_code *x = FP_NEW(c->arena, struct fp_copied_code);
    *x = (struct fp_copied_code){.old = c->m, .graph = graph, .m = *c->m};
    x->m.cfg = graph->cfg;
    x->m.edges = FP_NEW_ARRAY(c->arena, struct fp_edge_info, graph->cfg->nedges);
    for (uint32_t e = 0; e < graph->cfg->nedges; e++)
        x->m.edges[e] = c->m->edges[graph->edge_of[e]];
    copy_insns(c, x);
    return x;
}

/* ---- counts in front of branches ---- */

static bool is_critical(const struct fp_cfg *cfg, uint32_t e)
{
    return fp_cfg_out_degree(cfg, cfg->edges[e].src) > 1 &&
           fp_cfg_in_degree(cfg, cfg->edges[e].dst) > 1;
}

/* A count in front of the branch of a block is made in all its copies or in none: readers know the
 * old block alone. It stays where that takes less than counting on the edges. */
static void move_counts(const struct fp_copied_graph *g, const uint32_t *old, struct fp_plan *plan,
                        uint32_t nblocks)
{
    struct fp_arena scratch = {0};
    double *gain = FP_NEW_ARRAY(&scratch, double, nblocks);
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        uint32_t b = g->block_of[g->cfg->edges[e].src];
        if (old[b] == FP_NONE) continue;
        gain[b] -= g->weights[e];
        if (g->edge_of[e] == old[b]) gain[b] += g->weights[e] * (is_critical(g->cfg, e) ? 2 : 1);
    }
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        uint32_t u = g->cfg->edges[e].src, b = g->block_of[u];
        if (g->edge_of[e] == old[b] && gain[b] >= 0) plan->at_end[u] = e;
    }
    fp_arena_free(&scratch);
}

/* ---- the whole ---- */

/* Marks have the sum itself: its distance from the register must fit (oldcode.c). */
static bool fits(const struct fp_plan *plan, uint32_t nblocks)
{
    enum { MOST = 1 << 24 };
    for (uint32_t b = 0; b < nblocks; b++)
        if (plan->offset[b] >= MOST || plan->offset[b] <= -MOST) return false;
    return true;
}

static struct fp_copied_graph *choose(struct fp_counting *c, const struct fp_copy_budget *budget)
{
    struct fp_arena scratch = {0};
    uint32_t n = c->m->cfg->nblocks, *bytes = FP_NEW_ARRAY(&scratch, uint32_t, n);
    double *cost = FP_NEW_ARRAY(&scratch, double, n), per_operation = register_cost(c->m);
    for (uint32_t b = 0; b < n; b++) {
        bytes[b] = bytes_of(c->m, b);
        cost[b] = per_operation;
    }
    struct fp_copy_options how = {.weights = c->weights,
                                  .counted = c->plan->counted,
                                  .bytes = bytes,
                                  .register_cost = cost,
                                  .most_bytes = budget->bytes,
                                  .laps = budget->measured,
                                  .least_gain = budget->least_gain,
                                  .tell = budget->tell,
                                  .context = budget->context};
    struct fp_copied_graph *graph = fp_copy_blocks(c->arena, c->paths.numbering, &how);
    fp_arena_free(&scratch);
    return graph;
}

void fp_counting_copy(struct fp_counting *c, const struct fp_copy_budget *budget)
{
    if (!budget->bytes || !c->plan) return;
    struct fp_copied_graph *g = choose(c, budget);
    if (!g) return;
    struct fp_copied_code *copied = copy_code(c, g);
    struct fp_counting with = {.arena = c->arena, .m = &copied->m, .exits = c->exits};
    struct fp_plan_options how = fp_counting_plan_options(&with);
    struct fp_plan *plan = fp_plan_make(c->arena, g->numbering, g->weights, &how);
    if (!fits(plan, g->cfg->nblocks)) return;
    for (uint32_t b = 0; b < g->cfg->nblocks; b++) plan->at_end[b] = FP_NONE;
    move_counts(g, c->plan->at_end, plan, c->m->cfg->nblocks);
    c->copied = copied;
    c->m = &c->copied->m;
    c->paths = (struct fp_paths){
        .cfg = g->cfg, .truncation = g->truncation, .dag = g->dag, .numbering = g->numbering};
    c->weights = g->weights;
    c->plan = plan;
}

uint32_t fp_copied_block(const struct fp_counting *c, uint32_t block)
{
    return c->copied && block != FP_NONE ? c->copied->graph->block_of[block] : block;
}

uint32_t fp_copied_insn(const struct fp_counting *c, uint32_t insn)
{
    return c->copied ? c->copied->insn_of[insn] : insn;
}

void fp_copied_facts(const struct fp_counting *c, struct fp_layout *layout)
{
    const struct fp_copied_graph *g = c->copied->graph;
    uint32_t n = c->copied->old->cfg->nblocks;
    layout->at_end = FP_NEW_ARRAY(c->arena, uint32_t, n);
    layout->counted = FP_NEW_ARRAY(c->arena, bool, n);
    layout->has_register = FP_NEW_ARRAY(c->arena, bool, n);
    layout->offset = FP_NEW_ARRAY(c->arena, int64_t, n);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t e = c->plan->at_end[b];
        layout->at_end[b] = e == FP_NONE ? FP_NONE : g->edge_of[e];
        layout->counted[b] = c->plan->counted[b];
        layout->has_register[b] = true;
    }
}
