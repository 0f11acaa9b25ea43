/* Counts until SIGTERM and says how long its threads were kept from it (bench/live.py).
 *
 *     pauses THREADS
 *
 * A round is some ten microseconds of counting in arrays and a hash table. What keeps a thread from
 * counting shows in two ways. It waits for something: the kernel notes a voluntary switch. Or the
 * kernel works in its place, as for a page fault: the round takes more CPU time. That another
 * process has the core is neither, so a busy machine does not matter.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { THREADS = 64, CALLS = 300 };
static volatile sig_atomic_t stopped;
static struct {
    uint64_t rounds, longest_ns, above_ms;
    long waits;
} found[THREADS];
volatile uint64_t sink;

__attribute__((noinline)) static void few(unsigned n)
{
    if (n & 1) sink += n;
    if (n & 2) sink ^= n;
    if (n & 4) sink -= n;
    if (n & 8) sink |= n;
}

#define STEP(bit)           \
    if (n >> (bit) & 1)     \
        sink += n >> (bit); \
    else                    \
        sink ^= n;
#define FOUR(bit) STEP(bit) STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3)

__attribute__((noinline)) static void most(unsigned long n)
{
    FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16) FOUR(20) FOUR(24) FOUR(28)
}

static uint64_t spent(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static long waits(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void count_some(unsigned from)
{
    for (unsigned i = 0; i < CALLS; i++) {
        few(from + i);
        most((from + i) % 512 * 8000009ul);
    }
}

static void *spin(void *context)
{
    size_t me = (size_t)context;
    for (unsigned i = 0; i < 10000; i++) count_some(i); /* all pages and tables are there */
    long before = waits();
    uint64_t last = spent();
    for (unsigned i = 0; !stopped; i++) {
        count_some(i);
        uint64_t now = spent(), took = now - last;
        if (took > found[me].longest_ns) found[me].longest_ns = took;
        found[me].above_ms += took > 1000000;
        found[me].rounds++;
        last = now;
    }
    found[me].waits = waits() - before;
    return NULL;
}

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t made[THREADS];
    if (threads < 1 || threads > THREADS) return 2;
    signal(SIGTERM, stop);
    for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, spin, (void *)(size_t)i);
    for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
    uint64_t rounds = 0, longest = 0, above = 0;
    long waited = 0;
    for (int i = 0; i < threads; i++) {
        rounds += found[i].rounds, waited += found[i].waits, above += found[i].above_ms;
        if (found[i].longest_ns > longest) longest = found[i].longest_ns;
    }
    printf("%llu %llu %llu %ld\n", (unsigned long long)rounds, (unsigned long long)longest,
           (unsigned long long)above, waited);
    return 0;
}
