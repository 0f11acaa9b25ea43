/* Filling and printing struct fp_error. */
#include "base/error.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool fill(struct fp_error *error, const char *file, uint64_t offset, const char *format,
                 va_list args)
{
    if (!error || error->set) return false;
    error->set = true;
    error->offset = offset;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    vsnprintf(error->what, sizeof error->what, format, args);
    return false;
}

bool fp_fail(struct fp_error *error, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, file, FP_NO_OFFSET, format, args);
    va_end(args);
    return false;
}

bool fp_fail_at(struct fp_error *error, const char *file, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, file, offset, format, args);
    va_end(args);
    return false;
}

void fp_error_text(const struct fp_error *error, char *text, size_t size)
{
    const char *colon = error->file[0] ? ": " : "";
    if (error->offset == FP_NO_OFFSET)
        snprintf(text, size, "%s%s%s", error->file, colon, error->what);
    else
        snprintf(text, size, "%s%sat offset %" PRIu64 ": %s", error->file, colon, error->offset,
                 error->what);
    fp_make_plain(text);
}
