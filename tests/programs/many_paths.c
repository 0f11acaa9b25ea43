/* 5.4e9 paths, of which 6,000 are taken: each has its own number. They do not
 * fit the first level of the hash table.
 * run: -> 0
 * returns: compared also without --fp-exits
 * paths: many 6000
 */
#include <stdio.h>

static unsigned sink;

/* 3^20 * ... : twenty choices of three, and a few of two */
static void __attribute__((noinline)) many(unsigned long long x)
{
#define T(k)                                   \
    switch (x >> (k) & 3) {                    \
    case 0: sink += k; break;                  \
    case 1: sink ^= 0x10 + k; break;           \
    default: sink = sink * 3 + k;              \
    }
    T(0) T(2) T(4) T(6) T(8) T(10) T(12) T(14) T(16) T(18)
    T(20) T(22) T(24) T(26) T(28) T(30) T(32) T(34) T(36) T(38)
}

int main(void)
{
    for (int round = 0; round < 3; round++)
        for (unsigned long long i = 0; i < 6000; i++) {
            unsigned long long x = 0; /* digits in base 3 */
            for (unsigned long long k = 0, v = i * 20170303; k < 20; k++, v /= 3) x |= (v % 3) << (2 * k);
            many(x);
        }
    printf("%u\n", sink);
    return 0;
}
