/* events.c KIND: counts of `work` that are known, with threads, fork, longjmp and signals. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, CALLS = 1000000 };

volatile int sink;
static jmp_buf back;
static volatile sig_atomic_t handled;

/* Three ways: n % 4 is 0, is 2, is odd. */
__attribute__((noinline)) int work(int n)
{
    if (n & 1) return sink = n;
    if (n & 2) return sink = -n;
    return sink = n * 3;
}

static void *thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++) work(i);
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, thread, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
}

static void children(void)
{
    for (int i = 0; i < 100; i++) work(i);
    pid_t child = fork();
    for (int i = 0; i < 100; i++) work(i);
    if (!child) exit(0);
    waitpid(child, NULL, 0);
}

__attribute__((noinline)) static void jump(int n)
{
    work(n);
    longjmp(back, n + 1);
}

/* volatile: kept in memory across the jump */
static void jumps(void)
{
    volatile int i = 0;
    setjmp(back);
    while (i < 1000) jump(i++);
}

static void handler(int signal)
{
    (void)signal;
    if (handled < 200) work(handled++);
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    long calls = 0;
    while (handled < 200) work((int)(calls++ & 1023));
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld\n", calls + 200);
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    if (!strcmp(words[1], "threads")) threads();
    if (!strcmp(words[1], "children")) children();
    if (!strcmp(words[1], "jumps")) jumps();
    if (!strcmp(words[1], "signals")) signals();
    return 0;
}
