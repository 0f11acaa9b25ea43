/* Copies of blocks, so that sums of paths are constants in them (graph/blockcopies.h).
 *
 * From fp_job_copy_blocks to fp_job_forget_copies the function is the one with its copies: in
 * f->paths, and in what ir has per block and edge. Readers of profiles know nothing of copies: the
 * map, the id and the layout of counters are those of the function without. Only with --fp-exits
 * the map lists the copies, since a frame may be left in one. */
#ifndef FP_LLVM_CODECOPIES_H
#define FP_LLVM_CODECOPIES_H

#include "llvm/work.h"

/* Copies blocks where that pays. Needs: weights, the numbering, the layout of path counters. */
void fp_job_copy_blocks(struct fp_job *job);

/* Of a block or an edge, the one that it is a copy of, or itself. */
uint32_t fp_job_old_block(const struct fp_job *job, uint32_t block);
uint32_t fp_job_old_edge(const struct fp_job *job, uint32_t edge);
/* The paths of the function without copies, and its weights per edge. */
const struct fp_paths *fp_job_old_paths(const struct fp_job *job);
const double *fp_job_old_weights(const struct fp_job *job);

/* The plan is one for the function with its copies: it and the layout of counters agree then. */
void fp_job_fit_copies(struct fp_job *job);

/* With FP_FUNCTION_EXITS: which blocks the copies are of, for the reader of profiles. */
void fp_job_note_left_copies(struct fp_job *job);

void fp_job_forget_copies(struct fp_job *job);

#endif
