/* Threads with small alternate signal stacks, 2 KB above what the kernel needs, and handlers that
 * run on them: they hold path ends. Prints what the program saw; the same with and without
 * samples. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

enum { MORE = 2048, GUARD = 4096, ROUNDS = 400 };

static volatile unsigned long work;
static volatile int handled, on_stack;

static void on_signal(int signal)
{
    (void)signal;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    work += spin(300, work); /* long enough for a tick to come now and then */
}

/* The stack lies behind a page that nobody may touch. */
static stack_t small_stack(void)
{
    size_t least = getauxval(AT_MINSIGSTKSZ), size = (least ? least : MINSIGSTKSZ) + MORE;
    size_t room = (size + GUARD - 1) / GUARD * GUARD;
    char *at = mmap(NULL, room + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at, GUARD, PROT_NONE);
    return (stack_t){.ss_sp = at + GUARD, .ss_size = size};
}

static void *worker(void *unused)
{
    (void)unused;
    stack_t stack = small_stack();
    if (sigaltstack(&stack, NULL)) return "no stack";
    double until = cpu() + 0.4;
    for (int i = 0; i < ROUNDS || cpu() < until; i++) {
        work += spin(3000, work);
        if (i < ROUNDS) pthread_kill(pthread_self(), SIGUSR1);
    }
    stack_t now;
    sigaltstack(NULL, &now);
    return now.ss_sp == stack.ss_sp && now.ss_size == stack.ss_size ? "kept" : "lost";
}

int main(void)
{
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        printf("stack %s\n", (char *)result);
    }
    printf("handled %d, worker %s\n", handled, (char *)worker(NULL));
    printf("handled %d\n", handled);
    return 0;
}
