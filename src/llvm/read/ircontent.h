/* What the blocks of a function do, as numbers that find them again in another version of it
 * (graph/blockmatch.h): fills `content` and `kind` of f->source.blocks. Needs: the blocks as they
 * were read. */
#ifndef FP_LLVM_IRCONTENT_H
#define FP_LLVM_IRCONTENT_H

#include "llvm/read/irgraph.h"

void fp_ir_mark_content(struct fp_ir *ir);

#endif
