/* Loads a library five times in a row, in two threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *load(void *name)
{
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        void *loaded = dlopen(name, RTLD_NOW);
        long (*function)(long) = loaded ? (long (*)(long))dlsym(loaded, "library_work") : NULL;
        if (!function) return NULL;
        sum += function(i);
        dlclose(loaded);
    }
    printf("%ld\n", sum);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t t;
    if (count < 2) return 2;
    load(arguments[1]);
    pthread_create(&t, NULL, load, arguments[1]);
    pthread_join(t, NULL);
    load(arguments[1]);
    return 0;
}
