/* exit inside functions that exit runs, and from a destructor's point of view.
 * run: -> 5
 */
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void last(void)
{
    for (int i = 0; i < 4; i++)
        if (i % 2) calls += i;
    printf("last %d\n", calls);
}

static void first(void)
{
    if (calls == 0) calls = 1;
    puts("first");
}

static void __attribute__((noinline)) work(int n)
{
    if (n == 2) exit(5);
    work(n + 1);
    puts("never");
}

int main(void)
{
    atexit(last);
    atexit(first);
    work(0);
    return 0;
}
