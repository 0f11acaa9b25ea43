/* A branch that the compiler decides after it was instrumented (--fp-at=early). When the loop of a
 * call has come to its end, that the call goes on is known: this way has a copy of the code that
 * follows, without the branch. The site in front of the branch and the arrival behind it then have
 * one address. As in deflate_slow of zlib, in which the paths of such ways had no samples.
 *
 *     threaded ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long seed = 1;
static volatile unsigned room = 1000000, flushed;

__attribute__((noinline)) static void flush(void)
{
    flushed++;
}

#define FLUSH() do { flush(); if (!room) return 0; } while (0)

__attribute__((noinline)) static unsigned rounds_of(unsigned *state, long n)
{
    unsigned kept = 0;
    for (long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        unsigned x = (unsigned)(seed >> 33);
        if (x & 1) {
            unsigned length = 1 + (x >> 8) % 3;
            do {
                if (x & 256) state[length]++;
                state[0] += length;
            } while (--length);
            kept = 0;
            if ((x & 0x3ff0) == 0x10) FLUSH();
        } else if (kept) {
            state[5] += x;
            if ((x & 0xff0) == 0x20) flush();
            if (!room) return 0;
        } else {
            kept = 1;
            state[6]++;
        }
    }
    return state[0] + state[5];
}

int main(int argc, char **argv)
{
    static unsigned state[8];
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    unsigned result = 0;
    for (long i = 0; i < rounds; i++) result += rounds_of(state, i % 4);
    printf("%u %u %u %u\n", result, state[1], state[6], flushed);
}
