/* Eight threads that call a function 100,000 times each, on a coroutine's stack the fourth part. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { THREADS = 8, CALLS = 100000 };

/* Many values are in registers, so that the path sum has none. */
__attribute__((noinline)) long busy(long a, long b, long c, long d, long e, long f, long bits)
{
    long sum = 0;
    for (; bits; bits >>= 5) {
        if (bits & 1)
            a += b * c;
        else
            b ^= a;
        if (bits & 2)
            c -= d;
        else
            d += e * f;
        if (bits & 4)
            e ^= c;
        else
            f += a;
        if (bits & 8)
            sum += a ^ b;
        else
            sum -= c ^ d;
        if (bits & 16)
            sum ^= e;
        else
            sum += f;
    }
    return sum + a + b + c + d + e + f;
}

static _Thread_local ucontext_t back, other;
static _Thread_local long total;

static void body(void)
{
    for (long i = 0; i < CALLS / 4; i++) total += busy(i, 2, 3, 4, 5, 6, i);
}

static void *work(void *stack)
{
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = 1 << 16;
    other.uc_link = &back;
    makecontext(&other, body, 0);
    swapcontext(&back, &other);
    for (long i = CALLS / 4; i < CALLS; i++) total += busy(i, 2, 3, 4, 5, 6, i);
    return (void *)total;
}

int main(void)
{
    pthread_t t[THREADS];
    long sum = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, malloc(1 << 16));
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(t[i], &result);
        sum += (long)result;
    }
    printf("%ld\n", sum);
    return 0;
}
