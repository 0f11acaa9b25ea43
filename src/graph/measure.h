/* Length of many paths at once, without decoding each.
 *
 * The ids of the paths that begin in one way are a range without gaps, so paths in
 * rising order of ids share what they have in common with the one before: only the
 * rest is walked. */
#ifndef FP_GRAPH_MEASURE_H
#define FP_GRAPH_MEASURE_H

#include "graph/number.h"

struct fp_path_measure {
    uint32_t weight;   /* of its blocks */
    uint32_t branches; /* edges that were one of several */
    bool known;        /* the id is one of a path or lap */
    bool at_entry;     /* it starts there */
};

/* ids rise; weights are per block. */
void fp_measure_paths(const struct fp_numbering *numbering, const uint32_t *weights,
                      const uint64_t *ids, size_t n, struct fp_path_measure *out);

#endif
