/* A timer's handler runs instrumented code, often in the middle of counting the same
 * functions; also with many paths (a hash table).
 * run: -> 0
 * not: deterministic
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile long ticks, total;

static int __attribute__((noinline)) many(unsigned x)
{
    int r = 0;
#define D(k) if (x >> k & 1) r += k; else r ^= k + 3;
    D(0) D(1) D(2) D(3) D(4) D(5) D(6) D(7) D(8) D(9) D(10) D(11) D(12) D(13) D(14) D(15)
    return r;
}

static int __attribute__((noinline)) few(unsigned x)
{
    return x & 1 ? (int)x : x & 2 ? -1 : 0;
}

static void on_tick(int number)
{
    ticks += number > 0;
    for (unsigned i = 0; i < 50; i++) total += many(i * 77) + few(i);
}

int main(void)
{
    struct itimerval timer = {{0, 300}, {0, 300}};
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &timer, NULL);
    long sum = 0;
    unsigned i = 0;
    while (ticks < 300) {
        sum += many(i * 2654435761u >> 16) + few(i);
        i++;
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    puts(sum ? "done" : "none");
    return 0;
}
