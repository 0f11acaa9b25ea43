/* Functions that return twice: setjmp and its like. Known by name where there is one, else by
 * their code: programs that are linked statically and stripped have it without names. */
#ifndef FP_BINARY_TWICE_H
#define FP_BINARY_TWICE_H

#include "binary/references.h"

/* Per FDE: whether a call of its start returns twice. */
bool *fp_twice_find(struct fp_arena *arena, const struct fp_references *references);

/* Whether a call returns twice. */
bool fp_twice_call(const struct fp_references *references, const bool *twice,
                   const struct fp_insn *call);

#endif
