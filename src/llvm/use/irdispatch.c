/* Copies of a dispatching switch: see irdispatch.h.
 *
 *      a   b   c            a   b   c        The jump to the switch is saved, one for each
 *       \  |  /             |   |   |        operation of an interpreter. Processors that
 *        switch      =>     s'  s'  s'       predict an indirect jump by its last target
 *       /  |  \            /|\ /|\ /|\       also predict one per operation better than
 *      a   b   c          a b c ...          one for all (Ertl and Gregg, The Structure and
 *                                            Performance of Efficient Interpreters, 2003);
 * those that predict by history do as well with one for all (docs/use.md).
 *
 * The switch is mostly the head of a loop, where paths end: which way follows which is
 * not in the profile, only that many ways come, that many go, and how often. A switch
 * that nearly always goes one way, or has one way in, stays as it is. So do blocks that
 * cannot be copied, and large ones. */
#include "llvm/use/irdispatch.h"

#include "llvm/shim.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_TARGETS = 4, /* successors with at least one in MINOR_SHARE of the executions */
    MINOR_SHARE = 100,
    LEAST_WAYS = 3,
    MOST_WAYS = 24,
    MOST_SIZE = 32,     /* instructions in the block of the switch */
    MOST_GROWTH = 600,  /* instructions in all copies of one switch */
    MOST_EDGES = 1500,  /* out of all copies: every value of the loop has a phi at each target */
    LEAST_COVERED = 90, /* percent of the executions by hot ways go to copies */
    LEAST_SHARE = 40,   /* the block has at least one in 40 of the function's instructions */
};

/* An edge to the switch; or to a block that only goes on to it, as the end of a loop's
 * body does, which is copied along. */
struct way {
    LLVMBasicBlockRef from, through;
    uint64_t count;
};

struct dispatch {
    uint32_t block;
    LLVMBasicBlockRef bb;
    uint64_t count;
    uint32_t size, ntargets, nways;
    struct way ways[MOST_WAYS];
};

static uint64_t block_count(const struct fp_cfg *cfg, const struct fp_guide_function *counts,
                            uint32_t b)
{
    uint64_t count = b ? 0 : counts->entries;
    for (uint32_t k = cfg->first_in[b]; k < cfg->first_in[b + 1]; k++)
        count += counts->edges[cfg->in_edges[k]];
    return count;
}

static uint64_t instructions_run(const struct fp_ir *ir, const struct fp_guide_function *counts)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        sum += block_count(cfg, counts, b) * ir->f->source.blocks[b].instructions;
    return sum;
}

static uint32_t size_of(LLVMBasicBlockRef bb)
{
    uint32_t size = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) size++;
    return size;
}

static bool leads_to(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (LLVMGetSuccessor(terminator, i) == to) return true;
    return false;
}

static int more_first(const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static bool only_goes_on(const struct fp_ir *ir, uint32_t block)
{
    LLVMBasicBlockRef bb = ir->blocks[block].bb;
    return ir->blocks[block].has_terminator && size_of(bb) <= MOST_SIZE / 2 &&
           fp_shim_can_copy(bb) &&
           LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(bb)) == LLVMBr &&
           LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(bb)) == 1;
}

/* Hot ways to a block. Indirect jumps cannot be led elsewhere. */
static void add_ways(const struct fp_ir *ir, const struct fp_guide_function *counts, uint64_t least,
                     struct dispatch *d, uint32_t block)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    LLVMBasicBlockRef to = ir->blocks[block].bb;
    for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
        uint32_t e = cfg->in_edges[k], from = cfg->edges[e].src;
        if (counts->edges[e] < least || cfg->edges[e].kind > FP_EDGE_SWITCH ||
            d->nways == MOST_WAYS)
            continue;
        LLVMBasicBlockRef bb = ir->blocks[from].bb;
        /* path-guided copies may have led it elsewhere */
        if (!bb || bb == d->bb || bb == to || !ir->blocks[from].has_terminator || !leads_to(bb, to))
            continue;
        if (block == d->block && fp_cfg_in_degree(cfg, from) > 1 && only_goes_on(ir, from))
            add_ways(ir, counts, least, d, from);
        else
            d->ways[d->nways++] = (struct way){bb, block == d->block ? NULL : to, counts->edges[e]};
    }
}

