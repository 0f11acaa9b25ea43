/* What only the copies of P3 need (paper 004): a second, plain body and the choice
 * between the two at each invocation; the count of executed operations. */
#ifndef FP_LLVM_IRCOPY_H
#define FP_LLVM_IRCOPY_H

#include "llvm/emit/iredit.h"

/* Invocation j goes through the blocks that will be instrumented iff j mod ncopies is
 * `turn`, else through a plain copy of them. All are counted in the edge counter
 * f->copy->turns_slot. Before any other code is put into the function. */
void fp_ir_emit_turns(struct fp_editor *ed, uint32_t ncopies, uint32_t turn);

/* Counts invocations in the edge counter f->copy->turns_slot, where nobody takes turns:
 * the collation compares the copies by it. */
void fp_ir_emit_calls(struct fp_editor *ed);

/* Adds up, in the edge counter f->copy->hits_slot, the operations that the plan makes
 * the function execute. */
void fp_ir_emit_hits(struct fp_editor *ed, const struct fp_plan *plan);

#endif
