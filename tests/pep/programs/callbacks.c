/* Functions that only libc calls: the orders of qsort. Half of the CPU time goes to sorting, half
 * to a function of the program's own.
 *
 *     callbacks [one|several] [work]     paths of the order; work of one's own per sort
 *
 * Prints the CPU time of both: "order S own S". Without `work` both take the same time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONE __attribute__((noinline))

volatile unsigned sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* One path. */
LONE static int one(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

/* As texts are compared. */
LONE static int several(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    for (int i = 0; i < 4; i++, x <<= 8, y <<= 8) {
        if (x >> 24 == y >> 24) continue;
        if (x >> 24 < y >> 24) {
            sink = x;
            return -1;
        }
        sink = y;
        return 1;
    }
    return 0;
}

LONE static unsigned own(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if ((sum ^ i) & 4)
            sink = i, sum += i * 3;
        else
            sum ^= i + sink;
    }
    return sum;
}

enum { NUMBERS = 100000, ROUNDS = 40, PIECE = 100000 };
static unsigned numbers[NUMBERS];

int main(int argc, char **argv)
{
    int (*order)(const void *, const void *) = argc > 1 && !strcmp(argv[1], "one") ? one : several;
    long work = argc > 2 ? atol(argv[2]) : 0;
    double sorting = 0, rest = 0;
    unsigned next = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < NUMBERS; i++) numbers[i] = next = next * 1664525 + 1013904223;
        double begin = now();
        qsort(numbers, NUMBERS, sizeof *numbers, order);
        sorting += now() - begin;
        begin = now();
        for (long i = 0; work ? i < work : rest + now() - begin < sorting; i++) own(PIECE);
        rest += now() - begin;
    }
    if (!work) printf("order %.3f own %.3f\n", sorting, rest);
    return 0;
}
