/* What several programs do while samples are taken: work with three ways through it, for as much
 * CPU time of the thread as they want. */
#ifndef FP_TEST_WORK_H
#define FP_TEST_WORK_H
#include <time.h>

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static unsigned long spin(unsigned long n, unsigned long seed)
{
    for (unsigned long i = 0; i < n; i++) seed = seed & 1 ? seed * 3 + 1 : seed % 3 ? seed * 5 + i : seed / 2;
    return seed;
}

#endif
