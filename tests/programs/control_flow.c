/* What C has to jump with: switch, goto into loops, computed goto, setjmp loops,
 * tail calls, varargs, long chains, a block that only says unreachable, asm goto.
 * run: -> 0
 * returns: compared also without --fp-exits
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static long __attribute__((noinline)) switches(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++) {
        switch (i % 11) {
        case 0:
        case 1: sum += 1; break;
        case 2: sum += 5; /* falls through */
        case 3: sum *= 2; break;
        case 7: continue;
        case 9: sum--; goto out;
        default: sum += i;
        }
    out:
        if (sum > 100000) sum %= 1000;
    }
    return sum;
}

static long __attribute__((noinline)) computed(const unsigned char *code)
{
    static void *const table[] = {&&op_add, &&op_double, &&op_loop, &&op_end};
    long acc = 1, loops = 0;
    const unsigned char *pc = code;
#define NEXT goto *table[*pc++]
    NEXT;
op_add:
    acc += *pc++;
    if (acc > 500) acc -= 400;
    NEXT;
op_double:
    acc *= 2;
    NEXT;
op_loop:
    if (loops++ < 300) pc = code;
    NEXT;
op_end:
    return acc;
}

static int __attribute__((noinline)) into_loop(int n, int start)
{
    int i = 0, r = 0;
    if (start) goto middle;
    while (i < n) {
        if (i % 4 == 1) r += 2;
    middle:
        r += i;
        i++;
        if (r % 5 == 0) continue;
        r ^= 1;
    }
    return r;
}

static int __attribute__((noinline)) sum_of(int n, ...)
{
    va_list args;
    int sum = 0;
    va_start(args, n);
    while (n-- > 0) {
        int x = va_arg(args, int);
        if (x < 0) break;
        sum += x;
    }
    va_end(args);
    return sum;
}

static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }

static int __attribute__((noinline)) never(int n)
{
    if (n > 1000000) __builtin_unreachable();
    return n + 1;
}

static int __attribute__((noinline)) with_asm_goto(int n)
{
    __asm__ goto("testl %0, %0\n\tjne %l1" : : "r"(n) : "cc" : nonzero);
    return 10;
nonzero:
    return 20;
}

static int __attribute__((noinline)) with_setjmp(int n)
{
    jmp_buf env;
    volatile int tries = 0;
    int code = setjmp(env);
    if (code < n) {
        tries++;
        longjmp(env, code + 1);
    }
    return tries;
}

static int __attribute__((noinline)) empty(void) { return 0; }

static int __attribute__((noinline)) vla(int n)
{
    int room[n], sum = 0;
    for (int i = 0; i < n; i++) room[i] = i * i;
    for (int i = n; i-- > 0;) sum += room[i] % 2 ? room[i] : -1;
    return sum;
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (x < y) return -1;
    return x > y;
}

int main(void)
{
    unsigned char code[] = {0, 7, 1, 0, 3, 2, 3};
    int values[50], sum = 0;
    printf("%ld %ld\n", switches(1000), computed(code));
    printf("%d %d\n", into_loop(50, 0), into_loop(50, 1));
    printf("%d %d\n", sum_of(4, 1, 2, 3, 4), sum_of(3, 5, -1, 6));
    printf("%d %d\n", even(1000), odd(77));
    printf("%d %d %d\n", never(3), with_asm_goto(0), with_asm_goto(5));
    printf("%d %d %d\n", with_setjmp(5), empty(), vla(30));
    for (int i = 0; i < 50; i++) values[i] = i * 37 % 41;
    qsort(values, 50, sizeof *values, by_value);
    for (int i = 0; i < 50; i++) sum += values[i] * i;
    printf("%d\n", sum);
    return 0;
}
