/* Children are forked, and call exit, while other threads begin: what a thread that begins
 * has locked stays locked in the child.
 * cflags: -pthread
 * run: -> 0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 300, FORKERS = 2, FORKS = 60 };

static pthread_barrier_t all_began;

static int __attribute__((noinline)) step(int n)
{
    if (n % 3 == 0) return n / 3;
    return n + 1;
}

/* Stays until all are there, so that each has counters of its own. */
static void *begin(void *arg)
{
    int *number = arg;
    *number = step(*number);
    pthread_barrier_wait(&all_began);
    return NULL;
}

static void *keep_forking(void *arg)
{
    int *bad = arg;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) exit(step(7));
        int status = 0;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 8) ++*bad;
    }
    return NULL;
}

int main(void)
{
    static int numbers[THREADS], bad[FORKERS];
    pthread_t threads[THREADS], forkers[FORKERS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 17);
    pthread_barrier_init(&all_began, NULL, THREADS);
    for (int i = 0; i < FORKERS; i++) pthread_create(&forkers[i], NULL, keep_forking, &bad[i]);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], &small, begin, &numbers[i])) return 2;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < FORKERS; i++) pthread_join(forkers[i], NULL);
    int sum = 0;
    for (int i = 0; i < THREADS; i++) sum += numbers[i];
    printf("%d %d\n", sum, bad[0] + bad[1]);
    return 0;
}
