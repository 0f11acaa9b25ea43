/* From a path plan to IR. */
#ifndef FP_LLVM_IRPATH_H
#define FP_LLVM_IRPATH_H

#include "llvm/emit/iredit.h"

/* Emits everything that the plan asks for. The function's flags say how its
 * counters are kept, its path_slots and edge_slots how many there are. pep: paths are
 * sampled in this way; NULL: every one is counted. */
void fp_ir_emit_paths(struct fp_editor *ed, const struct fp_plan *plan, const enum fp_pep *pep);

#endif
