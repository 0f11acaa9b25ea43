/* From a path plan to IR. */
#ifndef FP_LLVM_IRPATH_H
#define FP_LLVM_IRPATH_H

#include "llvm/iredit.h"

/* Emits everything that the plan asks for. The function's flags say how its
 * counters are kept, its path_slots and edge_slots how many there are. */
void fp_ir_emit_paths(struct fp_editor *ed, const struct fp_plan *plan);

#endif
