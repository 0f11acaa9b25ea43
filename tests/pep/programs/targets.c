/* Indirect calls with known targets, in three threads and in a library: targets LIBRARY ROUNDS.
 *
 * Three of four calls of `steps` go to `often`; of those of `ends`, in the same function, all go to
 * `last`. The library has the same names for other functions, and calls `back` in this program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned step(unsigned);

__attribute__((noinline)) static unsigned often(unsigned x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) static unsigned seldom(unsigned x)
{
    return x & 64 ? x ^ 0x55 : x + 9;
}

__attribute__((noinline)) static unsigned rarely(unsigned x)
{
    return x - 7;
}

__attribute__((noinline)) static unsigned last(unsigned x)
{
    return x / 5;
}

__attribute__((noinline)) static unsigned never(unsigned x)
{
    return x / 7;
}

__attribute__((noinline)) unsigned back(unsigned x)
{
    return x + 3;
}

static step *volatile steps[8] = {often, seldom, often, often, often, rarely, often, often};
static step *volatile ends[2] = {last, last}, *volatile unused = never;
static unsigned long rounds;
static unsigned (*visit)(unsigned long, step *);

__attribute__((noinline)) static unsigned walk(unsigned long n, unsigned x)
{
    for (unsigned long i = 0; i < n; i++) {
        x = steps[i & 7](x);
        if (x & 32) x += ends[i & 1](x);
    }
    return x ? x : unused(x);
}

static void *work(void *seed)
{
    unsigned x = *(unsigned *)seed;
    for (unsigned i = 0; i < 100; i++) x += walk(rounds / 100, x) + visit(rounds / 100, back);
    *(unsigned *)seed = x;
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    unsigned seeds[THREADS + 1] = {1, 2, 3};
    if (argc < 3) return 2;
    void *library = dlopen(argv[1], RTLD_NOW);
    visit = library ? (unsigned (*)(unsigned long, step *))dlsym(library, "visit") : NULL;
    rounds = strtoul(argv[2], NULL, 10);
    if (!visit) return 3;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &seeds[i])) return 4;
    work(&seeds[THREADS]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%u %u %u\n", seeds[0], seeds[1], seeds[2]);
    return 0;
}
