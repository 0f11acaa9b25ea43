/* Counts a known number of calls in each of N threads, says that the end is near, and
 * ends that many microseconds later: ends THREADS CALLS MICROSECONDS [dump]. Until then it
 * sleeps, or writes its profile again and again. The work is the same in every run. */
#include <footpath/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;
static unsigned calls;

#define WAY(k) \
    if (x >> k & 1) sink += k; else sink ^= k;

/* 65,536 paths: writing them takes a moment, for signals to come in. */
__attribute__((noinline)) static void step(unsigned x)
{
    WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
    WAY(8) WAY(9) WAY(10) WAY(11) WAY(12) WAY(13) WAY(14) WAY(15)
}

static void *work(void *unused)
{
    for (unsigned x = 0; x < calls; x++) step(x);
    return unused;
}

static void *wait_for_ever(void *unused)
{
    for (;;) pause(); /* signals may come to this thread, which counts nothing */
    return unused;
}

static long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void wait_or_dump(long microseconds, int dump)
{
    for (long until = now_us() + microseconds; now_us() < until;) {
        struct timespec t = {0, 1000 * (until - now_us() > 0 ? until - now_us() : 0)};
        if (dump)
            footpath_dump();
        else
            nanosleep(&t, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    unsigned threads = (unsigned)atoi(argv[1]);
    calls = (unsigned)atoi(argv[2]);
    pthread_t others[64], idle;
    for (unsigned i = 1; i < threads; i++) pthread_create(&others[i], NULL, work, NULL);
    if (threads > 1) pthread_create(&idle, NULL, wait_for_ever, NULL);
    work(NULL);
    for (unsigned i = 1; i < threads; i++) pthread_join(others[i], NULL);
    if (write(STDOUT_FILENO, "end\n", 4) != 4) return 3;
    wait_or_dump(atoi(argv[3]), argc > 4);
    return 7;
}
