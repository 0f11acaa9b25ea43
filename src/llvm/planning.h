/* From a cfg to a plan and a layout of counters: the steps in order. Each asks the graph
 * core and notes the answer in job->f; none of them looks at IR. */
#ifndef FP_LLVM_PLANNING_H
#define FP_LLVM_PLANNING_H

#include "llvm/work.h"

/* Where paths end. Needs: ir->weights, which may be NULL; they are not afterwards. */
void fp_job_truncate(struct fp_job *job);

/* With FP_FUNCTION_PATHS: the numbers of paths, and the layout of their counters. */
void fp_job_number(struct fp_job *job);

/* With FP_FUNCTION_EDGES: which edges have a counter. */
void fp_job_choose_edges(struct fp_job *job);

/* With FP_FUNCTION_PATHS: what each edge does. */
void fp_job_plan(struct fp_job *job);

/* With FP_FUNCTION_EXITS: what is in flight in each block, for the reader of profiles. */
void fp_job_note_exits(struct fp_job *job);

#endif
