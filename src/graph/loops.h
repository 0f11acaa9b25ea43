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

#endif
