/* Code that calls its own middle to learn its address, and code with data in it.
 *
 *     middle ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((used, visibility("hidden"))) int middle_table[4] = {11, 22, 33, 44};

/* The distance is what the linker knows, from the first body. */
__attribute__((noinline)) static long by_distance(long n)
{
    int *table;
    long sum = 0;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall 1f\n1:\tpop %0\n\tadd $(middle_table - 1b), %0\n\tlea 128(%%rsp), %%rsp"
                     : "=r"(table));
    for (int k = 0; k < 4; k++) {
        if (table[k] & 1)
            sum += n;
        else
            sum ^= table[k];
    }
    return sum;
}

/* What is jumped over looks like the begin of an instruction that goes on where the jump leads. */
__attribute__((noinline)) static long over_data(long n)
{
    long x = n;
    __asm__ volatile("jmp 1f\n\t.byte 0x48, 0xb8\n1:\tadd $3, %0" : "+r"(x));
    return n & 1 ? x : x * 2;
}

int main(int argc, char **argv)
{
    long sum = 0, rounds = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < rounds; i++) sum += by_distance(i) ^ over_data(i);
    printf("%ld\n", sum);
    return 0;
}
