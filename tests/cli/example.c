#include <stdio.h>
#include <stdlib.h>

static int classify(int x)
{
    if (x < 0)
        return -1;
    switch (x % 4) {
    case 0:
        return 0;
    case 1:
    case 2:
        return 1;
    default:
        return 2;
    }
}

static int count_bits(unsigned x)
{
    int bits = 0;
    while (x) {
        if (x & 1)
            bits++;
        x >>= 1;
    }
    return bits;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
    for (int i = -2; i < n; i++)
        sum += classify(i) + count_bits((unsigned)i & 255);
    printf("%d\n", sum);
    return 0;
}
