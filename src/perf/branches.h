/* Branch records to counts of blocks and edges.
 *
 * A processor with such records notes the last branches that were taken (from, to).
 * Between the target of one and the source of the next the code ran straight, so a
 * record counts one edge, and a run between two records every block in it and the
 * edges between those, as llvm-profgen counts them. Counts are in records: of a long
 * run all parts of the program have the same share of them.
 *
 * Not counted: the run from the newest branch to where the sample hit, which skids.
 */
#ifndef FP_PERF_BRANCHES_H
#define FP_PERF_BRANCHES_H

#include "perf/attribute.h"
#include "binary/machine.h"

struct fp_branch_counts {
    double *blocks; /* the most runs that an instruction of the block is in */
    double *edges;  /* negative if the records do not say */
    double total;   /* sum over the blocks; 0: no record is in this function */
};

void fp_branch_count(struct fp_arena *arena, const struct fp_perf_object *sampled,
                     const struct fp_machine_function *function, struct fp_branch_counts *out);

#endif
