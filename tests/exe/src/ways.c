/* Control flow of many kinds: tables with and without holes, loops, recursion, flags that live
 * across blocks, calls through pointers, computed goto, an alloca, jrcxz and loop, and a call
 * that does not return. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE __attribute__((noinline))

volatile unsigned sink;

ALONE int collatz(long n)
{
    int steps = 0;
    for (; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

ALONE unsigned table(unsigned x, unsigned y)
{
    switch (x) {
    case 0: y = y * 77777u + 123456789u; sink = y; /* fall through */
    case 1:
        y ^= y >> 7;
        y = y * 99991u + 987654321u;
        sink = y; /* fall through */
    case 2:
        y = y * 55555u + 111111111u;
        sink = y;
        break;
    case 3: y = y * 33333u + 222222222u; sink = y; /* fall through */
    case 4:
        y = y * 31313u + 333333333u;
        sink = y;
        return y;
    case 5:
        y = y * 13131u + 444444444u;
        sink = y;
        break;
    case 9: y += 5000000; sink = y;
    }
    if (y & 1) y += x * 1000001u;
    return y + 1;
}

ALONE int depth(int n, int odd)
{
    if (n <= 0) return odd;
    int more = n % 3 ? depth(n - 1, odd ^ 1) : depth(n - 2, odd);
    return more + (more > n ? 1 : 2);
}

ALONE int interpret(const unsigned char *code, int length)
{
    static const void *const labels[] = {&&add, &&sub, &&twice, &&stop};
    int value = 0, at = 0;
    goto *labels[code[at]];
add:
    value += at;
    if (++at < length) goto *labels[code[at]];
    return value;
sub:
    value -= 3;
    if (++at < length) goto *labels[code[at]];
    return value;
twice:
    value = (value & 0xffff) * 2;
    if (++at < length) goto *labels[code[at]];
    return value;
stop:
    return value + 1;
}

ALONE unsigned on_stack(int n)
{
    unsigned char *room = alloca((size_t)n + 1);
    unsigned sum = 0;
    memset(room, n, (size_t)n + 1);
    for (int i = 0; i <= n; i++)
        if (room[i] & 1)
            sum += room[i];
        else if (i % 3)
            sum ^= (unsigned)i;
    return sum;
}

ALONE unsigned long carries(const unsigned long *a, const unsigned long *b, int n)
{
    unsigned long carry = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned long one = a[i] + b[i], two = one + carry;
        carry = (one < a[i]) | (two < one);
        sum ^= two;
    }
    return sum + carry;
}

/* jrcxz and loop have no long form. */
ALONE unsigned long count_down(unsigned long n)
{
    unsigned long sum = 0;
    __asm__ volatile("jrcxz 2f\n1: add %%rcx, %0\nloop 1b\n2:" : "+r"(sum), "+c"(n) : : "cc");
    return sum;
}

static int twice(int n)
{
    return 2 * n;
}
static int thrice(int n)
{
    return 3 * n;
}

ALONE void leave(int status)
{
    printf("leaving\n");
    exit(status);
}

int main(void)
{
    unsigned sum = 0;
    unsigned char code[64];
    unsigned long a[16], b[16];
    int (*const calls[])(int) = {twice, thrice};
    for (unsigned i = 0; i < sizeof code; i++) code[i] = (unsigned char)(i * i % 7 % 3);
    for (unsigned i = 0; i < 16; i++) a[i] = i * 0x0fffffffffffffffUL, b[i] = ~a[i] + i;
    for (unsigned i = 0; i < 2000; i++) {
        sum = sum * 31 + table(i % 11, i);
        if (i % 3 == 0) sum += (unsigned)collatz((long)i + 1);
        sum ^= (unsigned)depth((int)(i % 12), 0) + on_stack((int)(i % 40));
        code[i % 64] = (unsigned char)(i % 17 == 0 ? 3 : i % 3);
        sum += (unsigned)interpret(code, 64) + (unsigned)carries(a, b, (int)(i % 16));
        sum += (unsigned)calls[i & 1]((int)i) + (unsigned)count_down(i % 5);
    }
    printf("%u\n", sum);
    if (sum) leave((int)(sum & 7));
    return 0;
}
