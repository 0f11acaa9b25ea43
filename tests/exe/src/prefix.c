/* Jumps over the lock prefix of an instruction, as in glibc where one thread needs no lock. */
#include <stdio.h>

static volatile int many, total;

__attribute__((noinline)) static int add(int n)
{
    if (n % 3 == 0)
        __asm__ volatile("cmpl $0, %1\n\tje 1f\n\tlock\n1:\taddl %2, %0" : "+m"(total) : "m"(many), "r"(n) : "cc");
    else
        total -= n & 1;
    return total & 7;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++) {
        many = i & 4;
        sum += add(i) > 3 ? 1 : 2;
    }
    printf("%d %d\n", sum, total);
    return 0;
}
