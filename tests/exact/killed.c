/* 262,144 paths, each taken once, then the profile again and again until somebody
 * kills it; or, with an argument, once. */
#include <footpath/runtime.h>

static volatile unsigned sink;

#define WAY(k) \
    if (x >> k & 1) sink += k; else sink ^= k;

__attribute__((noinline)) static void ways(unsigned x)
{
    WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
    WAY(8) WAY(9) WAY(10) WAY(11) WAY(12) WAY(13) WAY(14) WAY(15) WAY(16) WAY(17)
}

int main(int argc, char **argv)
{
    (void)argv;
    for (unsigned x = 0; x < 262144; x++) ways(x);
    while (argc < 2)
        if (footpath_dump()) return 1;
    return 0;
}
