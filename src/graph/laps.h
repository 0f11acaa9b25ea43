/* Laps: loops with one way round.
 *
 *         |
 *         h <--.        A loop whose every block has one successor inside the
 *       / |    |        loop says nothing by its iterations but their number.
 *   exit  b ---'        So its closing edge does not end a path: paths run
 *       / |    lap      through the loop, from before it to after it, and the
 *   exit               closing edge has a counter of its own.
 *
 * Paper 001 treats self loops this way ("self loops"); here it holds for longer
 * bodies, and for a loop around such loops, as in a nest of counted loops. To a
 * reader of profiles a lap is one more path: once round from the header.
 *
 * Nothing may be added to the path register on the way round, so those edges,
 * like unwind edges, are pinned into the spanning tree. A loop that would make
 * pinned edges close a cycle (two of its blocks unwind to one pad) is no lap,
 * nor is a loop that nothing leaves: its paths would never end.
 */
#ifndef FP_GRAPH_LAPS_H
#define FP_GRAPH_LAPS_H

#include "graph/loops.h"
#include "graph/order.h"

struct fp_lap {
    uint32_t closing; /* the edge back to the header */
    uint32_t nedges;  /* the kept edges from the header to its source, in order */
    uint32_t *edges;
};

struct fp_laps {
    struct fp_lap *at;
    uint32_t len;
    const uint32_t
        *number; /* per lap, where some are copies (blockcopies.h): the one that it counts as.
                               NULL: as they are */
};

static inline uint32_t fp_lap_number(const struct fp_laps *laps, uint32_t lap)
{
    return laps->number ? laps->number[lap] : lap;
}

/* needs: order, loops. changes: order->fate of the closing edges found. */
void fp_laps_find(struct fp_arena *arena, const struct fp_cfg *cfg, const struct fp_loops *loops,
                  struct fp_order *order, struct fp_laps *laps);

#endif