static uint64_t count_ways(const struct dispatch *d)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->nways; i++) sum += d->ways[i].count;
    return sum;
}

/* Most frequent first. Nearly all hot ways, or none: where many have no copy, the switch stays
 * a merge of those, and the values of the loop go through phis at both. */
static void find_ways(const struct fp_ir *ir, const struct fp_guide_function *counts,
                      const struct fp_ir_super *how, struct dispatch *d)
{
    uint64_t least = how->hot > d->count / MINOR_SHARE ? how->hot : d->count / MINOR_SHARE;
    add_ways(ir, counts, how->eager ? 1 : least, d, d->block);
    qsort(d->ways, d->nways, sizeof *d->ways, more_first);
    uint32_t nedges = LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(d->bb));
    uint64_t all = count_ways(d);
    while (d->nways && (d->nways * d->size > MOST_GROWTH || d->nways * nedges > MOST_EDGES))
        d->nways--;
    if (count_ways(d) < all / 100 * LEAST_COVERED) d->nways = 0;
}

static bool is_dispatch(const struct fp_ir *ir, const struct fp_guide_function *counts,
                        const struct fp_ir_super *how, struct dispatch *d)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    d->bb = ir->blocks[d->block].bb;
    if (!d->bb || !ir->blocks[d->block].has_terminator || !fp_shim_can_copy(d->bb)) return false;
    if (LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(d->bb)) != LLVMSwitch) return false;
    d->count = block_count(cfg, counts, d->block);
    d->size = size_of(d->bb);
    if (!d->count || (d->count < how->hot && !how->eager) || d->size > MOST_SIZE) return false;
    for (uint32_t e = cfg->first_out[d->block]; e < cfg->first_out[d->block + 1]; e++)
        d->ntargets += counts->edges[e] > d->count / MINOR_SHARE;
    find_ways(ir, counts, how, d);
    if (how->eager) return d->nways > 1;
    return d->ntargets >= LEAST_TARGETS && d->nways >= LEAST_WAYS;
}

static void explain(const struct fp_ir *ir, const struct fp_ir_super *how, const struct dispatch *d)
{
    struct fp_shim_location at;
    char text[256];
    if (!how->remark) return;
    unsigned line = fp_shim_location(LLVMGetBasicBlockTerminator(d->bb), &at) ? at.line : 0;
    snprintf(text, sizeof text,
             "copied: the switch in line %u, %u instructions, for %u ways to it; it goes %u ways, "
             "%llu times",
             line, d->size, d->nways, d->ntargets, (unsigned long long)d->count);
    how->remark(how->context, ir->f->name, text);
}

uint32_t fp_ir_copy_dispatch(struct fp_ir *ir, const struct fp_guide_function *counts,
                             const struct fp_ir_super *how)
{
    uint64_t run = instructions_run(ir, counts);
    uint32_t copies = 0;
    for (uint32_t b = 1; b < ir->f->paths.cfg->nblocks; b++) {
        struct dispatch d = {.block = b};
        if (!is_dispatch(ir, counts, how, &d)) continue;
        if (!how->eager && d.count * d.size < run / LEAST_SHARE) continue;
        explain(ir, how, &d);
        for (uint32_t i = 0; i < d.nways; i++) {
            LLVMBasicBlockRef old[] = {d.bb, d.ways[i].through}, fresh[2];
            fp_shim_copy_blocks(old, fresh, old[1] ? 2 : 1, NULL, 0, d.ways[i].from,
                                old[1] ? old[1] : d.bb);
            copies++;
        }
    }
    return copies;
}
