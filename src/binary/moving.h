/* What is left of a function where it was, once it has moved: a jump to the new place at its old
 * entry and at every address of its middle that a pointer may hold.
 *
 * A jump takes five bytes. Where the next such address is nearer, it is a short jump of two bytes
 * to a slot: five bytes of the old body, or of the padding behind it, that nothing else needs. An
 * endbr64 stays in front of the jump. All other bytes of instructions that belong to blocks are
 * free. */
#ifndef FP_BINARY_MOVING_H
#define FP_BINARY_MOVING_H

#include "binary/machine.h"

struct fp_moving_jump {
    uint64_t target; /* the old address that is jumped to or called */
    uint32_t insn;   /* the instruction there */
    uint32_t block;
    uint64_t at;   /* where the jump is written: target, or behind its endbr64 */
    uint64_t slot; /* where the 5-byte jump is, if the one at `at` is a short one to it; else 0 */
};

struct fp_moving {
    struct fp_moving_jump *jumps; /* by target; one per address */
    size_t njumps;
};

/* NULL if a function that is not refused can be moved; else why not. */
const char *fp_moving_check(struct fp_arena *arena, const struct fp_machine *machine,
                            const struct fp_machine_function *function, struct fp_moving *moving);

#endif
