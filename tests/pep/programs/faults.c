/* Signals that the program's own instructions raise: int3 where a function begins, faults that a
 * handler mends, leaves by siglongjmp or does not survive; SIGTRAP and SIGSEGV that are sent.
 * Prints what the program saw; the same with and without samples. With a word it dies that way. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "work.h"

static volatile unsigned long work;
static volatile int traps, faults, sent, steps;
static sigjmp_buf back;
static char *page;

/* The byte under our trap is a trap of the program's own. */
__attribute__((noinline)) static unsigned long stops(unsigned long x)
{
    __builtin_debugtrap();
    return spin(20, x) + (x & 4 ? 3 : 5);
}

/* A loop whose paths begin with an instruction that may fault. */
__attribute__((noinline)) static unsigned long reads(const volatile char *from, int n)
{
    unsigned long sum = 0;
    for (int i = 0; i < n; i++) sum += (unsigned long)from[i] * (sum & 1 ? 3 : 2);
    return sum;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    ucontext_t *where = context;
    (void)signal;
    if (info->si_code <= 0)
        sent++;
    else
        traps++;
    if (where->uc_mcontext.gregs[REG_EFL] & 0x100) steps++;
}

static void mend(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void leave(int signal)
{
    (void)signal;
    faults++;
    siglongjmp(back, 1);
}

static void count_sent(int signal)
{
    (void)signal;
    sent++;
}

static void fault_again(int signal)
{
    (void)signal;
    (void)!write(1, "once\n", 5);
    work += (unsigned long)*(volatile char *)16;
}

static void set(int signal, void *handler, int flags)
{
    struct sigaction action = {.sa_flags = flags};
    memcpy(flags & SA_SIGINFO ? (void *)&action.sa_sigaction : (void *)&action.sa_handler, &handler, sizeof handler);
    sigaction(signal, &action, NULL);
}

static void die(const char *how)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    double until = cpu() + 0.05;
    while (cpu() < until) work += spin(1000, work);
    if (!strcmp(how, "trap")) stops(1);
    if (!strcmp(how, "ignored-trap")) signal(SIGTRAP, SIG_IGN), stops(1);
    if (!strcmp(how, "sent-trap")) raise(SIGTRAP);
    if (!strcmp(how, "ignored")) signal(SIGSEGV, SIG_IGN);
    if (!strcmp(how, "blocked")) set(SIGSEGV, (void *)count_sent, 0), sigprocmask(SIG_BLOCK, &one, NULL);
    if (!strcmp(how, "again")) set(SIGSEGV, (void *)fault_again, 0);
    if (!strcmp(how, "once")) set(SIGSEGV, (void *)fault_again, (int)SA_RESETHAND | SA_NODEFER);
    work += reads((char *)16, 5);
}

int main(int argc, char **argv)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc > 1) die(argv[1]);
    set(SIGTRAP, (void *)on_trap, SA_SIGINFO);
    double until = cpu() + 0.3;
    int stopped = 0, mended = 0, left = 0;
    for (; cpu() < until; stopped++) work += stops((unsigned long)stopped) + spin(2000, work);
    for (int i = 0; i < 100; i++) raise(SIGTRAP), work += spin(500, work);
    printf("traps %s, sent %d, steps %d\n", traps == stopped ? "all" : "not all", sent, steps);

    struct sigaction old;
    sigaction(SIGSEGV, NULL, &old);
    printf("faults were %s\n", old.sa_handler == SIG_DFL ? "default" : "taken");
    set(SIGSEGV, (void *)mend, SA_SIGINFO);
    for (until = cpu() + 0.3; cpu() < until; mended++) {
        mprotect(page, 4096, PROT_NONE);
        work += reads(page, 40) + spin(300, work);
    }
    printf("mended %s\n", faults == mended ? "all" : "not all");
    set(SIGSEGV, (void *)leave, 0);
    faults = 0;
    for (until = cpu() + 0.3; cpu() < until; left++)
        if (!sigsetjmp(back, 1)) work += spin(300, work) + reads((char *)16, 5);
    printf("left %s\n", faults == left ? "all" : "not all");
    signal(SIGSEGV, count_sent);
    sigset_t one, now;
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    sent = 0;
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGSEGV);
    work += spin(100000, work);
    printf("sent while blocked %d", sent);
    sigprocmask(SIG_UNBLOCK, &one, &now);
    printf(", then %d, was blocked %d\n", sent, sigismember(&now, SIGSEGV));
    return 0;
}
