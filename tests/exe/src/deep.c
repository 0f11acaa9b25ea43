/* Two threads, each six frames down most of the time, until standard input ends: a debugger looks at their stacks.
 * Prints how often both have gone down. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int deep(int n)
{
    if (n) return deep(n - 1) + 1;
    usleep(1000);
    return 0;
}

static int goes_on(void)
{
    struct pollfd input = {0, POLLIN, 0};
    return poll(&input, 1, 0) == 0;
}

void *often(void *times)
{
    for (; goes_on(); ++*(long *)times) deep(5);
    return NULL;
}

int main(void)
{
    long times[2] = {0, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, often, &times[0])) return 1;
    often(&times[1]);
    pthread_join(thread, NULL);
    printf("%ld\n", times[0] + times[1]);
    return 0;
}
