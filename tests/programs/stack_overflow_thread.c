/* The stack of a thread that overflows: its handler needs a stack of its own.
 * cflags: -pthread
 * run: -> signal 11
 * not: deterministic
 */
#include <pthread.h>

static int __attribute__((noinline)) overflow(int n)
{
    volatile char room[4096];
    room[n % 4096] = (char)n;
    if (n == -1) return 0;
    return overflow(n + 1) + room[n % 4096];
}

static void *begin(void *unused)
{
    overflow(0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin, NULL)) return 1;
    return pthread_join(thread, NULL);
}
