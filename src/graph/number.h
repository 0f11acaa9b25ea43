/* Path numbering: a value per dag edge such that every path has its own sum,
 * and the way back from a sum to its path.
 *
 * Ball-Larus numbering (paper 001) gives sums that are dense in [0, num_paths).
 * The order in which a vertex's out-edges take their values is free:
 *   largest last  keeps values small (paper 001, implementation)
 *   hottest first gives the hottest edge value 0: smart numbering (paper 002,
 *                 Figure 4)
 * Behind the paths come the laps: lap k has id num_paths + k.
 */
#ifndef FP_GRAPH_NUMBER_H
#define FP_GRAPH_NUMBER_H

#include "graph/dag.h"

enum fp_numbering_order { FP_NUMBER_LARGEST_LAST, FP_NUMBER_HOTTEST_FIRST };

struct fp_numbering {
    const struct fp_dag *dag;
    uint64_t *npaths;   /* per vertex: paths from it to EXIT */
    uint64_t *value;    /* per dag edge */
    uint32_t *by_value; /* out-edges of v, by value: by_value[first_out[v]] .. */
    uint64_t num_paths;
    uint64_t num_ids; /* with the laps */
};

/* weights are per dag edge; only hottest-first needs them.
 * needs: at most FP_MAX_PATHS paths, which truncation ensures. */
struct fp_numbering *fp_number(struct fp_arena *arena, const struct fp_dag *dag,
                               enum fp_numbering_order how, const double *weights);

/* With the order of each vertex's out-edges given: by_value is a permutation of
 * the dag edges that keeps each within its vertex. */
struct fp_numbering *fp_number_as_stored(struct fp_arena *arena, const struct fp_dag *dag,
                                         const uint32_t *by_value);

enum fp_path_start { FP_STARTS_AT_ENTRY, FP_STARTS_AT_EDGE };
enum fp_path_end {
    FP_ENDS_AT_EXIT, /* left the function */
    FP_ENDS_AT_EDGE, /* a truncated edge, end_edge */
    FP_ENDS_AS_LAP,  /* back at its header, by end_edge */
    FP_ENDS_INSIDE,  /* a partial path: left in mid-block */
};

struct fp_path {
    enum fp_path_start start;
    enum fp_path_end end;
    uint32_t first_block, last_block;
    uint32_t end_edge; /* cfg edge, or FP_NONE */
    uint32_t nedges;   /* kept edges between first_block and last_block */
    uint32_t *edges;   /* in the arena of the call */
};

/* False when id is not below num_ids. */
bool fp_path_decode(struct fp_arena *arena, const struct fp_numbering *numbering, uint64_t id,
                    struct fp_path *path);

/* The path so far, in a frame that left for good while in `block` with the sum
 * of values `prefix` (paper 002, section 3.2: the same greedy walk; it is the id
 * of the path that goes on by edges of value 0). False when no path with that
 * prefix comes through block. */
bool fp_path_decode_partial(struct fp_arena *arena, const struct fp_numbering *numbering,
                            uint32_t block, uint64_t prefix, struct fp_path *path);

/* The sum of values along a path's kept edges and its end; the inverse of
 * decoding. FP_NO_ID where a partial path has none. */
#define FP_NO_ID UINT64_MAX
uint64_t fp_path_encode(const struct fp_numbering *numbering, const struct fp_path *path);

/* The out-edge of v with the largest value not above rem. */
static inline uint32_t fp_number_edge(const struct fp_numbering *n, uint32_t v, uint64_t rem)
{
    uint32_t low = n->dag->first_out[v], high = n->dag->first_out[v + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (n->value[n->by_value[middle]] <= rem)
            low = middle;
        else
            high = middle;
    }
    return n->by_value[low];
}

#endif
