/* Counting the values that calls are given (--fp-values), or noting them for samples. */
#ifndef FP_LLVM_IRVALUES_H
#define FP_LLVM_IRVALUES_H

#include "llvm/emit/iredit.h"
#include "llvm/read/ircalls.h"

/* Counts them in the function's hash table. Needs: calls as fp_ir_find_values has found them in the
 * blocks as they were read. Breaks: ir->blocks. */
void fp_ir_emit_values(struct fp_editor *ed, const fp_value_calls *calls);
/* Of a function whose paths are sampled, and not by a flag: no code, but a note in front of each
 * indirect call, so that a sample knows the target. Sizes of memory operations are not noted: many
 * become constants when the function is inlined. */
void fp_ir_note_values(struct fp_editor *ed, const fp_value_calls *calls);

#endif
