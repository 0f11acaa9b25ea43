/* PSPP: exact ids for a chosen subset of the paths (paper 004, Algorithm 1, with
 * the corrections that brute force showed to be needed).
 *
 * The interesting paths are those made of interesting edges only. Each has its
 * own id, and no other path has an id of theirs; other paths may share ids. The
 * fewer edges are interesting, the fewer carry a value.
 *
 * How it differs from the paper:
 *   - an edge of EI that is on no path made of EI alone is not interesting;
 *   - an uninteresting successor contributes the largest of their ranges, not
 *     the sum (uninteresting paths need no ids apart);
 *   - values are pushed down through a vertex with one in-edge, where edges are
 *     told apart by identity: dags have parallel edges;
 *   - an infinite minimum sorts as the largest.
 */
#ifndef FP_GRAPH_PSPP_H
#define FP_GRAPH_PSPP_H

#include "base/bitset.h"
#include "graph/dag.h"

struct fp_pspp {
    const struct fp_dag *dag;
    struct fp_bitset interesting; /* dag edges on some interesting path */
    uint64_t *initial;            /* values before pushing: for decoding */
    uint64_t *value;              /* per dag edge: what the program adds */
    uint64_t num_ids;             /* every sum, also of other paths, is below */
    uint32_t nprobes;             /* edges with a value */
};

/* wanted: the edges EI. weights (per dag edge) break ties, or NULL. */
struct fp_pspp *fp_pspp_number(struct fp_arena *arena, const struct fp_dag *dag,
                               const struct fp_bitset *wanted, const double *weights);

/* The dag edges of the interesting path with that id, ENTRY and EXIT edges
 * included; false when id is not that of an interesting path. */
bool fp_pspp_decode(struct fp_arena *arena, const struct fp_pspp *pspp, uint64_t id,
                    uint32_t **edges, uint32_t *nedges);

#endif
