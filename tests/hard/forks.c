/* One thread writes the profile again and again while another makes children: forks N.
 * Says "made" and ends when they are there; each child ends when its standard input does. */
#include <footpath/runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int enough, written;

__attribute__((noinline)) static int step(int x)
{
    return x & 1 ? x * 3 : x / 2;
}

static void *write_on(void *unused)
{
    for (; !enough; written++) footpath_dump();
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
    pthread_t writer;
    pthread_create(&writer, NULL, write_on, NULL);
    for (int i = 0; i < count; i++) {
        sum += step(i);
        for (int before = written; written == before;) continue; /* another one has begun */
        for (int k = 0; k < i * 100; k++) sum += step(k); /* and is under way */
        if (fork()) continue;
        char byte;
        for (int k = 0; k < 10; k++) sum += step(k);
        return read(0, &byte, 1) == 0 && sum >= 0 ? 7 : 8;
    }
    enough = 1;
    pthread_join(writer, NULL);
    return write(1, "made\n", 5) == 5 ? 7 : 8;
}
