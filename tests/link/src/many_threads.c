/* 16 threads count in the hash tables of a library that was linked, of one that is loaded
 * here while they run, and with -DOWN_TABLE of the program itself. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "many_paths.h"

enum { THREADS = 16, CALLS = 500 };

#ifdef OWN_TABLE
MANY_PATHS(many_own)
#else
static void many_own(unsigned long long x, volatile int *sink)
{
    *sink = (int)x;
}
#endif

typedef void many(unsigned long long x, volatile int *sink);
many many_linked;
static many *many_loaded;
static pthread_barrier_t opened;

static void *run(void *number)
{
    volatile int sink = 0;
    long sum = 0;
    pthread_barrier_wait(&opened);
    for (unsigned long long i = 0; i < CALLS; i++) {
        unsigned long long x = (i + (unsigned long)number * CALLS / 2) * 0x9e3779b97f4a7c15;
        many_linked(x, &sink);
        sum += sink;
        many_loaded(x, &sink);
        sum += sink;
        many_own(x, &sink);
        sum += sink;
    }
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long sums = 0;
    if (argc < 2) return 2;
    pthread_barrier_init(&opened, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    many_loaded = (many *)dlsym(library, "many_loaded");
    pthread_barrier_wait(&opened);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        sums += (long)sum;
    }
    printf("%ld\n", sums);
    return 0;
}
