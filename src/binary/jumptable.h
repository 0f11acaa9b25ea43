/* The targets of a jump through a table. Recognised are, within the function:
 *
 *     lea table(%rip),B ... movslq (B,I,4),R ... add B,R ... jmp *R   offsets (PIE)
 *     jmp *table(,I,8)  or  mov table(,I,8),R ... jmp *R              addresses
 *     lea table(%rip),B ... jmp *(B,I,8)                              addresses (PIE)
 *
 * The number of entries is what the bounds check in front of the jump says, or
 * else as many as lead to instructions of the function. Anything else gives none.
 */
#ifndef FP_BINARY_JUMPTABLE_H
#define FP_BINARY_JUMPTABLE_H

#include "binary/machine.h"

/* Entries in order, with repetitions. */
uint64_t *fp_jump_table(struct fp_arena *arena, const struct fp_object *object,
                        const struct fp_machine_function *function, uint32_t jump, size_t *count);

#endif
