/* Conditions that a branch decides beside its own: see passed.h. */
#include "llvm/sense/passed.h"

#include "llvm/sense/certain.h"

#include <string.h>

enum { MOST_PASSED = 64 };

/* A condition and the way out of it that was taken. */
struct passed {
    uint32_t block, way;
};

struct all_passed {
    struct passed at[MOST_PASSED];
    uint32_t n;
};

/* What is looked for: where a branch in the place of `from` leads. */
struct passing {
    struct fp_sense *sense;
    const struct fp_body *body;
    uint32_t from;
    LLVMValueRef branch;
    uint8_t *marks; /* one per block, to search with */
};

static bool leads_to_branch(const struct passing *p, uint32_t block)
{
    memset(p->marks, 0, p->body->f->nblocks);
    fp_mark_reached(p->sense, p->body->f, block, FP_NONE, 1, p->marks);
    return p->marks[p->from];
}

/* Does a branch in the place of `from` lead to a block? */
static bool leads_from_branch(const struct passing *p, uint32_t block)
{
    const struct fp_surveyed *f = p->body->f;
    const struct fp_surveyed_block *b = &f->blocks[p->from];
    memset(p->marks, 0, f->nblocks);
    for (uint32_t w = b->first_way; w < b->first_way + b->nways; w++)
        fp_mark_reached(p->sense, f, f->ways[w].block, p->from, 1, p->marks);
    return p->marks[block];
}

/* The block of the survey that an instruction says was reached behind a branch. Ends of blocks do
 * not move. Calls may, past a branch that came after them, which a loop makes one before them. */
static uint32_t block_reached(const struct passing *p, LLVMValueRef instruction)
{
    bool call = LLVMIsACallInst(instruction);
    if (!call && !LLVMIsATerminatorInst(instruction)) return FP_NONE;
    if (call && LLVMIsAIntrinsicInst(instruction)) return FP_NONE;
    uint32_t block = fp_body_block(p->body, instruction);
    return block == FP_NONE || (call && leads_to_branch(p, block)) ? FP_NONE : block;
}

/* The first block of the survey that a way out of a branch leads to, or FP_NONE. */
static uint32_t first_reached(const struct passing *p, LLVMBasicBlockRef to)
{
    for (int k = 0; k < FP_FARTHEST_BLOCKS; k++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(to);
        if (fp_ir_is_own(p->sense, end)) return FP_NONE;
        for (LLVMValueRef at = LLVMGetFirstInstruction(to); at; at = LLVMGetNextInstruction(at)) {
            uint32_t block = block_reached(p, at);
            if (block != FP_NONE) return block;
        }
        if (!fp_ir_goes_on(end)) return FP_NONE;
        to = LLVMGetSuccessor(end, 0);
    }
    return FP_NONE;
}

/* The one block and way that lead to a block; false where several do. */
static bool only_way_to(const struct fp_surveyed *f, uint32_t block, struct passed *found)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->nblocks; b++)
        for (uint32_t w = 0; w < f->blocks[b].nways; w++)
            if (f->ways[f->blocks[b].first_way + w].block == block)
                *found = (struct passed){b, w}, n++;
    return n == 1;
}

/* The conditions in front of a block that every way there passes, back to `from`. Those that have a
 * branch are told there. Of another line, the branch would bring that line its count. */
static void find_passed(const struct passing *p, uint32_t block, struct all_passed *all)
{
    const struct fp_surveyed *f = p->body->f;
    struct passed last = {0};
    for (int i = 0; i < MOST_PASSED && only_way_to(f, block, &last); i++) {
        const struct fp_surveyed_block *b = &f->blocks[last.block];
        if (last.block == p->from) return;
        block = last.block;
        if (b->ending == FP_ENDING_CONDITION && b->true_way != FP_NONE &&
            b->line == f->blocks[p->from].line &&
            !fp_body_has_branch(p->sense, p->body, block, p->branch))
            all->at[all->n++] = last;
    }
}

static void label_by(const struct fp_surveyed_block *b, const struct passed *passed, uint32_t n,
                     uint32_t block, struct fp_edge_info *label)
{
    for (uint32_t i = 0; i < n; i++)
        if (passed[i].block == block)
            label->label = passed[i].way == b->true_way ? FP_LABEL_TRUE : FP_LABEL_FALSE;
}

uint32_t fp_passed_label(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                         LLVMValueRef branch, struct fp_edge_info *labels)
{
    struct passing p = {s, body, block, branch, FP_NEW_ARRAY(s->arena, uint8_t, body->f->nblocks)};
    struct all_passed all[2] = {0};
    if (!fp_ir_is_branch(branch)) return FP_NONE;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t to = first_reached(&p, LLVMGetSuccessor(branch, i));
        if (to != FP_NONE && leads_from_branch(&p, to)) find_passed(&p, to, &all[i]);
    }
    if (!all[0].n && !all[1].n) return FP_NONE;
    /* the one nearest to the branch */
    const struct all_passed *some = &all[all[0].n ? 0 : 1];
    uint32_t told = some->at[some->n - 1].block;
    for (unsigned i = 0; i < 2; i++)
        label_by(&body->f->blocks[told], all[i].at, all[i].n, told, &labels[i]);
    if (labels[0].label != labels[1].label) return told;
    labels[0].label = labels[1].label = FP_LABEL_NONE;
    return FP_NONE;
}
