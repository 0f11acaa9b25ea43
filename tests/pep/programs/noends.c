/* Paths that end where nothing is left to do: such a block has no code without optimisation, so its
 * address is that of the next one, which others jump to.
 *
 *     noends ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;
static unsigned char code[4096];

__attribute__((noinline)) static long go(const unsigned char *pc)
{
    long a = 0, b = 1;
    for (;;) {
        switch (*pc++) {
        case 0: return a;
        case 1: a += b; break;
        case 2: b ^= a; break;
        case 3:
            if (a & 1) {
                a += 3;
                if (b & 2) sink = 1;
                break;
            }
            b++; /* fall through */
        case 4: a -= 7; break;
        case 5: a--; /* fall through */
        case 6: b += 2; break;
        case 8:
            for (int i = 0; i < 3; i++) {
                if (a & 1) continue;
                a++;
            } /* fall through */
        default: a ^= 5;
        }
    }
}

int main(int argc, char **argv)
{
    unsigned next = 1;
    long sum = 0, rounds = argc > 1 ? atol(argv[1]) : 1;
    for (int i = 0; i < 4095; i++) {
        next = next * 1103515245 + 12345;
        code[i] = 1 + (next >> 16) % 9;
    }
    for (long i = 0; i < rounds; i++) sum += go(code);
    printf("%ld\n", sum);
    return 0;
}
