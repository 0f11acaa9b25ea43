/* Frames that a jump leaves, in the usual case: all are of this module, at places that are
 * known (rt_site.h), and on one stack. */
#ifndef FP_RT_WALK_H
#define FP_RT_WALK_H

#include "rt.h"

/* Counts what the frames have in flight, from the one with these registers (behind its
 * call) up to the one that the stack pointer `until` is in. False where the case is
 * another one; then nothing was counted. */
bool rt_walk_quickly(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;

#endif
