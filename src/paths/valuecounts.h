/* The values that the calls of a function were given (count/values.h), with their counts. */
#ifndef FP_PATHS_VALUECOUNTS_H
#define FP_PATHS_VALUECOUNTS_H

#include "profile/profile.h"

/* Sorted by key; returns how many. blocks: executions of each block. Where paths are sampled, what
 * a call was given gets the executions of its block in all: the two were noted at the same time,
 * but not at the same places, and the compiler compares them. */
size_t fp_values_of(struct fp_arena *arena, const struct fp_module *module,
                    const struct fp_function *function, const uint64_t *blocks,
                    struct fp_value_count **values);

#endif
