/* A thread works in a library that was loaded after it started; the library stays
 * until the thread has ended, then goes, then comes back. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t opened;
static int (*work)(int);

static void *run(void *unused)
{
    (void)unused;
    long sum = 0;
    pthread_barrier_wait(&opened);
    for (int i = 0; i < 1000; i++) sum += work(i);
    return (void *)sum;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    for (int round = 0; round < 2; round++) {
        pthread_t threads[4];
        pthread_barrier_init(&opened, NULL, 5);
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, NULL);
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        work = (int (*)(int))dlsym(library, "work");
        pthread_barrier_wait(&opened);
        for (int i = 0; i < 4; i++) {
            void *sum;
            pthread_join(threads[i], &sum);
            printf("%ld\n", (long)sum);
        }
        dlclose(library);
    }
    return 0;
}
