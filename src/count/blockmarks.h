/* What blocks are known by in another version of their function (graph/blockmatch.h): what
 * the compiler noted of their instructions (llvm/read/ircontent.h), else how many these are; what
 * the blocks call; which functions are inlined there. Lines count from the function's first one,
 * since lines above it come and go.
 *
 * Both sides of a comparison must be of the same kind: of code before inlining, or after it. */
#ifndef FP_COUNT_BLOCKMARKS_H
#define FP_COUNT_BLOCKMARKS_H

#include "count/function.h"
#include "graph/blockmatch.h"

/* needs: FP_FUNCTION_CALLS. Per block of the cfg. */
struct fp_block_mark *fp_function_marks(struct fp_arena *arena, const struct fp_function *f);

/* The whole function but for its name: a function with this number under another name, or in
 * another file, is this one. 0: it is too small to be told from others. */
uint64_t fp_function_content(const struct fp_function *f, const struct fp_block_mark *marks);

#endif
