/* Threads that are cancelled anywhere, at points, or end in a handler. Prints how many ended how;
 * the same with and without samples. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 150, THREADS = 3 };

static unsigned long results[THREADS];
static volatile int cleaned;

__attribute__((noinline)) static unsigned long spin(unsigned long n, unsigned long x)
{
    for (unsigned long i = 0; i < n; i++) {
        if (x & 1)
            x = x * 3 + i;
        else if (x % 5 == 0)
            x += 7;
        else
            x >>= 1;
    }
    return x;
}

__attribute__((noinline)) static unsigned long deeper(int depth, unsigned long x)
{
    return depth ? deeper(depth - 1, spin(20, x)) * 3 + 1 : spin(5, x);
}

static void clean(void *unused)
{
    (void)unused;
    __atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

static void *anywhere(void *arg)
{
    volatile unsigned long *result = arg;
    pthread_cleanup_push(clean, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (unsigned long x = 1;; *result = x) x = deeper(6, x) + spin(100, x);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *at_points(void *arg)
{
    volatile unsigned long *result = arg;
    pthread_cleanup_push(clean, NULL);
    for (unsigned long x = 1;; *result = x) {
        x = deeper(6, x) + spin(100, x);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void end_here(int signal)
{
    (void)signal;
    pthread_exit("ended");
}

static void *in_handler(void *arg)
{
    volatile unsigned long *result = arg;
    pthread_cleanup_push(clean, NULL);
    for (unsigned long x = 1;; *result = x) x = deeper(6, x) + spin(100, x);
    pthread_cleanup_pop(0);
    return NULL;
}

/* 12 ms of CPU time: the kernel looks at the clocks of threads every 4 ms */
static void wait_for_ticks(pthread_t thread)
{
    clockid_t clock;
    struct timespec spent = {0, 0}, pause = {0, 1000000};
    if (pthread_getcpuclockid(thread, &clock)) return;
    while (!clock_gettime(clock, &spent) && !spent.tv_sec && spent.tv_nsec < 12000000) nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    long moments = argc > 1 ? atol(argv[1]) : 5;
    void *(*kinds[THREADS])(void *) = {anywhere, at_points, in_handler};
    int cancelled = 0, ended = 0;
    struct sigaction action = {.sa_handler = end_here};
    sigaction(SIGUSR1, &action, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, kinds[i], &results[i]);
        struct timespec moment = {0, 1000000 + moments * 10000 * (round % 37)};
        nanosleep(&moment, NULL);
        if (round % 3 == 0) /* threads that live for several ticks: most of the CPU time */
            for (int i = 0; i < THREADS; i++) wait_for_ticks(threads[i]);
        for (int i = 0; i < THREADS; i++) /* each has begun and registered its clean */
            while (!*(volatile unsigned long *)&results[i]) nanosleep(&(struct timespec){0, 100000}, NULL);
        for (int i = 0; i < 2; i++) pthread_cancel(threads[i]);
        pthread_kill(threads[2], SIGUSR1);
        for (int i = 0; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            if (result == PTHREAD_CANCELED) cancelled++;
            else ended++;
            results[i] = 0;
        }
    }
    printf("cancelled %d, ended %d, cleaned %d\n", cancelled, ended, cleaned);
    return 0;
}
