/* A plan that counts some of the paths of a function (paper 004): PSPP labels, and
 * where they are put.
 *
 * The sums of the labels are not the ids of the numbering: fp_select_decode leads
 * back. Chords of a spanning tree on top of the labels keep every sum, so they keep
 * the labels valid. Counts in front of a branch are not possible here: what they
 * count too much would be paths that nobody counts.
 */
#ifndef FP_GRAPH_SELECT_H
#define FP_GRAPH_SELECT_H

#include "graph/plan.h"
#include "graph/pspp.h"

struct fp_selection {
    const struct fp_pspp *labels;
    struct fp_numbering *sums; /* for the plan: its values are the labels, its paths the
                                  sums there can be; laps follow */
    struct fp_plan *plan;
};

/* wanted: dag edges; the paths made of them alone are counted. laps: which of the
 * laps are. weights: per cfg edge, or NULL: labels stay where PSPP puts them. */
struct fp_selection *fp_select(struct fp_arena *arena, const struct fp_numbering *numbering,
                               const struct fp_bitset *wanted, const struct fp_bitset *laps,
                               const double *weights, bool exits);

/* The numbering's id of the path with that sum, or FP_NO_ID if it is not wanted. */
uint64_t fp_select_decode(const struct fp_pspp *labels, const struct fp_numbering *numbering,
                          uint64_t sum);

/* Are all dag edges of a path in the set? */
bool fp_select_covers(const struct fp_dag *dag, const struct fp_bitset *edges,
                      const struct fp_path *path);

#endif
