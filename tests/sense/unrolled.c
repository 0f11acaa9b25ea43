/* Loops that LLVM unrolls or turns into vector loops. Each runs with 0 rounds, 1 and so on, up to
 * the number given: see run.py. */
#include <stdlib.h>

enum { MOST = 20 };
static long words[MOST], others[MOST];
float numbers[MOST];
volatile long sink;

/* A vector loop, and the rounds left over. */
__attribute__((noinline)) static int sum(const int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

/* A vector loop where the two do not overlap. */
__attribute__((noinline)) static void copy(long *to, const long *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] + 1;
}

/* Unrolled, with conditions inside that become one branch. */
__attribute__((noinline)) static void flip(long *a, int n, int first, int second)
{
    for (int i = 0; i < n; i++)
        if (a[i] & 1L << first)
            if (a[i] & 1L << second) a[i] ^= 4;
}

/* Unrolled; nothing is stored. */
__attribute__((noinline)) static unsigned long bits_above(int n)
{
    unsigned long pattern = 0;
    for (int k = 63; k > 63 - n; k--)
        pattern += 1UL << (k & 31) ^ pattern;
    return pattern;
}

/* Unrolled, by pointers. */
__attribute__((noinline)) static unsigned hash(const char *p, const char *end)
{
    unsigned h = 0;
    while (p != end)
        h = h * 31 + (unsigned char)*p++;
    return h;
}

/* Floating point is not added in another order. */
__attribute__((noinline)) static float add(const float *a, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

/* Each round needs the one before, and stores. */
__attribute__((noinline)) static void chain(int *a, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++)
        a[i] = s = s * 3 ^ a[i];
}

/* The condition behind the body. */
__attribute__((noinline)) static long power(long a, int n)
{
    long r = 1;
    do {
        r = r * a + 1;
    } while (--n > 0);
    return r;
}

/* One loop in another. */
__attribute__((noinline)) static long both(const long *a, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            s += a[j] * i ^ s;
    return s;
}

/* Of the outer loop, unrolled, the test for a last round stands where the inner loop begins. */
__attribute__((noinline)) static unsigned spread(char *a, int n, unsigned step, unsigned high)
{
    unsigned at = 0;
    for (int i = 0; i < n; i++) {
        a[at] = (char)i;
        at = (at + step) & 15;
        while (at > high)
            at = (at + step) & 15;
    }
    return at;
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : MOST;
    static int small[MOST];
    static char text[MOST];
    for (int n = 0; n <= most; n++) {
        sink = sum(small, n);
        copy(words, others, n);
        flip(words, n, 0, 1);
        sink = (long)bits_above(n);
        sink = hash(text, text + n);
        sink = (long)add(numbers, n);
        chain(small, n);
        sink = power(n, n);
        sink = both(words, n);
        sink = spread(text, n, 5, 12);
    }
    return 0;
}
