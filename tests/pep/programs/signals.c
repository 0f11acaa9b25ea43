/* A program with timers, handlers and masks of its own: it must not see that it is
 * sampled. Prints what it saw; the same with and without samples. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long work, profs, traps, reals;
static volatile int pipe_ends[2];

static unsigned long spin(unsigned long n, unsigned long seed)
{
    for (unsigned long i = 0; i < n; i++) {
        if (seed & 1)
            seed = seed * 3 + 1;
        else if (seed % 3 == 0)
            seed /= 2;
        else
            seed = seed * 5 + i;
    }
    return seed;
}

/* Handlers do work as well, with everything blocked: they hold path ends. */
static void on_prof(int signal)
{
    (void)signal;
    profs++;
    work += spin(2000, profs);
}

static void on_real(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    reals++;
    work += spin(500, reals);
}

static void on_trap(int signal)
{
    (void)signal;
    traps++;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set(int signal, void *handler, int flags)
{
    struct sigaction action = {.sa_flags = flags};
    if (flags & SA_SIGINFO)
        action.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
    else
        action.sa_handler = (void (*)(int))handler;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* System calls that no SA_RESTART covers, while the timers of the program are off. */
static int count_interrupted(void)
{
    int interrupted = 0;
    double until = cpu() + 0.25;
    while (cpu() < until) {
        struct timespec moment = {0, 1000};
        struct timeval tv = {0, 1};
        struct pollfd fd = {pipe_ends[0], POLLIN, 0};
        work += spin(200, work);
        interrupted += nanosleep(&moment, NULL) < 0 && errno == EINTR;
        interrupted += poll(&fd, 1, 0) < 0 && errno == EINTR;
        interrupted += select(0, NULL, NULL, NULL, &tv) < 0 && errno == EINTR;
        char byte = 1;
        interrupted += write(pipe_ends[1], &byte, 1) != 1;
        interrupted += read(pipe_ends[0], &byte, 1) != 1;
    }
    return interrupted;
}

static int same_mask(const sigset_t *a, const sigset_t *b)
{
    for (int s = 1; s < NSIG; s++)
        if (s != SIGKILL && s != SIGSTOP && s != 32 && s != 33 && sigismember(a, s) != sigismember(b, s))
            return 0;
    return 1;
}

static void *blocked_worker(void *unused)
{
    (void)unused;
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    int inherited = same_mask(&all, &now);
    double until = cpu() + 0.15;
    while (cpu() < until) work += spin(1000, work);
    return inherited ? "inherited" : "not inherited";
}

int main(void)
{
    int ends[2];
    if (pipe(ends)) return 1;
    pipe_ends[0] = ends[0], pipe_ends[1] = ends[1];
    sigset_t all, none, now;
    sigfillset(&all);
    sigemptyset(&none);

    set(SIGPROF, (void *)on_prof, SA_RESTART);
    set(SIGALRM, (void *)on_real, SA_RESTART | SA_SIGINFO);
    struct itimerval prof = {{0, 20000}, {0, 20000}}, real = {{0, 15000}, {0, 15000}}, off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &prof, NULL);
    setitimer(ITIMER_REAL, &real, NULL);
    double until = cpu() + 0.4;
    /* a busy machine may let a timer wait, but not for long */
    while (cpu() < until || ((profs < 5 || reals < 5) && cpu() < until + 3)) work += spin(1000, work);
    setitimer(ITIMER_PROF, &off, NULL);
    setitimer(ITIMER_REAL, &off, NULL);
    printf("profiling timer %s, real timer %s\n", profs >= 5 ? "ran" : "starved", reals >= 5 ? "ran" : "starved");
    printf("interrupted %d\n", count_interrupted());

    struct sigaction old;
    sigaction(SIGTRAP, NULL, &old);
    printf("trap was %s\n", old.sa_handler == SIG_DFL ? "default" : "taken");
    set(SIGTRAP, (void *)on_trap, 0);
    for (int i = 0; i < 100; i++) {
        raise(SIGTRAP);
        __asm__ volatile("int3");
        work += spin(10000, work);
    }
    sigaction(SIGTRAP, NULL, &old);
    printf("traps %lu, handler %s\n", traps, old.sa_handler == on_trap ? "kept" : "lost");
    int signals = 0;
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) {
        set(s, (void *)on_trap, 0);
        raise(s);
        signals++;
    }
    printf("real-time signals %s\n", traps == 200ul + (unsigned long)signals ? "all" : "lost");

    pthread_sigmask(SIG_SETMASK, &all, &now);
    printf("mask before %s\n", same_mask(&now, &none) ? "empty" : "changed");
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    printf("mask now %s\n", same_mask(&now, &all) ? "full" : "changed");
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, blocked_worker, NULL);
    until = cpu() + 0.15;
    while (cpu() < until) work += spin(1000, work);
    pthread_join(thread, &result);
    sigprocmask(SIG_SETMASK, &none, &now);
    printf("thread %s, mask %s\n", (char *)result, same_mask(&now, &all) ? "full" : "changed");
    fflush(stdout);
    return 0;
}
