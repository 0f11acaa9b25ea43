/* Threads, signals, traps, dlopen, fork, exec, _exit: what the runtime in a rewritten program
 * has to do with. Prints the same whether it was rewritten or not. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static volatile int got;

static void note(int signal)
{
    got = signal;
}

__attribute__((noinline)) static long work(long x)
{
    long sum = 0;
    for (long i = 0; i < x; i++) sum += i & 1 ? i : -x;
    return sum;
}

static void *twice(void *x)
{
    long sum = 0;
    for (long i = 0; i < 1000; i++) sum += work(i % 7);
    return (void *)((long)x * 2 + sum);
}

static int c11(void *x)
{
    return (int)(long)x + (int)work(5);
}

__attribute__((noinline)) static void threads(void)
{
    pthread_t t[8];
    pthread_attr_t small, own;
    thrd_t other[12];
    long sum = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (long i = 0; i < 8; i++) pthread_create(&t[i], i & 1 ? &small : NULL, twice, (void *)i);
    for (int i = 0; i < 8; i++) {
        void *result;
        pthread_join(t[i], &result);
        sum += (long)result;
    }
    int results = 0;
    for (long i = 0; i < 12; i++) thrd_create(&other[i], c11, (void *)i);
    for (int i = 0; i < 12; i++) {
        int result = 0;
        thrd_join(other[i], &result);
        results += result;
    }
    pthread_attr_init(&own);
    pthread_attr_setstack(&own, aligned_alloc(4096, 1 << 16), 1 << 16);
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[0], &own, twice, NULL);
        pthread_join(t[0], NULL);
    }
    printf("threads %ld %d\n", sum, results);
}

static void signals(void)
{
    struct sigaction action, on_stack = {.sa_handler = note, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    signal(SIGUSR1, note);
    raise(SIGUSR1);
    printf("signal %d\n", got);
    sigaction(SIGTRAP, &on_stack, NULL);
    __asm__ volatile("int3");
    printf("trap %d\n", got);
    sigaction(SIGTRAP, NULL, &action);
    printf("handler %s\n", action.sa_handler == note ? "mine" : "another");
    sigaction(SIGSEGV, NULL, &action);
    printf("default %s\n", action.sa_handler == SIG_DFL ? "yes" : "no");
}

static void library(const char *name)
{
    void *loaded = dlopen(name, RTLD_NOW);
    long (*function)(long) = loaded ? (long (*)(long))dlsym(loaded, "library_work") : NULL;
    printf("library %ld %s\n", function ? function(3) : -1, loaded ? "" : dlerror());
    if (loaded) dlclose(loaded);
}

static void children(void)
{
    int status;
    fflush(stdout);
    if (!fork()) _exit((int)work(3) + 10);
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
    fflush(stdout);
    if (!fork()) execl("/bin/echo", "echo", "from", "exec", (char *)NULL);
    wait(&status);
    if (!fork()) abort();
    wait(&status);
    printf("aborted %d\n", WTERMSIG(status));
}

int main(int count, char **arguments)
{
    threads();
    signals();
    if (count > 1) library(arguments[1]);
    children();
    return count > 2 ? 3 : 0;
}
