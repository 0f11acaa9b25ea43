/* The functions of libc on bytes and text that the runtime uses, for statically linked programs:
 * their libc is not ours to call (runtime/static/rt_static.h). Each does what ISO C or POSIX says,
 * as far as the runtime needs it.
 *
 * No loops that the compiler would turn into calls of these same functions: CMakeLists.txt
 * compiles this file with -fno-tree-loop-distribute-patterns.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- bytes ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(len) : : "memory");
    return to;
}

void *memmove(void *to, const void *from, size_t len)
{
    if ((uintptr_t)to - (uintptr_t)from >= len) return memcpy(to, from, len);
    for (size_t i = len; i-- > 0;) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *to, int byte, size_t len)
{
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(len) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < len; i++)
        if (x[i] != y[i]) return x[i] - y[i];
    return 0;
}

void *memchr(const void *bytes, int byte, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        if (at[i] == (unsigned char)byte) return (void *)(uintptr_t)(at + i);
    return NULL;
}

/* ---- strings ---- */

size_t strlen(const char *text)
{
    size_t len = 0;
    while (text[len]) len++;
    return len;
}

int strncmp(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (a[i] != b[i] || !a[i]) return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int c)
{
    for (;; text++) {
        if (*text == (char)c) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

char *strrchr(const char *text, int c)
{
    char *last = NULL;
    for (char *at = strchr(text, c); at; at = c ? strchr(at + 1, c) : NULL) last = at;
    return last;
}

char *strstr(const char *text, const char *wanted)
{
    size_t len = strlen(wanted);
    for (; strncmp(text, wanted, len); text++)
        if (!*text) return NULL;
    return (char *)(uintptr_t)text;
}

size_t strcspn(const char *text, const char *any)
{
    size_t len = 0;
    while (text[len] && !strchr(any, text[len])) len++;
    return len;
}

/* ---- numbers ---- */

/* What compilers call for __builtin_popcountll. */
int __popcountdi2(int64_t value);
int __popcountdi2(int64_t value)
{
    int ones = 0;
    for (uint64_t left = (uint64_t)value; left; left &= left - 1) ones++;
    return ones;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z') return (unsigned)(c - 'A') + 10;
    return UINT_MAX;
}

/* Base 10 or 16, without a sign. */
unsigned long long strtoull(const char *text, char **end, int base)
{
    const char *at = text + strspn(text, " \t\n");
    unsigned long long value = 0;
    errno = 0;
    for (unsigned digit; (digit = digit_of(*at)) < (unsigned)base; at++)
        if (__builtin_mul_overflow(value, (unsigned)base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            errno = ERANGE;
            value = ULLONG_MAX;
        }
    if (end) *end = (char *)(uintptr_t)at;
    return value;
}

unsigned long strtoul(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}

long strtol(const char *text, char **end, int base)
{
    const char *at = text + strspn(text, " \t\n");
    bool negative = *at == '-';
    long value = (long)strtoull(at + negative, end, base);
    return negative ? -value : value;
}

/* atoi of the headers calls strtol. */
size_t strspn(const char *text, const char *any)
{
    size_t len = 0;
    while (text[len] && strchr(any, text[len])) len++;
    return len;
}

/* ---- what went wrong ---- */

char *strerror(int error)
{
    switch (error) {
    case EPERM: return "Operation not permitted";
    case ENOENT: return "No such file or directory";
    case EIO: return "Input/output error";
    case ENOMEM: return "Cannot allocate memory";
    case EACCES: return "Permission denied";
    case ENOTDIR: return "Not a directory";
    case EISDIR: return "Is a directory";
    case EMFILE: return "Too many open files";
    case EFBIG: return "File too large";
    case ENOSPC: return "No space left on device";
    case EROFS: return "Read-only file system";
    case ENAMETOOLONG: return "File name too long";
    case ELOOP: return "Too many levels of symbolic links";
    case EDQUOT: return "Disk quota exceeded";
    default: return "the system refuses";
    }
}

/* ---- dates ---- */

/* The day count is turned into a date by years that begin in March, so that a leap day is the last
 * one of its year; 400 years have 146,097 days. */
struct tm *gmtime_r(const time_t *when, struct tm *t)
{
    int64_t days = *when / 86400, seconds = *when % 86400;
    if (seconds < 0) seconds += 86400, days--;
    int64_t since = days + 719468; /* 1 March of the year 0 */
    int64_t era = (since >= 0 ? since : since - 146096) / 146097;
    int64_t day = since - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t month = (5 * day + 2) / 153; /* from March on */
    *t = (struct tm){.tm_sec = (int)(seconds % 60),
                     .tm_min = (int)(seconds / 60 % 60),
                     .tm_hour = (int)(seconds / 3600),
                     .tm_mday = (int)(day - (153 * month + 2) / 5 + 1),
                     .tm_mon = (int)(month < 10 ? month + 2 : month - 10),
                     .tm_year = (int)(year + era * 400 + (month >= 10) - 1900)};
    return t;
}
