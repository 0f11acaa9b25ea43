/* Threads with shares of CPU time 1 : 2 : 4, each in a function of its own whose paths
 * are short, middling and long, all signals blocked. Prints the CPU time of each. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double spent[3];
static volatile unsigned long sink;

#define WORKER(name, index, seconds, body)                      \
    __attribute__((noinline)) static unsigned long name##_work(unsigned long x) \
    {                                                           \
        for (int i = 0; i < 2000; i++) {                        \
            if (x & 4) x = x * 3 + 1; else x ^= x >> 3;         \
            body                                                \
        }                                                       \
        return x;                                               \
    }                                                           \
    static void *name(void *unused)                             \
    {                                                           \
        (void)unused;                                           \
        unsigned long x = 7;                                    \
        while (cpu() < (seconds)) x = name##_work(x);           \
        sink += x;                                              \
        spent[index] = cpu();                                   \
        return NULL;                                            \
    }

#define LONGER x = x * 5 + 3; x ^= x << 7; x = x / 11 + 5;

WORKER(one, 0, 0.5, )
WORKER(two, 1, 1.0, LONGER)
WORKER(four, 2, 2.0, LONGER LONGER LONGER LONGER)

int main(void)
{
    pthread_t threads[3];
    void *(*workers[3])(void *) = {one, two, four};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, workers[i], NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("one_work %f two_work %f four_work %f\n", spent[0], spent[1], spent[2]);
    return 0;
}
