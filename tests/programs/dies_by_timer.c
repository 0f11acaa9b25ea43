/* A timer's signal kills the program in the middle of a busy loop.
 * run: -> signal 14
 * not: deterministic
 */
#include <unistd.h>

volatile long spins;
volatile int zero;

static void __attribute__((noinline)) spin(int n)
{
    if (n) spin(n - 1);
    for (;;) {
        spins++;
        if (spins % 7 == 0) zero = 0;
        else if (spins % 3 == 0) zero = 0 * (int)spins;
    }
}

int main(void)
{
    ualarm(20000, 0);
    spin(3);
}
