/* Source positions of instructions, with the chain of inlined calls. */
#ifndef FP_LLVM_IRLINES_H
#define FP_LLVM_IRLINES_H

#include "base/table.h"
#include "base/vec.h"
#include "count/function.h"

#include <llvm-c/Core.h>

struct fp_ir_lines {
    struct fp_arena *arena;
    struct fp_table scopes;      /* scope and file of the shim -> 1 + index */
    struct fp_table by_function; /* subprogram -> 1 + the first scope of its file */
    struct fp_strtable files;    /* file -> 1 + its first scope */
    FP_VEC(struct fp_scope) all;
    FP_VEC(struct fp_position) positions;
};

void fp_ir_lines_init(struct fp_ir_lines *lines, struct fp_arena *arena);

/* Appends the position of an instruction unless it is on the line of the last
 * one since `first`. False where it has none. */
bool fp_ir_lines_add(struct fp_ir_lines *lines, LLVMValueRef instruction, size_t first);

/* The first scope of the file that a function is in; one is added where there is none. */
uint32_t fp_ir_lines_file_scope(struct fp_ir_lines *lines, const void *subprogram);
/* Likewise of the file that a scope is in. */
uint32_t fp_ir_lines_file_of(struct fp_ir_lines *lines, uint32_t scope);

/* Name, file and line of the function itself. */
void fp_ir_lines_function(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f);

#endif
