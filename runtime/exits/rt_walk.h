/* Counts the frames that a jump leaves in the usual case: all of them are of this module, at
 * known sites (rt_site.h), and on one stack. */
#ifndef FP_RT_WALK_H
#define FP_RT_WALK_H

#include "rt.h"

/* Counts the paths in flight from the frame with these registers (behind its call) up to the
 * frame that contains `until`. False: not the usual case, and nothing was counted. */
bool rt_walk_quickly(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;

#endif
