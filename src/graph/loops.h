/* The loop nest: which loop each block lies in, and how deep. */
#ifndef FP_GRAPH_LOOPS_H
#define FP_GRAPH_LOOPS_H

#include "base/bitset.h"
#include "graph/cfg.h"

struct fp_loops {
    uint32_t *header;             /* innermost loop around a block (not counting the loop the
                         block itself heads), by its header; or FP_NONE */
    uint32_t *depth;              /* loops around a block, the one it heads included */
    struct fp_bitset heads;       /* blocks that head a loop */
    struct fp_bitset irreducible; /* headers of loops with another way in */
};

void fp_loops_find(struct fp_arena *arena, const struct fp_cfg *cfg, struct fp_loops *loops);

/* Is block in the loop that `header` heads (the header included)? */
bool fp_loops_contain(const struct fp_loops *loops, uint32_t header, uint32_t block);

/* Does the edge lead out of the loop around its source, which mostly goes on? What is done in front
 * of the branch for such an edge is done in every round, for the last one alone. */
bool fp_loops_seldom_left_by(const struct fp_loops *loops, const struct fp_cfg *cfg,
                             const double *weights, uint32_t edge);

#endif
