/* Coverage of blocks, edges and paths.
 *
 * The share of all possible paths says little where those are many: a function
 * with 40 branches in a row has 10^12 paths and no run takes them. So there are
 * three more figures, which stay meaningful at any size:
 *
 *   within       how many paths consist only of edges that ran: what the edge
 *                profile leaves open; taken / within is what path profiling adds
 *   independent  how many of the taken paths are linearly independent (as sets of
 *                edges, modulo 2), of
 *   dimension    the most there can be: edges - vertices + 2, McCabe's basis paths
 *
 * All of them depend on where paths end (--fp-cuts): those of builds that differ in it must not be
 * added up.
 *
 * The number of paths taken is a lower bound of the feasible ones.
 */
#ifndef FP_PATHS_COVERAGE_H
#define FP_PATHS_COVERAGE_H

#include "paths/each.h"

struct fp_covered {
    uint64_t done, all;
};

struct fp_coverage {
    bool measured;    /* its counts are known */
    bool paths_known; /* it has path counters */
    bool at_least;    /* independent is a lower bound: the search was cut short */
    uint64_t calls;
    struct fp_covered functions, lines, blocks, edges, paths;
    uint64_t within;
    uint64_t cuts, doors;    /* edges where paths end besides back edges */
    struct fp_covered basis; /* independent, dimension */
};

/* Work on independence stops after about this many word operations. */
#define FP_COVERAGE_WORK 200000000u

void fp_coverage_of(const struct fp_measured *measured, struct fp_coverage *coverage);

/* Adds b to a; possible paths saturate. */
void fp_coverage_add(struct fp_coverage *a, const struct fp_coverage *b);

/* From 0 to 100; 100 where there is nothing to cover. */
double fp_covered_percent(struct fp_covered covered);

#endif
