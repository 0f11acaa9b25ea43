/* Counts in front of branches whose condition waits in the flags, as code without
 * optimisation has them: of compares, switches, and conversions that code generation makes
 * branches of. And an exit on a stack that is not aligned to 16 bytes, as hand-written code leaves it.
 * run: -> 0
 * run: unaligned -> 3
 * calls: pick 12
 * not: cycles, which need the path register where the assembly has moved the stack pointer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int sink;

static int __attribute__((noinline)) pick(int n)
{
    switch (n) {
    case 2: sink++; return 20;
    case 3: sink += 2; return 30;
    case 700: return 7;
    default: break;
    }
    return n > 4 ? sink : -1;
}

static struct pair {
    int a, b;
} made = {1, 2}, *pair = &made;

static void __attribute__((noinline)) complain(void) { puts("not so"); }

static void __attribute__((noinline)) must_be(void)
{
    if (pair->a != 1 || pair->b != 2) complain();
}

static unsigned __attribute__((noinline)) convert(long double x, unsigned __int128 wide, double d)
{
    unsigned __int128 back = (unsigned __int128)x;
    unsigned long whole = (unsigned long)d, most = (unsigned long)x;
    if ((long double)wide != x) return 1;
    if (back != wide) return 2;
    if ((double)whole != d || (unsigned long)d > most) return 3;
    return wide > 5 ? 4 : 5;
}

static void __attribute__((used)) leave(void) { exit(3); }

int main(int argc, char **argv)
{
    int sum = 0;
    for (int n = 0; n < 12; n++) sum += pick(n % 5 == 4 ? 700 : n);
    must_be();
    printf("%d\n", sum);
    printf("%u %u %u %u\n", convert(7, 7, 5), convert(5, 5, 5), convert(6, 5, 5), convert(1e18L, 1000000000000000000, 1e17));
    if (argc > 1 && !strcmp(argv[1], "unaligned"))
        __asm__ volatile("andq $-16, %%rsp\n\tsubq $8, %%rsp\n\tcall *%0" : : "r"(leave) : "memory");
    return 0;
}
