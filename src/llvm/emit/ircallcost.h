/* Measuring what calls cost (--fp-calls=inclusive). */
#ifndef FP_LLVM_IRCALLCOST_H
#define FP_LLVM_IRCALLCOST_H

#include "llvm/emit/iredit.h"

/* Needs: ir->calls, the layout of what calls cost. Before any other code is put at the heads of
 * blocks. */
void fp_ir_emit_call_costs(struct fp_editor *ed);

#endif
