/* Lines that may have run where no code says so.
 *
 * After optimisation a block of the source may have no instruction of its own left in one copy of
 * the code, and some in another: what was known was folded, what was equal was merged. A line
 * that has 0 by the blocks with its code may then have run all the same. The survey (sense/)
 * still knows the blocks of the source and where each leads. So between two instructions that
 * follow each other in the optimised code, it tells which blocks of the source may lie between
 * them. Their lines are noted with the edge or block of the cfg where that is. Where a way out of
 * a branch says which condition held, only blocks on that side are between.
 *
 * Moved instructions make this longer or shorter than the truth; docs/lines.md has figures.
 */
#ifndef FP_LLVM_IRUNSEEN_H
#define FP_LLVM_IRUNSEEN_H

#include "llvm/read/irgraph.h"
#include "llvm/read/irlines.h"
#include "llvm/sense/sense.h"

/* Per edge of the cfg: the branch that it leaves, and the block of the survey that it leads to, or
 * FP_NONE. */
struct fp_ir_way {
    struct fp_sense_branch branch;
    uint32_t to;
};

/* Fills f->source.unseen. needs: cfg, blocks, lines. Adds scopes to `lines`. */
void fp_ir_list_unseen(struct fp_ir *ir, struct fp_ir_lines *lines, struct fp_survey *survey,
                       const struct fp_ir_way *ways);

#endif
