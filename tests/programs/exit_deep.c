/* exit from six frames down: every frame is in flight.
 * run: 0 -> 3
 * run: 1 -> 4
 * run: 2 -> 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void __attribute__((noinline)) down(int n, int how)
{
    if (n & 1) puts("odd");
    if (n > 0) {
        down(n - 1, how);
        if (n == 3) puts("back at three");
        return;
    }
    if (how == 0) exit(3);
    if (how == 1) _exit(4);
    puts("returns");
}

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 3; i++) down(i, 2);
    down(6, how);
    return 0;
}
