/* One path that is left by longjmp, as often as the argument says, with other values on the
 * stack each time. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;

__attribute__((noinline)) static void dirty(unsigned long seed)
{
    volatile unsigned long words[256];
    for (int i = 0; i < 256; i++) words[i] = seed * 0x9E3779B97F4A7C15ul + (unsigned long)i;
}

__attribute__((noinline)) static void parse(int x)
{
    if (x >= 0) longjmp(place, 1);
}

__attribute__((noinline)) static void note(int x)
{
    __asm__ volatile("" ::"r"(x));
}

__attribute__((noinline)) static int request(int x)
{
    parse(x); /* leaves here */
    if (x & 1) note(1);
    if (x & 2) note(2);
    if (x & 4) note(3);
    if (x & 8) note(4);
    return x;
}

int main(int argc, char **argv)
{
    volatile long i = 0;
    long n = argc > 1 ? atol(argv[1]) : 1;
    setjmp(place);
    while (i < n) {
        i = i + 1;
        dirty((unsigned long)i);
        request((int)i & 0xffff);
    }
    printf("%ld\n", i);
    return 0;
}
