/* 16 threads that call the same functions, with results that add up.
 * cflags: -pthread
 * run: -> 0
 */
#include <pthread.h>
#include <stdio.h>
#include <threads.h>

static int __attribute__((noinline)) step(int x)
{
    if (x % 2) return 3 * x + 1;
    return x / 2;
}

static void *work(void *arg)
{
    long start = (long)arg, steps = 0;
    for (int i = 1; i < 2000; i++)
        for (int x = i + (int)start; x > 1 && steps % 100 != 99; x = step(x)) steps++;
    return (void *)steps;
}

static int c11(void *arg)
{
    return (int)((long)work(arg) % 100);
}

int main(void)
{
    pthread_t threads[16];
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (long i = 0; i < 16; i++) pthread_create(&threads[i], NULL, work, (void *)i);
        for (long i = 0; i < 16; i++) {
            void *result;
            pthread_join(threads[i], &result);
            sum += (long)result;
        }
    }
    thrd_t one;
    int code;
    thrd_create(&one, c11, (void *)5);
    thrd_join(one, &code);
    printf("%ld %d\n", sum, code);
    return 0;
}
