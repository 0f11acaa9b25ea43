/* A program that adapts itself by its own paths: a cache that grows while lookups miss.
 *
 *     footpath-cc -O2 --fp-query examples/adapts.c -o adapts && ./adapts
 *     clang -O2 examples/adapts.c -o adapts && ./adapts      the same program, without footpath
 *
 * Nothing in `lookup` counts hits or misses. The program asks footpath which of its paths were
 * taken. Ids of paths are those of a build, so the program learns them: it makes a lookup that must
 * miss, and asks which path that was. */
#include <footpath/runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 12 };

static unsigned keys[MOST], values[MOST], size = 16;

static unsigned compute(unsigned key)
{
    for (int i = 0; i < 100; i++) key = key * 1664525 + 1013904223;
    return key;
}

__attribute__((noinline)) static unsigned lookup(unsigned key)
{
    unsigned place = key % size;
    if (keys[place] != key) {
        keys[place] = key;
        values[place] = compute(key);
    }
    return values[place];
}

static struct footpath_query_path kept[64];

/* The path of a lookup that misses. */
static uint64_t path_of_miss(void)
{
    struct footpath_query_mark mark;
    struct footpath_query_path path = {0, 0};
    footpath_query_mark(&mark, (void *)lookup, kept, 64);
    lookup(12345);
    footpath_query_hottest(&mark, &path, 1, NULL);
    return path.id;
}

/* Where most lookups missed since the mark, a larger cache may help. */
static void adapt(const struct footpath_query_mark *mark, uint64_t miss)
{
    double share = footpath_query_share(mark, miss);
    printf("cache of %u: %.0f%% of lookups missed\n", size, share * 100);
    if (share > 0.5 && size < MOST) size *= 4;
}

int main(void)
{
    unsigned sum = 0, next = 1;
    uint64_t miss = footpath_query_mark ? path_of_miss() : 0;
    for (int round = 0; round < 6; round++) {
        struct footpath_query_mark mark;
        if (footpath_query_mark) footpath_query_mark(&mark, (void *)lookup, kept, 64);
        for (int i = 0; i < 20000; i++) {
            next = next * 1103515245 + 12345;
            sum += lookup(1 + next / 65536 % 500);
        }
        if (footpath_query_mark) adapt(&mark, miss);
    }
    printf("%u\n", sum);
    return 0;
}
