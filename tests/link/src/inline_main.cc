/* 100 calls of clamp from each of two files and 100 from here. */
#include "shared_inline.h"
#include <cstdio>

int main()
{
    long sum = 0;
    for (int i = 0; i < 100; i++) sum += first(i) + second(i) + clamp(i) + twice(i);
    std::printf("%ld\n", sum);
}
