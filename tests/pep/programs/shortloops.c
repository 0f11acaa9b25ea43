/* Short loops that move the running register: it is kept in a register of the processor there, and
 * sites in the loop are told where both parts of it are. Loops of two ways, left at two places, in
 * another loop, and with a path that goes on behind the loop.
 *
 *     shortloops ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 64 };

/* as quantum_toffoli of libquantum */
__attribute__((noinline)) static long flip(unsigned *cells, unsigned mask, unsigned by)
{
    long flipped = 0;
    for (int i = 0; i < CELLS; i++)
        if ((cells[i] & mask) == mask) cells[i] ^= by;
    if (by & 1) flipped += 3;
    return cells[by % CELLS] & 4 ? flipped : flipped + 1;
}

__attribute__((noinline)) static unsigned pick(const unsigned *cells, unsigned n, unsigned from)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (cells[i] & 1)
            sum += cells[i] >> 3;
        else if (cells[i] & 2)
            sum ^= i;
        if (i + from == CELLS - 2) break;
    }
    return sum;
}

__attribute__((noinline)) static unsigned table(unsigned *cells, unsigned n)
{
    unsigned odd = 0;
    for (unsigned row = 0; row < n; row++) {
        if (row & 1) cells[row] += n;
        for (unsigned i = 0; i < 16; i++)
            if (cells[i] > cells[i + row]) odd += i & row;
        if (odd & 64) cells[row]++;
    }
    return odd;
}

int main(int argc, char **argv)
{
    static unsigned cells[2 * CELLS];
    long rounds = argc > 1 ? atol(argv[1]) : 1000, result = 0;
    for (unsigned i = 0; i < 2 * CELLS; i++) cells[i] = i * 2654435761u >> 7;
    for (long i = 0; i < rounds; i++) {
        unsigned bit = 1u << i % 20;
        result += flip(cells, bit | bit << 1, (unsigned)i);
        result += pick(cells, CELLS, (unsigned)i % 8);
        result += table(cells, (unsigned)i % 5);
    }
    printf("%ld\n", result);
}
