/* Which of the places where a line may have run unseen the map has to name.
 *
 * They serve one question: may a line whose code has 0 have run all the same? A place says nothing
 * new where code of the line ran whenever the place did, or where another place of the line did.
 */
#ifndef FP_LLVM_IRNEEDED_H
#define FP_LLVM_IRNEEDED_H

#include "llvm/read/irgraph.h"
#include "llvm/read/irlines.h"
#include "llvm/sense/survey.h"

/* All places of all lines, each entry of one line. */
struct fp_unseen_lines {
    const struct fp_unseen *at;
    size_t n;
    struct fp_survey *survey;
    uint32_t own_file; /* the scope of the file that is compiled, or FP_NONE */
};

/* Fills f->source.unseen with what is needed. needs: cfg, blocks, lines. A line keeps at most
 * eight places: more are replaced by some that ran whenever one of them did. */
void fp_ir_keep_needed(struct fp_ir *ir, struct fp_ir_lines *lines,
                       const struct fp_unseen_lines *all);

#endif
