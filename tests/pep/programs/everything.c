/* Everything at once while samples are taken: threads that work, throw signals at each other, jump
 * out of handlers, fork, load and unload a library, and are cancelled. Every piece of work has a
 * sum that is known. The arguments: seconds of CPU time, then the library. Prints one line; the
 * same with and without samples. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, WORK = 4000 };

static unsigned long due;
static int wrong, forked, loaded, cancelled, jumped, handled;
static volatile int stop;
static const char *library;
static pthread_t threads[THREADS];
static __thread sigjmp_buf back;
static __thread volatile int armed;

static void add(int *to)
{
    __atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static unsigned long step(unsigned long x, unsigned long i)
{
    if (x & 1) return x * 3 + i;
    return x % 5 == 0 ? x + 7 : x >> 1;
}

__attribute__((noinline)) static unsigned long piece(unsigned long n, int depth)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < n; i++) x = step(x, i);
    return depth ? x ^ piece(n / 2, depth - 1) : x;
}

static void check(void)
{
    if (piece(WORK, 5) != due) add(&wrong);
}

static void on_signal(int signal)
{
    (void)signal;
    add(&handled);
    if (piece(100, 2) == 1) add(&wrong);
    if (!armed) return;
    armed = 0;
    siglongjmp(back, 1);
}

static void work_and_jump(void)
{
    if (!sigsetjmp(back, 1)) {
        armed = 1;
        for (int i = 0; i < 20 && armed; i++) check();
        armed = 0;
    } else {
        add(&jumped);
    }
}

static void fork_one(void)
{
    pid_t child = fork();
    if (!child) _exit(piece(WORK, 5) == due ? 7 : 1);
    int status;
    if (child < 0) return;
    while (waitpid(child, &status, 0) < 0) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) add(&wrong);
    add(&forked);
}

static void load_one(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    unsigned long (*loaded_piece)(unsigned long) = handle ? dlsym(handle, "loaded_piece") : NULL;
    if (!loaded_piece || loaded_piece(500) != loaded_piece(500)) add(&wrong);
    if (handle) dlclose(handle);
    add(&loaded);
}

static void *victim(void *unused)
{
    (void)unused;
    sigset_t all;
    sigfillset(&all); /* its handler would jump with libc's locks held */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (unsigned long x = 1;; x++) (void)piece(x & 63, 3);
    return NULL;
}

static void cancel_one(void)
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, victim, NULL)) return;
    check();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) add(&wrong);
    add(&cancelled);
}

/* Some threads take the signals, and only those jump. */
static void *worker(void *arg)
{
    long kind = (long)arg;
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    sigaddset(&mine, SIGALRM);
    pthread_sigmask(kind < 3 ? SIG_UNBLOCK : SIG_BLOCK, &mine, NULL);
    while (!stop) {
        if (kind < 3) work_and_jump();
        if (kind == 3) fork_one();
        if (kind == 4) load_one();
        if (kind == 5) cancel_one();
        if (kind == 6) pthread_kill(threads[0], SIGUSR1), check();
        if (kind == 7) check();
    }
    return NULL;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    library = argv[2];
    due = piece(WORK, 5);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    struct itimerval often = {{0, 3000}, {0, 3000}}, off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (double until = cpu() + atof(argv[1]); cpu() < until;) usleep(20000);
    setitimer(ITIMER_REAL, &off, NULL);
    stop = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("wrong %d%s%s%s%s%s\n", wrong, forked ? ", forked" : "", loaded ? ", loaded" : "",
           cancelled ? ", cancelled" : "", jumped ? ", jumped" : "", handled ? ", handled" : "");
    return 0;
}
