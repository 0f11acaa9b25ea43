/* A program whose paths are known: `walk N` classifies 0..N-1 and sums digits. */
#include <stdio.h>
#include <stdlib.h>

static int kind(int n)
{
    int odd = 0, large = 0;
    if (n % 2)
        odd = 1;
    if (n >= 50)
        large = 2;
    return odd + large;
}

static int digits(int n)
{
    int sum = 0;
    while (n > 0) {
        if (n % 10 == 7)
            sum += 100;
        else
            sum += n % 10;
        n /= 10;
    }
    return sum;
}

static const char *name(int k)
{
    switch (k) {
    case 0: return "even";
    case 1: return "odd";
    case 2: return "large and even";
    case 9: return "never";
    default: return "large and odd";
    }
}

int unused(int n)
{
    return n > 3 ? n * 2 : -n;
}

int main(int argc, char **argv)
{
    int total = 0, count = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < count; i++) {
        int k = kind(i);
        total += digits(i) + name(k)[0];
    }
    printf("%d\n", total);
    return 0;
}
