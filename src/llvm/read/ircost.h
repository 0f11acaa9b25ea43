/* What blocks cost in machine instructions (--fp-cost=machine). */
#ifndef FP_LLVM_IRCOST_H
#define FP_LLVM_IRCOST_H

#include "base/table.h"
#include "llvm/read/irgraph.h"

#include <llvm-c/Core.h>

struct fp_machine_costs {
    struct fp_strtable functions; /* name -> address of an array: instructions per basic block */
};

/* Has the code generator compile a copy of the module, and counts the instructions of each block.
 * False where it cannot: then blocks cost what they do without the flag. */
bool fp_machine_costs_make(struct fp_arena *arena, LLVMModuleRef module, bool optimizing,
                           struct fp_machine_costs *costs);

/* Sets the costs of a function's blocks. Needs: the blocks as they were read. */
void fp_machine_costs_apply(const struct fp_machine_costs *costs, struct fp_ir *ir);

#endif
