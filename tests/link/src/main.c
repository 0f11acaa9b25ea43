/* 1,000 calls of one, 300 of two. */
#include <stdio.h>

int one(int x);
int two(int x);

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum += one(i);
    for (int i = 0; i < 300; i++) sum += two(i);
    printf("%ld\n", sum);
    return 0;
}
