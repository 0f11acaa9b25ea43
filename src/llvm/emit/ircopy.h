/* What only the copies of a plan need (paper 004): a second, plain body and the choice
 * between the two at each invocation; the count of executed operations; the calls that
 * planning asks about. */
#ifndef FP_LLVM_IRCOPY_H
#define FP_LLVM_IRCOPY_H

#include "llvm/emit/iredit.h"

/* Is there anything in the function that cannot be there twice: addresses of blocks,
 * assembly that may define labels, a call that returns twice? */
bool fp_ir_has_one_body(LLVMValueRef function);

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

/* The names of functions called by name, one per call, in f->callees. */
void fp_ir_list_callees(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f);

#endif
