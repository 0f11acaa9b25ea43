/* Sorting and searching without libc: qsort may call malloc, and a signal handler may be
 * what asks. Both functions are inlined with the comparison they are given, so they cost
 * what a loop written by hand costs.
 *
 * Not handled: a sort keeps no order among records that are equal; the callers have none.
 */
#ifndef FP_RT_ORDER_H
#define FP_RT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RT_INLINE static inline __attribute__((always_inline))

RT_INLINE void rt_swap(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t kept_a, kept_b;
        memcpy(&kept_a, a + i, sizeof kept_a);
        memcpy(&kept_b, b + i, sizeof kept_b);
        memcpy(a + i, &kept_b, sizeof kept_b);
        memcpy(b + i, &kept_a, sizeof kept_a);
    }
}

typedef bool rt_before(const void *a, const void *b);

RT_INLINE void rt_sift(char *records, size_t root, size_t n, size_t size, rt_before *before)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        char *at = records + child * size;
        if (child + 1 < n && before(at, at + size)) child++;
        at = records + child * size;
        if (!before(records + root * size, at)) return;
        rt_swap(records + root * size, at, size);
    }
}

/* Heap sort. size: of a record, a multiple of 8. */
RT_INLINE void rt_sort(void *records, size_t n, size_t size, rt_before *before)
{
    for (size_t i = n / 2; i-- > 0;) rt_sift(records, i, n, size, before);
    for (size_t i = n; i-- > 1;) {
        rt_swap(records, (char *)records + i * size, size);
        rt_sift(records, 0, i, size, before);
    }
}

typedef bool rt_is_before(size_t i, uint64_t key);

/* Binary search: how many of n records are before the key. needs: these come first. */
RT_INLINE size_t rt_rank(size_t n, uint64_t key, rt_is_before *is_before)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(middle, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
