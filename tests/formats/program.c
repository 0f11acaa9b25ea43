/* The program of the golden files: branches, a loop, an indirect call, a copy of known size. */
#include <string.h>

static int twice(int n)
{
    return n > 4 ? 2 * n : n;
}

static int choose(int (*call)(int), int n)
{
    char from[16] = {1}, to[16];
    memcpy(to, from, (size_t)n % 16);
    if (n % 3 == 0) return call(n) + to[0];
    return n & 1 ? -n : n;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 9; i++) sum += choose(twice, i);
    return sum == 0;
}
