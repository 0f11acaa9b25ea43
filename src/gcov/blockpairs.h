/* Blocks of one function in the graphs of two compilers, paired by their lines.
 *
 * Where a line has other blocks in one graph than in the other, the line alone does not say which
 * is which. The lines before and behind it do: pairs share a line, keep the order of the source
 * (sourceorder.h), and are those that are alike most.
 */
#ifndef FP_GCOV_BLOCKPAIRS_H
#define FP_GCOV_BLOCKPAIRS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FP_MOST_LINES = 32 }; /* of a block: a table's initialisation may have thousands */

struct fp_lined_block {
    const uint32_t *lines;
    uint32_t nlines; /* at most FP_MOST_LINES */
    bool branches;
};

/* Per block of `a` the one of `b`, or FP_NONE; both in the order of the source. False: there are
 * too many of them, or of their lines, to compare. */
bool fp_pair_blocks(struct fp_arena *scratch, const struct fp_lined_block *a, size_t n,
                    const struct fp_lined_block *b, size_t m, uint32_t *pairs);

#endif
