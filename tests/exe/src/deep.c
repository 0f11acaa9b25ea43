/* Two threads, each six frames down most of the time: a debugger looks at their stacks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int deep(int n)
{
    if (n) return deep(n - 1) + 1;
    usleep(1000);
    return 0;
}

void *often(void *times)
{
    for (int i = 0; i < *(int *)times; i++) deep(5);
    return NULL;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    if (pthread_create(&thread, NULL, often, &times)) return 1;
    often(&times);
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
