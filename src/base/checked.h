/* Arithmetic that reports an overflow. Numbers of paths and everything read from a file go
 * through here. */
#ifndef FP_BASE_CHECKED_H
#define FP_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define fp_add_overflows(a, b, result) __builtin_add_overflow((a), (b), (result))
#define fp_sub_overflows(a, b, result) __builtin_sub_overflow((a), (b), (result))
#define fp_mul_overflows(a, b, result) __builtin_mul_overflow((a), (b), (result))

/* Saturating forms, for counts that come from a file and for estimates: a sum that does not
 * fit stays at the largest number instead of becoming a small one. */
static inline uint64_t fp_add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return fp_add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t fp_mul_saturated(uint64_t a, uint64_t b)
{
    uint64_t product;
    return fp_mul_overflows(a, b, &product) ? UINT64_MAX : product;
}

static inline int64_t fp_add_saturated_signed(int64_t a, int64_t b)
{
    int64_t sum;
    return fp_add_overflows(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* A count from a floating point number: NaN and negative numbers become 0, large ones stop at
 * UINT64_MAX. */
static inline uint64_t fp_count_from(double value)
{
    if (!(value > 0)) return 0;
    return value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

#endif
