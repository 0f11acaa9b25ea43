/* Branches that are decided by constants which the file does not hold: copies of a library's, and
 * addresses of its functions. The file has zeros there. The first side is always taken. */
#include <stdio.h>
#include <stdlib.h>

extern const int limits[4];
extern int triple(int);
static int (*const table[4])(int) = {triple, triple, triple, triple};

static long near, far;

__attribute__((noinline)) static void look(unsigned x)
{
    int seven = (int)(x & 1023);
#ifdef POINTERS
    if (table[x & 3])
#else
    if (seven < limits[x & 3])
#endif
        near += x / 7 + x / 3, near ^= seven;
    else
        far += x / 5, far ^= x / 11;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    unsigned state = 1;
    for (long i = 0; i < rounds; i++) {
        state = state * 1103515245 + 12345;
        look(state >> 8);
    }
    printf("%ld %ld %d\n", near, far, table[0](1));
    return 0;
}
