/* A set of small integers, one bit each, in an arena. Members must be below `bits`; nothing
 * checks it. */
#ifndef FP_BASE_BITSET_H
#define FP_BASE_BITSET_H

#include "base/arena.h"

#include <stdbool.h>

struct fp_bitset {
    uint64_t *words;
    size_t bits;
};

static inline struct fp_bitset fp_bitset_new(struct fp_arena *arena, size_t bits)
{
    return (struct fp_bitset){FP_NEW_ARRAY(arena, uint64_t, bits / 64 + 1), bits};
}

static inline bool fp_bitset_has(const struct fp_bitset *set, size_t bit)
{
    return set->words[bit / 64] >> (bit % 64) & 1;
}

static inline void fp_bitset_add(struct fp_bitset *set, size_t bit)
{
    set->words[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static inline void fp_bitset_remove(struct fp_bitset *set, size_t bit)
{
    set->words[bit / 64] &= ~((uint64_t)1 << (bit % 64));
}

static inline size_t fp_bitset_count(const struct fp_bitset *set)
{
    size_t count = 0;
    for (size_t i = 0; i <= set->bits / 64; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

#endif
