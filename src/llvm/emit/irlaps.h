/* Laps that need no counter in their loop, because a variable of the program counts them
 * already (read/irlapvars.h): the number of laps is added on the edge that leaves the
 * loop (graph/lapexits.h).
 */
#ifndef FP_LLVM_IRLAPS_H
#define FP_LLVM_IRLAPS_H

#include "graph/plan.h"
#include "llvm/emit/iredit.h"
#include "llvm/read/irlapvars.h"

/* How much to add to the lap's counter on plan->lap_exits[lap]; the builder stands there. */
LLVMValueRef fp_ir_lap_amount(struct fp_editor *ed, const struct fp_plan *plan, uint32_t lap);

#endif
