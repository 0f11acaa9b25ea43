/* What a count costs when several threads count in the same function.
 *
 *     threads THREADS CALLS    CALLS per thread; prints the CPU time per call, in ns
 *
 * Each thread is pinned to a core of its own where there are as many. The time is the
 * thread's own CPU time: what others do on the machine does not count, waiting for a
 * cache line does.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256 };

struct worker {
    pthread_t thread;
    long number, calls;
    unsigned sum;
    double seconds;
};

static pthread_barrier_t start;

/* Two ways, taken in turn. */
__attribute__((noinline)) static unsigned step(unsigned x)
{
    __asm__ volatile("" : "+r"(x));
    if (x & 1) return x * 3;
    return x + 7;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(w->number % cores), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    pthread_barrier_wait(&start);
    double begin = now();
    unsigned sum = 0;
    for (long i = 0; i < w->calls; i++) sum += step((unsigned)i);
    w->seconds = now() - begin;
    w->sum = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    long calls = argc > 2 ? atol(argv[2]) : 10000000;
    if (n < 1 || n > MOST) return 2;
    pthread_barrier_init(&start, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        workers[i].number = i;
        workers[i].calls = calls;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) return 1;
    }
    double seconds = 0;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        seconds += workers[i].seconds;
        sum += workers[i].sum;
    }
    printf("%.4f %u\n", seconds / (double)calls / n * 1e9, sum);
    return 0;
}
