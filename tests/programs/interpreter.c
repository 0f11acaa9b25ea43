/* An interpreter with too many paths for an array, nearly all of them by ways that are seldom
 * taken. 64 cuts do not bring it to a small array, so that it gets a large one. The seldom ways are
 * taken, too.
 * returns: compared also without --fp-exits
 */
#include <stdint.h>
#include <stdio.h>

#define SELDOM(x) __builtin_expect((x) != 0, 0)

enum { REGISTERS = 16, LENGTH = 4000 };

static uint32_t state = 1;

__attribute__((noinline)) static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Two tests in a row, which change what follows: neither becomes a conditional move. */
#define CHECK(n)                                                   \
    if (SELDOM((a ^ (n)) % 23 == 0)) faults[(n) % 4] += next();    \
    if (SELDOM((b + (n)) % 29 == 0)) faults[((n) + 1) % 4] ^= a++; \
    if (SELDOM(a > 0xfffff0u - (n))) return a;

#define CODE(n, operation)                       \
    case n:                                      \
        CHECK(n)                                 \
        CHECK(n + 1)                             \
        operation;                               \
        CHECK(n + 2)                             \
        for (uint32_t i = 0; i < b % 3; i++) {   \
            if (SELDOM(i == a % 7)) c += next(); \
            c = c * 3 + i;                       \
        }                                        \
        CHECK(n + 3)                             \
        break;

__attribute__((noinline)) static uint32_t execute(uint32_t steps, uint32_t *faults)
{
    uint32_t r[REGISTERS] = {0}, sum = 0;
    if (SELDOM(steps == 0)) return 0;
    while (steps--) {
        uint32_t code = next(), a = r[code % REGISTERS], b = r[code / 16 % REGISTERS], c = code;
        switch (code / 256 % 18) {
            CODE(0, c = a + b)
            CODE(1, c = a - b)
            CODE(2, c = a * b)
            CODE(3, c = a ^ b)
            CODE(4, c = a | b)
            CODE(5, c = a & b)
            CODE(6, c = a << (b & 7))
            CODE(7, c = a >> (b & 7))
            CODE(8, c = ~a)
            CODE(9, c = b + 1)
            CODE(10, c = a % 1000 + b)
            CODE(11, c = a + b * 3)
            CODE(12, c = b - a / 3)
            CODE(13, c = a == b)
            CODE(14, c = a < b)
            CODE(15, c += b)
        case 16: sum += a; break;
        default: sum ^= code; break;
        }
        r[code / 4096 % REGISTERS] = c & 0xffffff;
    }
    return sum;
}

int main(void)
{
    uint32_t faults[4] = {0}, sum = 0;
    for (uint32_t i = 0; i < 20; i++) sum += execute(i % 5 ? LENGTH : i % 2, faults);
    printf("%u %u %u %u %u\n", sum, faults[0], faults[1], faults[2], faults[3]);
    return 0;
}
