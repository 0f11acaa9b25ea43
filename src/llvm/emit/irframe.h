/* What makes the path in flight of a frame visible from outside (docs/exits.md):
 * a stack slot that always holds the path register, and marks in the code by which
 * a program counter tells the block. With them the runtime finds, when frames die
 * without returning, how far each had come. */
#ifndef FP_LLVM_IRFRAME_H
#define FP_LLVM_IRFRAME_H

#include "llvm/emit/iredit.h"

/* Marks at blocks that may leave, a personality that sees exceptions pass. Before
 * any other code is put into the function. slot: the function will have one. */
void fp_ir_emit_marks(struct fp_editor *ed, bool slot);

/* Code from here on belongs to no block. */
void fp_ir_emit_end_mark(struct fp_editor *ed, LLVMValueRef before);

/* Keeps the slot up to date, as the plan changes the register. */
void fp_ir_emit_slot(struct fp_editor *ed, const struct fp_plan *plan);

/* Is there a block that may leave and at which the register counts? */
bool fp_ir_needs_slot(const struct fp_function *f);

#endif
