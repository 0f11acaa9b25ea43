/* Counters that are added up where their loop is left (graph/loopcounts.h): from a variable of
 * the program that counts already (read/irlapvars.h), or else from a register.
 */
#ifndef FP_LLVM_IRLOOPS_H
#define FP_LLVM_IRLOOPS_H

#include "graph/loopcounts.h"
#include "llvm/emit/iredit.h"

/* Counts the edges inside the loops of ed->ir->loops. address: per flow edge, of its counter. It
 * becomes NULL where the edge is done. */
void fp_ir_emit_loop_counts(struct fp_editor *ed, LLVMValueRef *address);

#endif
