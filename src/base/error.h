/* What went wrong with an input or the environment, for the tool to print.
 *
 * Libraries fill it and return false; they never print and never exit. The
 * first error wins: later calls on the same struct leave it as it is.
 */
#ifndef FP_BASE_ERROR_H
#define FP_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FP_NO_OFFSET UINT64_MAX

struct fp_error {
    bool set;
    uint64_t offset; /* in the input, or FP_NO_OFFSET */
    char file[256];
    char what[384];
};

/* Both return false, so that a caller can `return fp_fail(...)`. */
bool fp_fail(struct fp_error *error, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool fp_fail_at(struct fp_error *error, const char *file, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "FILE: at offset N: WHAT", cut to fit and plain: for a terminal. */
void fp_error_text(const struct fp_error *error, char *text, size_t size);

#endif
