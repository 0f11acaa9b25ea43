/* Threads that start, work, end and are joined, some of them detached; a child of
 * fork; a signal handler. Nothing of it is a race. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int detached_ended;
static volatile sig_atomic_t signals;

__attribute__((noinline)) static int step(int x)
{
    if (x % 3 == 0) return x / 3;
    return x % 2 ? 3 * x + 1 : x / 2;
}

static void *work(void *arg)
{
    long sum = 0;
    for (int i = 1; i < 300; i++)
        for (int x = i + (int)(long)arg; x > 1 && sum < 5000; x = step(x)) sum++;
    return (void *)sum;
}

static void *detached(void *arg)
{
    work(arg);
    pthread_mutex_lock(&lock);
    detached_ended++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void handler(int number)
{
    signals += step(number) != 0;
}

static void run_threads(void)
{
    pthread_t threads[6];
    long sum = 0;
    for (long i = 0; i < 6; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 6; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%ld\n", sum);
}

static void run_detached(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (long i = 0; i < 3; i++) pthread_create(&thread, &attributes, detached, (void *)i);
    pthread_attr_destroy(&attributes);
    pthread_mutex_lock(&lock);
    while (detached_ended < 3) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    signal(SIGUSR1, handler);
    run_threads();
    run_detached();
    run_threads();
    for (int i = 0; i < 5; i++) raise(SIGUSR1);
    printf("%d\n", (int)signals);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        printf("%ld\n", (long)work((void *)7));
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
