/* Values in floating-point registers while a path is counted in a hash table for the
 * first time, which may take memory: they must come out unchanged.
 * run: -> 0
 * returns: compared also without --fp-exits
 * paths: wander 3000
 */
#include <stdio.h>

static double __attribute__((noinline)) wander(unsigned x, double a, double b, double c, double d)
{
    float f = (float)x, g = f + 1, h = g + 1, i = h + 1, j = i + 1, k = j + 1, l = k + 1, m = l + 1;
#define T(bit)                                             \
    if (x >> (bit) & 1) {                                  \
        a += b;                                            \
        f += g;                                            \
        h -= (float)c;                                     \
    } else {                                               \
        c -= d;                                            \
        i += 1.5f;                                         \
        j += f;                                            \
    }                                                      \
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(k), "+x"(l), "+x"(m));
    T(0) T(1) T(2) T(3) T(4) T(5) T(6) T(7) T(8) T(9) T(10) T(11) T(12) T(13)
    T(14) T(15) T(16) T(17) T(18) T(19)
    return a + b + c + d + f + g + h + i + j + k + l + m;
}

int main(void)
{
    double sum = 0, total = 0;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned x = 0; x < 3000; x++) {
            double keep = x * 0.25, more = keep + 3, third = more * 2;
            sum += wander(x * 349u, keep, more, third, sum * 0.001);
            total += sum;
            sum = sum * 0.125 + keep + more + third;
        }
    printf("%.17g\n", total);
    return 0;
}
