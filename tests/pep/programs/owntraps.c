/* A program with traps of its own: int3 at the entry of a function and in its middle. */
#include <signal.h>
#include <stdio.h>

static volatile int traps;

static void on_trap(int signal)
{
    (void)signal;
    traps++;
}

__attribute__((noinline)) static unsigned trapped(unsigned n)
{
    __builtin_debugtrap();
    for (unsigned i = 0; i < 1000000; i++) n = n & 1 ? n * 3 + 1 : n / 2 + i;
    __asm__ volatile("int3");
    return n;
}

int main(void)
{
    unsigned sum = 0;
    signal(SIGTRAP, on_trap);
    for (unsigned i = 0; i < 100; i++) sum += trapped(i);
    printf("%d traps\n", traps);
    return sum == 7;
}
