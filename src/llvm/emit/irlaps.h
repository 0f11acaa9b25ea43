/* Laps that need no counter in their loop, because a variable of the program counts them
 * already (read/irlapvars.h): the number of laps is added on the edge that leaves the
 * loop (graph/lapexits.h).
 */
#ifndef FP_LLVM_IRLAPS_H
#define FP_LLVM_IRLAPS_H

#include "llvm/emit/iredit.h"
#include "llvm/read/irlapvars.h"

/* How many laps there were, on the edge `exit` that leaves the loop; the builder stands there.
 * visits: those of the closing block, which `exit` leaves then: one more. */
LLVMValueRef fp_ir_lap_amount(struct fp_editor *ed, uint32_t lap, uint32_t exit, bool visits);

/* A value of the loop as it is on the edge that leaves it. The builder stands there. */
LLVMValueRef fp_ir_value_behind(struct fp_editor *ed, LLVMValueRef value, uint32_t exit);

#endif
