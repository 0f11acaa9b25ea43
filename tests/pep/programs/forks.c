/* Processes that come and go while samples are taken: forks with work on both sides, in
 * threads too, vfork and exec, threads that end; then a second of work. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void spin(unsigned long n)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < n; i++) {
        if (x & 1)
            x = x * 3 + i;
        else if (x % 5 == 0)
            x += 7;
        else
            x >>= 1;
    }
    sink += x;
}

static int children(int count, unsigned long n)
{
    int good = 0;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        spin(n);
        if (child == 0) {
            spin(n);
            if (i % 3 == 0) exit(7);
            _exit(7);
        }
        int status;
        if (waitpid(child, &status, 0) == child && WIFEXITED(status)) good += WEXITSTATUS(status) == 7;
    }
    return good;
}

static void *worker(void *arg)
{
    spin(3000000);
    *(int *)arg = children(5, 200000);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1) return atoi(argv[1]);
    printf("forks %d\n", children(20, 500000));
    pthread_t threads[4];
    int good[4], sum = 0;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, &good[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL), sum += good[i];
    printf("forks in threads %d\n", sum);
    int status = 0, started = 0;
    for (int i = 0; i < 10; i++) {
        spin(300000);
        pid_t child = vfork();
        if (child == 0) {
            execl(argv[0], argv[0], "9", (char *)NULL);
            _exit(1);
        }
        if (waitpid(child, &status, 0) == child && WIFEXITED(status)) started += WEXITSTATUS(status) == 9;
    }
    printf("started %d\n", started);
    /* most of the CPU time is behind all that: it has samples if ticks have survived */
    for (double begin = cpu(); cpu() - begin < 1;) spin(10000);
    return 0;
}
