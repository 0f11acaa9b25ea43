/* Copies of blocks of machine code, so that path sums are constants there (graph/blockcopies.h).
 *
 * The function is counted and moved with more blocks than it has: first its own, with their
 * numbers, then the copies. Instructions likewise. Whatever is known outside of the new code by a
 * number of a block or an instruction (the map, jumps from old code, traps, unwind tables) is known
 * by the old one.
 */
#ifndef FP_EXE_COPIEDCODE_H
#define FP_EXE_COPIEDCODE_H

#include "exe/counting.h"

struct fp_copied_code {
    const struct fp_machine_function *old;
    struct fp_copied_graph *graph;
    struct fp_machine_function m; /* with the copies */
    uint32_t *insn_of;            /* per instruction of m: the old one */
};

/* Where blocks are copied, and how many. */
struct fp_copy_budget {
    uint64_t bytes;    /* at most, in this function */
    bool measured;     /* the weights are */
    double least_gain; /* executions of a copy for each of its bytes, for one call */
    void (*tell)(void *context, uint32_t bytes, double gain); /* as in graph/blockcopies.h */
    void *context;
};

/* Copies blocks where that pays. c->copied stays NULL where it does not. needs: a plan.
 * changes: m, paths, weights, plan. */
void fp_counting_copy(struct fp_counting *c, const struct fp_copy_budget *budget);

/* The old number of a block or instruction. */
uint32_t fp_copied_block(const struct fp_counting *c, uint32_t block);
uint32_t fp_copied_insn(const struct fp_counting *c, uint32_t insn);

/* What the map says of each block, with copies: a frame's mark has the whole sum (inflight.h). */
void fp_copied_facts(const struct fp_counting *c, struct fp_layout *layout);

#endif
