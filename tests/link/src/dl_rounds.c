/* Loads and unloads two libraries, one after the other, 100 times over while threads run
 * that never call them. Then ends as asked: by return, by quick_exit or by a signal. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100, THREADS = 4 };

static volatile int stop;

static int turn(unsigned n)
{
    return n & 1 ? (int)(3 * n + 1) : (int)(n >> 1);
}

static void *run(void *unused)
{
    (void)unused;
    volatile unsigned n = 27;
    while (!stop) n = n == 1 ? 27 : (unsigned)turn(n);
    return NULL;
}

static int use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*work)(int) = (int (*)(int))dlsym(library, "work");
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += work(i);
    printf("%d\n", sum);
    return dlclose(library);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc < 4) return 2;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < ROUNDS; i++)
        if (use(argv[2 + i % 2])) return 1;
    fflush(stdout);
    if (!strcmp(argv[1], "signal")) raise(SIGTERM);
    stop = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (!strcmp(argv[1], "quick")) quick_exit(0);
    return 0;
}
