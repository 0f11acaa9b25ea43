/* Loops that keep count of their laps: up and down, by steps, over pointers, with 32 and
 * 64 bits, with several exits, nested, vectorised, left at once and after many laps.
 * returns: compared also without --fp-exits
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static int numbers[4096];
static char text[5000];

static NOINLINE long sum_up(const int *a, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) sum += a[i] ^ i;
    return sum;
}

static NOINLINE long find_down(const int *a, int n, int what)
{
    while (n > 0 && a[n - 1] != what) n--;
    return n;
}

static NOINLINE long every_third(const int *a, unsigned n)
{
    long sum = 0;
    for (unsigned i = 1; i < n; i += 3) {
        sum += a[i];
        if (sum > 1000000) break;
    }
    return sum;
}

static NOINLINE size_t length_of(const char *s)
{
    const char *p = s;
    while (*p) p++;
    return (size_t)(p - s);
}

static NOINLINE const int *until(const int *from, const int *to, int what)
{
    for (; from != to; from++)
        if (*from == what) return from;
    return NULL;
}

static NOINLINE long nested(int n, int m)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = i; k < m; k += 2) sum += numbers[(i * m + k) % 4096] * 3;
    return sum;
}

static NOINLINE uint8_t small_type(uint8_t from)
{
    uint8_t laps = 0;
    for (uint8_t i = from; i != 0; i++) laps ^= i; /* goes round */
    return laps;
}

static NOINLINE uint32_t wraps(uint32_t from, uint32_t step)
{
    uint32_t x = 1;
    for (uint32_t i = from; i > 100; i += step) x = x * 31 + i;
    return x;
}

static NOINLINE long after_choice(int n, int which)
{
    long sum = 0;
    int i = which ? 5 : n / 2;
    do {
        sum += numbers[i & 4095];
        i += 4;
    } while (i < n);
    return sum;
}

static NOINLINE void copy_words(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += 8) memcpy(to + i, from + i, 8);
}

/* The test is of what i was, not of what it is. */
static NOINLINE long tests_before(const int *a, long n)
{
    long sum = 0, i = 0;
    do sum += a[i & 4095];
    while (i++ != n);
    return sum;
}

struct triple {
    int a, b, c;
};

static NOINLINE long backwards(const struct triple *from, const struct triple *to)
{
    long sum = 0;
    for (const struct triple *p = to; p != from; p--) sum = sum * 3 ^ p[-1].b;
    return sum;
}

static NOINLINE long always_twelve(int x)
{
    long sum = x;
#pragma clang loop unroll(disable) vectorize(disable)
    for (int i = 0; i < 24; i += 2) sum = sum * 5 + (sum >> i);
    return sum;
}

static NOINLINE int search(const char *s, int c, int last)
{
    for (int i = 0;; i++) {
        if (s[i] == c) return i;
        if (i == last) return -1;
        if (!s[i]) return -2;
    }
}

int main(void)
{
    static char other[5008];
    long sum = 0;
    for (int i = 0; i < 4096; i++) numbers[i] = i * 7919 % 1009;
    memset(text, 'x', 4000);
    text[1234] = 'y';
    for (long n = 0; n < 200; n += 13) {
        sum += sum_up(numbers, n * n % 4096) + find_down(numbers, (int)n, 500);
        sum += every_third(numbers, (unsigned)n * 3) + nested((int)n % 17, (int)n);
        sum += after_choice((int)n, n & 1) + (long)length_of(text + n);
        sum += small_type((uint8_t)(n + 1)) + wraps((uint32_t)(0u - 1000u * (unsigned)n), 100);
        const int *found = until(numbers, numbers + n, 77);
        sum += found ? found - numbers : -1;
        sum += search(text + n, 'y', (int)n * 10) + search(text + 1300 + n, 'y', 100000);
        sum += tests_before(numbers, n * 5) + always_twelve((int)n);
        sum += backwards((const struct triple *)numbers, (const struct triple *)numbers + n * 3);
        copy_words(other, text, (size_t)n);
    }
    printf("%ld %c\n", sum, other[5]);
    return 0;
}
