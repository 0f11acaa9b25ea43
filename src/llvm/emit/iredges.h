/* Edge counters: on every edge, or on chords. */
#ifndef FP_LLVM_IREDGES_H
#define FP_LLVM_IREDGES_H

#include "llvm/emit/iredit.h"

/* A counter for each flow edge that f->flow_slot gives a slot. */
void fp_ir_emit_edges(struct fp_editor *ed);

#endif
