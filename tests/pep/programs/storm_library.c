/* The library of storm.c: it calls back into the program. */
#include <stdlib.h>

unsigned long visit(unsigned n, int (*compare)(const void *, const void *));

static int (*use)(const void *, const void *);

static int other_way(const void *a, const void *b)
{
    return use(b, a);
}

unsigned long visit(unsigned n, int (*compare)(const void *, const void *))
{
    unsigned words[64], sum = 0;
    for (unsigned i = 0; i < 64; i++) words[i] = n = n * 69069u + 1u;
    use = compare;
    qsort(words, 64, sizeof *words, other_way);
    for (unsigned i = 0; i < 64; i++) sum += words[i] % 3 ? words[i] >> (i & 7) : i;
    return sum;
}
