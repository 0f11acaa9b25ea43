/* Threads that end by pthread_exit and by cancellation, from deep calls; threads
 * that still run when main returns, also with all signals blocked.
 * cflags: -pthread
 * run: exit -> 0
 * run: cancel -> 0
 * run: main-returns -> 0
 * run: main-exits -> 0
 * run: main-returns-blocked -> 0
 * not: deterministic
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int started;
static volatile long spins;

static void __attribute__((noinline)) down(int n, const char *how)
{
    if (n % 2) spins++;
    if (n) {
        down(n - 1, how);
        return;
    }
    if (!strcmp(how, "exit")) pthread_exit((void *)7);
    started = 1;
    if (!strcmp(how, "cancel"))
        for (;;) {
            pause();
            spins++;
        }
    for (;;) {
        for (int i = 0; i < 100; i++)
            if (i % 3) spins++;
        if (spins % 2) spins += 3;
    }
}

static void *thread(void *how)
{
    sigset_t all;
    sigfillset(&all);
    if (strstr(how, "blocked")) pthread_sigmask(SIG_BLOCK, &all, NULL);
    down(3, how);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    pthread_t threads[3];
    int count = !strncmp(how, "main", 4) ? 3 : 1;
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, thread, (void *)how);
    if (!strcmp(how, "exit")) {
        void *result;
        pthread_join(threads[0], &result);
        printf("%ld\n", (long)result);
        return 0;
    }
    while (!started) usleep(1000);
    usleep(20000);
    if (!strcmp(how, "cancel")) {
        void *result;
        pthread_cancel(threads[0]);
        pthread_join(threads[0], &result);
        printf("%d\n", result == PTHREAD_CANCELED);
    }
    if (!strcmp(how, "main-exits")) _exit(0);
    return 0;
}
