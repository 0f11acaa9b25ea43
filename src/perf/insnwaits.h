/* How long instructions wait for others: chains of dependent instructions, by latencies of a
 * processor whose first level of caches has all. Registers alone; what goes through memory is not
 * followed. */
#ifndef FP_PERF_INSNWAITS_H
#define FP_PERF_INSNWAITS_H

#include "binary/machine.h"

/* Cycles per instruction: how much later than all in front of it, in its block, it has its result.
 * In a block that is a loop of its own: in a later round, where it waits for the round before. */
double *fp_insn_waits(struct fp_arena *arena, const struct fp_object *object,
                      const struct fp_machine_function *function);

#endif
