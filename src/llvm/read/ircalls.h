/* What a function calls, and the calls whose values are worth counting: targets of
 * indirect calls, sizes of memory operations (count/values.h). */
#ifndef FP_LLVM_IRCALLS_H
#define FP_LLVM_IRCALLS_H

#include "base/vec.h"
#include "count/function.h"
#include "count/values.h"
#include "llvm/read/irgraph.h"

#include <llvm-c/Core.h>

/* A call whose values are counted. */
struct fp_value_call {
    LLVMValueRef call;
    LLVMValueRef value; /* what is called, or the size */
    enum fp_value_kind kind;
    uint32_t number; /* among those of its kind */
};

typedef FP_VEC(struct fp_value_call) fp_value_calls;

/* By call or invoke. */
bool fp_ir_is_call(LLVMValueRef instruction);

/* Is the function handed to one that is not in this module, as the order to qsort? */
bool fp_ir_is_callback(LLVMValueRef function);
/* Does it call nothing, or what is not in this module? */
bool fp_ir_calls_none_of_ours(LLVMValueRef function);

/* The names of functions called by name, one per call, in f->source.callees. */
void fp_ir_list_callees(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f);

/* What each block calls, in f->source.calls and ir->calls. Needs: the blocks as they were read. */
void fp_ir_list_calls(struct fp_ir *ir);

/* All calls of a function with values, in the order of its instructions. Needs: the
 * blocks as they were read, so that the build that counts and the build that uses the
 * counts number the calls alike. */
void fp_ir_find_values(struct fp_arena *arena, LLVMValueRef function, fp_value_calls *calls);

/* The block of each, in f->sites. Of a block that a returns-twice call divides it is the first
 * part. */
void fp_ir_list_sites(struct fp_ir *ir);

/* How many there are of each kind. */
void fp_ir_count_values(LLVMValueRef function, uint32_t *ntargets, uint32_t *nsizes);

#endif
