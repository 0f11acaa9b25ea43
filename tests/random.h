/* A small random number generator (splitmix64), so that a seed means the same
 * everywhere. */
#ifndef FP_TESTS_RANDOM_H
#define FP_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* 0 .. limit-1 */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(random_next(state) % limit);
}

static inline bool random_chance(uint64_t *state, uint32_t percent)
{
    return random_below(state, 100) < percent;
}

#endif
