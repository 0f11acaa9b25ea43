/* Where ways meet again, debug information notes a variable whose value is a constant, and
 * the path register needs a phi: the phi goes in front of the note. */
#include <stdio.h>

static volatile int up, down;

__attribute__((noinline)) static int more(int k) { return up += k; }
__attribute__((noinline)) static int less(int k) { return down -= k; }

__attribute__((noinline)) static int ways(int a, int b, int c)
{
    if (a)
        more(1);
    else
        less(2);
    int third = 3;
    more(third + b);
    if (b)
        more(4);
    else
        less(5);
    int seventh = 7;
    more(seventh);
    if (c) more(6);
    int last = a;
    return less(last);
}

int main(void)
{
    int all = 0;
    for (int i = 0; i < 40; i++) all ^= ways(i & 1, i & 2, i & 4);
    printf("%d\n", all);
    return 0;
}
