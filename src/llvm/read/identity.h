/* Who a function is, as far as its module tells: what ids are made of. */
#ifndef FP_LLVM_IDENTITY_H
#define FP_LLVM_IDENTITY_H

#include "llvm/read/irgraph.h"

bool fp_ir_is_local(LLVMValueRef function);

/* What distinguishes this module: its source file and what it defines for others.
 * (One file compiled twice with different macros mostly defines other names: of functions, or
 * of variables, such as a structure of pointers to its static functions.) Below
 * the folder `base`, unless NULL, where that folder is does not matter. */
uint64_t fp_ir_hash_module(LLVMModuleRef module, const char *base);

/* The base of fp_function_id. An inline function gets the same in every object. */
uint64_t fp_ir_base_id(const struct fp_ir *ir, uint64_t module_hash);

#endif
