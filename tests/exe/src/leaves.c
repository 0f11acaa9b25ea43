/* Frames that never return, each way one argument: what was in flight must count.
 * Own counts are in a file that the last argument names, if there is one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long usual[16], *seen = usual;
static volatile int zero, one = 1;
static jmp_buf back;
static sigjmp_buf back_too;
static const char *how;

#define APART __attribute__((noinline))
/* The program's own count of the line. The comment keeps compilers from joining two of them. */
#define COUNT(n)                     \
    do {                             \
        __asm__ volatile("# " #n);   \
        __atomic_fetch_add(&seen[n], 1, __ATOMIC_RELAXED); \
    } while (0)

APART static void end(int depth)
{
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) fflush(stdout), _exit(4);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "segv")) *(volatile int *)(long)zero = depth;
    if (!strcmp(how, "divide")) seen[7] = (unsigned long)(one / zero);
    if (!strcmp(how, "jump")) longjmp(back, depth);
    if (!strcmp(how, "sigjump")) siglongjmp(back_too, depth);
    if (!strcmp(how, "thread")) pthread_exit(NULL);
    if (!strcmp(how, "fork") && fork() > 0) wait(NULL);
    if (!strcmp(how, "exec")) execl("/bin/true", "true", (char *)NULL);
}

/* Loops, branches and calls, with paths in flight in every frame. */
APART static int down(int depth, int odd)
{
    int sum = 0;
    for (int i = 0; i < depth; i++) {
        if ((i ^ odd) & 1)
            COUNT(0);
        else if (i % 3)
            COUNT(1);
        if (depth == 1 && i == 0) end(depth);
        if (i == depth / 2) sum += down(depth - 1, odd + 1);
        sum += i;
    }
    COUNT(2);
    return sum + odd;
}

/* A comparison with memory in front of a branch is where a program faults, too. */
APART static int chase(const int *list, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (list[i] == 7) found++;
        if (i == 40) list = (const int *)(long)zero;
    }
    return found;
}

static void *in_thread(void *unused)
{
    return down(5, 0) ? unused : NULL;
}

static pthread_barrier_t all_wait;

APART static void wait_for_ever(int k)
{
    COUNT(3);
    if (k & 1)
        COUNT(4);
    pthread_barrier_wait(&all_wait);
    for (;;) pause();
}

static void *waits(void *number)
{
    wait_for_ever((int)(long)number);
    return NULL;
}

static void with_threads(void)
{
    pthread_t thread;
    pthread_barrier_init(&all_wait, NULL, 6);
    for (long i = 0; i < 5; i++) pthread_create(&thread, NULL, waits, (void *)i);
    pthread_barrier_wait(&all_wait);
    exit(5);
}

static void handler(int signal)
{
    (void)signal;
    how = "exit";
    down(3, 1);
}

static void jumps_back(int signal)
{
    (void)signal;
    siglongjmp(back_too, 1);
}

/* A handler leaves the frames that it interrupted. */
APART static int until_signal(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i & 1 ? 1 : 2;
        if (i == n - 2) raise(SIGUSR1);
    }
    return sum;
}

APART static void by_vfork(int n)
{
    for (int i = 0; i < n; i++) {
        pid_t child = vfork();
        if (child == 0) {
            if (i & 1)
                COUNT(5);
            if (i == 2) execl("/bin/true", "true", (char *)NULL);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
    }
}

static void use_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, 4096) == 0)
        memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) seen = memory;
}

int main(int argc, char **argv)
{
    static int list[8] = {1, 7, 7, 2, 7};
    how = argc > 1 ? argv[1] : "return";
    if (argc > 2) use_file(argv[2]);
    pthread_t thread;
    if (!strcmp(how, "threads")) with_threads();
    if (!strcmp(how, "chase")) return chase(list, 100);
    if (!strcmp(how, "vfork")) by_vfork(5);
    if (!strcmp(how, "handler")) signal(SIGUSR1, handler), until_signal(9);
    if (!strcmp(how, "handler-jump")) {
        signal(SIGUSR1, jumps_back);
        for (volatile int i = 0; i < 4; i++)
            if (!sigsetjmp(back_too, 1)) until_signal(5 + i);
    }
    if (!strcmp(how, "thread")) {
        for (int i = 0; i < 3; i++) {
            pthread_create(&thread, NULL, in_thread, NULL);
            pthread_join(thread, NULL);
        }
        return 0;
    }
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(back) && !sigsetjmp(back_too, 0)) down(6, i);
    return (int)(seen[2] & 127);
}
