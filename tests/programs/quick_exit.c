/* quick_exit and what at_quick_exit registered.
 * run: -> 6
 */
#include <stdio.h>
#include <stdlib.h>

static void handler(void)
{
    fputs("handler\n", stderr);
}

static void __attribute__((noinline)) work(int n)
{
    if (n > 3) quick_exit(6);
    work(n + 1);
    puts("never");
}

int main(void)
{
    at_quick_exit(handler);
    work(0);
}
