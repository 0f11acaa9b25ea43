/* A timer's handler calls the functions that it interrupts, whose loops touch no memory. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile unsigned long total;
static volatile int ticks;

static unsigned long __attribute__((noinline)) mix(unsigned long x, int n)
{
    for (int i = 0; i < n; i++) {
        if ((x ^ (unsigned long)i) & 1) x = x * 3 + 1;
        else x >>= 1;
    }
    return x;
}

static unsigned long __attribute__((noinline)) nest(unsigned long x, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x = x & 4 ? x + (unsigned long)j : x ^ x << 3;
    return x;
}

static void on_tick(int number)
{
    ticks += number > 0;
    total += mix(total, 30) + nest(total, 5);
}

int main(void)
{
    struct itimerval timer = {{0, 200}, {0, 200}};
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (unsigned long x = 1; ticks < 300; x++) total += mix(x, 400) + nest(x, 20);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    puts("done");
    return 0;
}
