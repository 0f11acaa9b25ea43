/* What the debug information and the code say of a function of machine code: lines of its blocks,
 * what they call, and where they are. For maps (count/function.h). */
#ifndef FP_BINARY_MACHINESOURCE_H
#define FP_BINARY_MACHINESOURCE_H

#include "binary/dwarflines.h"
#include "binary/machine.h"

/* Sets blocks, positions and scopes of f->source. needs: the cfg. */
void fp_machine_lines(struct fp_arena *arena, struct fp_dwarf_lines *lines,
                      const struct fp_machine_function *function, struct fp_function *f);

/* Sets its calls. lines may be NULL. */
void fp_machine_calls(struct fp_arena *arena, const struct fp_machine *machine,
                      struct fp_dwarf_lines *lines, const struct fp_machine_function *function,
                      struct fp_function *f);

/* Sets its address and those of its blocks. */
void fp_machine_code(struct fp_arena *arena, const struct fp_machine *machine,
                     const struct fp_machine_function *function, struct fp_function *f);

#endif
