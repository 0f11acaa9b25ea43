/* A library with a constructor, a thread and an indirect function. */
#include <pthread.h>

static int ready;

__attribute__((constructor)) static void begin(void)
{
    ready = 40;
}

static void *add(void *x)
{
    ready++;
    return x;
}

static long by_one(long x)
{
    return x + 1;
}

static long (*resolve(void))(long)
{
    return by_one;
}

long indirect(long x) __attribute__((ifunc("resolve")));

long library_work(long x)
{
    pthread_t t;
    pthread_create(&t, NULL, add, NULL);
    pthread_join(t, NULL);
    return indirect(x) + ready;
}
