/* Counts a known number of calls in each of N threads, says that the end is near, and
 * ends: ends THREADS CALLS MICROSECONDS. The work before the end is the same in every run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;
static unsigned calls;

__attribute__((noinline)) static void step(unsigned x)
{
    if (x & 1) sink += x;
    if (x & 2) sink ^= x;
    if (x & 4) sink -= x;
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
    for (struct timespec t = {0, 1000L * atoi(argv[3])}; nanosleep(&t, &t);) continue;
    return 7;
}
