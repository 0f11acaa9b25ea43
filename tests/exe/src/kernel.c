/* kernel.c KIND: what a libc asks the kernel for, each way one argument. `work` is called a number of
 * times that is known. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int sink, got;

__attribute__((noinline)) int work(int n)
{
    if (n & 1) return sink = n * 3;
    return sink = n + 1;
}

static void repeat(int n)
{
    for (int i = 0; i < n; i++) work(i);
}

static void spawn(void)
{
    char *words[] = {"echo", "spawned", NULL};
    pid_t child;
    int status = 0, result = posix_spawn(&child, "/bin/echo", NULL, NULL, words, environ);
    waitpid(child, &status, 0);
    printf("%d %d\n", result, status);
    printf("%d\n", posix_spawn(&child, "/no/such/file", NULL, NULL, words, environ));
    printf("%d\n", WEXITSTATUS(system("exit 3")));
    repeat(10);
}

static pthread_barrier_t both;

static void *detached(void *unused)
{
    repeat(1000);
    pthread_barrier_wait(&both);
    return unused;
}

static void threads_that_detach(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 50; i++) {
        if (pthread_create(&thread, NULL, detached, NULL)) exit(9);
        pthread_detach(thread);
        pthread_barrier_wait(&both);
    }
}

static void *late(void *unused)
{
    usleep(20000);
    repeat(100);
    puts("late");
    return unused;
}

static void first_thread_ends(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    pthread_exit(NULL);
}

static void *ends_all(void *unused)
{
    repeat(10);
    exit(unused ? 1 : 4);
}

static void thread_that_exits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ends_all, NULL);
    pthread_join(thread, NULL);
}

static void *forks(void *unused)
{
    int status;
    repeat(10);
    pid_t child = fork();
    if (child == 0) {
        repeat(10);
        exit(7);
    }
    waitpid(child, &status, 0);
    printf("forked %d\n", WEXITSTATUS(status));
    return unused;
}

static void thread_that_forks(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, forks, NULL);
    pthread_join(thread, NULL);
}

static void handler(int signal)
{
    got = signal;
    work(signal);
}

/* A stack in the file's own data, and all signals blocked on it. */
static void signal_stack(void)
{
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 10; i++) raise(SIGUSR2);
    printf("%d\n", got);
}

static void failing_exec(void)
{
    char *words[] = {"none", NULL};
    for (int i = 0; i < 10; i++) {
        execve("/no/such/file", words, environ);
        work(i);
    }
    puts(strerror(errno));
}

/* What the program set is what it is told; then it dies of the signal. */
static void actions(void)
{
    struct sigaction action;
    sigaction(SIGTERM, NULL, &action);
    printf("%d\n", action.sa_handler == SIG_DFL);
    action.sa_handler = handler;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGTERM, NULL, &action);
    printf("%d\n", action.sa_handler == handler);
    for (int i = 0; i < 10; i++) raise(SIGTERM);
    long result = syscall(SYS_rt_sigaction, SIGTERM, (void *)8, NULL, 8);
    printf("%d %ld %d\n", got, result, errno);
    signal(SIGTERM, SIG_DFL);
    fflush(stdout);
    raise(SIGTERM);
}

static int deep(int n)
{
    volatile char some[200];
    some[0] = 1;
    return n ? deep(n - 1) + some[0] : work(n);
}

/* Code without unwind tables, with little room around its calls. */
long bare_between(long a, long number, const int *zero), bare_again(long a, long number);
__asm__(".pushsection .text\n"
        "bare_between: mov %rsi, %rax\ncmpl $0, (%rdx)\njne 1f\nsyscall\nret\n1: hlt\n"
        "bare_again: mov %rsi, %rdx\n2: mov %rdx, %rax\nsyscall\njmp 2b\n"
        ".popsection\n");

int main(int count, char **words)
{
    const char *kind = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(kind, "spawn")) spawn();
    if (!strcmp(kind, "detached")) threads_that_detach();
    if (!strcmp(kind, "first")) first_thread_ends();
    if (!strcmp(kind, "thread-exits")) thread_that_exits();
    if (!strcmp(kind, "thread-forks")) thread_that_forks();
    if (!strcmp(kind, "signal-stack")) signal_stack();
    if (!strcmp(kind, "failing-exec")) failing_exec();
    if (!strcmp(kind, "actions")) actions();
    if (!strcmp(kind, "deep")) printf("%d\n", deep(20000));
    if (!strcmp(kind, "exit")) repeat(10), syscall(SYS_exit, 5);
    if (!strcmp(kind, "bare")) repeat(10), bare_between(7, SYS_exit_group, &(int){0});
    if (!strcmp(kind, "bare-again")) repeat(10), bare_again(8, SYS_exit_group);
    if (!strcmp(kind, "exit-group")) repeat(10), syscall(SYS_exit_group, 6);
    return 0;
}
