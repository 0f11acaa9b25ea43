/* Values that calls were given: which function an indirect call called, how many bytes a memory
 * operation copied or set. With --fp-values they are counted in the hash table of the function,
 * beside its paths. A key has bit 63 set, so it is above all ids:
 *
 *     bit 63: 1   bit 62: kind   bits 40-61: site   bits 0-39: value
 *
 * A site is the place of a call among those of its kind in the function. A target is stored as
 * its distance from the table, which is the same wherever the program is loaded. A target in
 * another module gives a distance that no symbol has.
 *
 * Where paths are sampled, targets are noted beside the samples, and counted at their rate
 * (runtime/pep/rt_targets.c).
 */
#ifndef FP_COUNT_VALUES_H
#define FP_COUNT_VALUES_H

#include "footpath/abi.h"

#include <stdbool.h>

enum fp_value_kind { FP_VALUE_TARGET, FP_VALUE_SIZE };

enum { FP_VALUE_SITE_BITS = 22 };

#define FP_VALUE_SITES ((uint64_t)1 << FP_VALUE_SITE_BITS)

static inline uint64_t fp_value_key(enum fp_value_kind kind, uint64_t site)
{
    return (uint64_t)1 << 63 | (uint64_t)kind << 62 | site << FP_VALUE_BITS;
}

static inline bool fp_value_is(uint64_t key)
{
    return key >> 63;
}

static inline enum fp_value_kind fp_value_kind(uint64_t key)
{
    return key >> 62 & 1 ? FP_VALUE_SIZE : FP_VALUE_TARGET;
}

static inline uint32_t fp_value_site(uint64_t key)
{
    return (uint32_t)(key >> FP_VALUE_BITS & (FP_VALUE_SITES - 1));
}

/* The address that a distance leads to. */
static inline uint64_t fp_value_target(uint64_t key, uint64_t table)
{
    uint64_t distance = (key & FP_VALUE_MASK) << (64 - FP_VALUE_BITS);
    return table + (uint64_t)((int64_t)distance >> (64 - FP_VALUE_BITS));
}

#endif
