/* Branch records: see branches.h. */
#include "perf/branches.h"

struct branch_counting {
    const struct fp_machine_function *f;
    double *steps; /* per instruction: number of runs over it less that over the one before */
    struct fp_branch_counts *out;
};

static void add_to_edge(struct branch_counting *c, uint32_t src, uint32_t dst, uint64_t count)
{
    const struct fp_cfg *cfg = c->f->cfg;
    for (uint32_t e = cfg->first_out[src]; e < cfg->first_out[src + 1]; e++)
        if (cfg->edges[e].dst == dst) {
            c->out->edges[e] += (double)count;
            return;
        }
}

/* A run that is not within one function, or not in order, comes from damaged records. */
static void add_run(struct branch_counting *c, const struct fp_flow_hits *run)
{
    const struct fp_machine_function *f = c->f;
    uint32_t at = fp_machine_insn(f, run->from, true), end = fp_machine_insn(f, run->to, true);
    if (at == FP_NONE || end == FP_NONE || at > end) return;
    for (uint32_t i = at; i <= end; i++)
        if (i < end && f->insns.at[i].address + f->insns.at[i].length != f->insns.at[i + 1].address)
            return;
    c->steps[at] += (double)run->count;
    c->steps[end + 1] -= (double)run->count;
    for (uint32_t i = at; i < end; i++) {
        uint32_t block = f->insns.at[i].block, next = f->insns.at[i + 1].block;
        if (block != next && block != FP_NONE && next != FP_NONE)
            add_to_edge(c, block, next, run->count);
    }
}

/* Calls and returns are branch records too, but not edges. */
static bool is_jump(const struct fp_insn *insn)
{
    return insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH ||
           insn->kind == FP_INSN_JUMP_INDIRECT;
}

static void add_branch(struct branch_counting *c, const struct fp_flow_hits *branch)
{
    const struct fp_machine_function *f = c->f;
    uint32_t from = fp_machine_insn(f, branch->from, true),
             to = fp_machine_insn(f, branch->to, true);
    if (from == FP_NONE || to == FP_NONE || !is_jump(&f->insns.at[from])) return;
    if (f->insns.at[from].block == FP_NONE || f->insns.at[to].block == FP_NONE) return;
    add_to_edge(c, f->insns.at[from].block, f->insns.at[to].block, branch->count);
}

static size_t first_from(const struct fp_flow_hits *all, size_t len, uint64_t address)
{
    size_t low = 0, high = len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].from < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_blocks(struct branch_counting *c)
{
    double runs = 0;
    for (uint32_t i = 0; i < c->f->insns.len; i++) {
        uint32_t block = c->f->insns.at[i].block;
        runs += c->steps[i];
        if (block != FP_NONE && runs > c->out->blocks[block]) c->out->blocks[block] = runs;
    }
    for (uint32_t b = 0; b < c->f->cfg->nblocks; b++) c->out->total += c->out->blocks[b];
}

/* Blocks without code have no addresses that a record could name. */
static void mark_unknown(struct branch_counting *c)
{
    const struct fp_machine_function *f = c->f;
    for (uint32_t e = 0; e < f->cfg->nedges; e++) {
        const struct fp_edge *edge = &f->cfg->edges[e];
        if (!f->blocks[edge->src].ninsns || !f->blocks[edge->dst].ninsns) c->out->edges[e] = -1;
    }
}

void fp_branch_count(struct fp_arena *arena, const struct fp_perf_object *s,
                     const struct fp_machine_function *f, struct fp_branch_counts *out)
{
    struct branch_counting c = {f, FP_NEW_ARRAY(arena, double, f->insns.len + 1), out};
    *out = (struct fp_branch_counts){.blocks = FP_NEW_ARRAY(arena, double, f->cfg->nblocks),
                                     .edges = FP_NEW_ARRAY(arena, double, f->cfg->nedges)};
    for (size_t r = 0; r < f->ranges.len; r++) {
        uint64_t from = f->ranges.at[r].address, size = f->ranges.at[r].size;
        size_t i = first_from(s->branches.at, s->branches.len, from);
        for (; i < s->branches.len && s->branches.at[i].from - from < size; i++)
            add_branch(&c, &s->branches.at[i]);
        i = first_from(s->spans.at, s->spans.len, from);
        for (; i < s->spans.len && s->spans.at[i].from - from < size; i++)
            add_run(&c, &s->spans.at[i]);
    }
    count_blocks(&c);
    mark_unknown(&c);
}
