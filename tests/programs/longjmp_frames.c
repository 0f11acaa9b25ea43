/* longjmp over several frames, out of loops, and many times.
 * run: -> 0
 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;
static int depth_seen;

static void __attribute__((noinline)) down(int n, int target)
{
    for (int i = 0; i < 3; i++) {
        if (i == 1 && n > 0) down(n - 1, target);
        if (n == 0 && i == target) {
            depth_seen++;
            if (target == 2) longjmp(inner, 7);
            longjmp(outer, 1 + target);
        }
    }
    puts("never");
}

static int __attribute__((noinline)) nested(int target)
{
    if (setjmp(inner) == 0) {
        down(3, target);
    } else {
        if (target == 2) return 1;
        puts("wrong");
    }
    return 0;
}

int main(void)
{
    volatile int round = 0;
    int code = setjmp(outer);
    if (code) printf("back with %d\n", code);
    while (round < 6) {
        int target = round % 3;
        round++;
        if (nested(target)) puts("inner");
    }
    for (volatile int i = 0; i < 1000; i++) {
        if (setjmp(outer) == 0) down(2, 0);
    }
    printf("%d\n", depth_seen);
    return 0;
}
