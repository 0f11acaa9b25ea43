/* A branch whose sides take very different times: one waits for memory, the other does not. Which
 * side it takes is decided in registers. */
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1 << 23 };

static unsigned next[ROOM];

static void fill(void)
{
    for (unsigned i = 0; i < ROOM; i++) next[i] = i * 2654435761u % ROOM;
}

static unsigned long walk(unsigned long rounds)
{
    unsigned long x = 1, sum = 0;
    unsigned at = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        if (x >> 60)
            sum ^= x >> 7;
        else
            at = next[(at ^ (unsigned)x) % ROOM];
        sum += at;
    }
    return sum;
}

int main(int argc, char **argv)
{
    fill();
    printf("%lu\n", walk(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000));
    return 0;
}
