/* The same work all the time, in functions that are called once and stay active: what they
 * do must have its part of the samples, whoever is between them and the innermost call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long seed = 1;

static inline unsigned next(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    if (seed & 1ul << 40) seed ^= 12345; /* inlined after it was instrumented, with --fp-at=early */
    return (unsigned)(seed >> 33);
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* libc lies between this call and by_value. */
__attribute__((noinline)) static unsigned middle(unsigned *numbers, size_t n)
{
    unsigned sum = 0;
    qsort(numbers, n, sizeof *numbers, by_value);
    for (size_t i = 1; i < n; i++)
        if (numbers[i] - numbers[i - 1] > 1u << 28) sum += (unsigned)i;
    return sum;
}

__attribute__((noinline)) static unsigned long outer(long n)
{
    unsigned char many[24 << 10]; /* its return address lies far away */
    unsigned long sum = 0;
    memset(many, 1, sizeof many);
    for (long i = 0; i < n; i++) {
        unsigned numbers[8];
        for (int k = 0; k < 8; k++) numbers[k] = next();
        sum += middle(numbers, 8) + many[numbers[3] % sizeof many];
        if (sum & 1) many[i % (long)sizeof many]++;
        else if (sum & 2) sum += 3;
    }
    return sum;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000, rounds = 4;
    unsigned long sum = 0;
    for (long i = 0; i < rounds; i++) sum ^= outer(n / rounds);
    printf("%lu\n", sum);
    return 0;
}
