/* A server in small: for each line of standard input, "A N" or "B N", it does N pieces of work in
 * that way, writes its profile and answers. Way A takes the first branch of step() most of the
 * time, way B the second; rare() runs in way B alone. */
#include <footpath/runtime.h>
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline)) static void first(unsigned n)
{
    sink += n * 3;
}

__attribute__((noinline)) static void second(unsigned n)
{
    sink ^= n << 2;
}

/* Branches around calls stay branches. */
__attribute__((noinline)) static void step(unsigned n, unsigned often)
{
    if (n % 8 < often)
        first(n);
    else
        second(n);
    if (n % 16 == 5) sink -= 7;
}

__attribute__((noinline)) static unsigned rare(unsigned n)
{
    return n & 1 ? n / 3 : n * 5;
}

__attribute__((noinline)) static void work(char way, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        step(i, way == 'A' ? 7 : 1);
        if (way == 'B') sink += rare(i);
    }
}

int main(void)
{
    char way;
    unsigned count;
    while (scanf(" %c %u", &way, &count) == 2) {
        work(way, count);
        if (footpath_dump) footpath_dump();
        printf("done\n");
        fflush(stdout);
    }
    return 0;
}
