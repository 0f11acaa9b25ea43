/* Emitting map records and counters: assembly beside the functions. */
#ifndef FP_LLVM_IRMAP_H
#define FP_LLVM_IRMAP_H

#include "llvm/read/irgraph.h"

/* What the whole module needs once. */
void fp_ir_emit_module(LLVMModuleRef module);

/* The record of one function and the storage of its counters, as module-level
 * assembly. */
void fp_ir_emit_map(LLVMModuleRef module, const struct fp_function *f);

/* A mark in the function itself, by which a reader sees whether the linker kept
 * it. Late only: inlining would copy it. */
void fp_ir_emit_live_mark(struct fp_ir *ir);

#endif
