/* Counts in memory of its own, too, and goes on until it is killed (tests/live/run.py).
 *
 *     kills FILE THREADS HOW
 *
 * A word of FILE per thread, function and kind goes up when a call has returned: then its path has
 * ended. So footpath's count is that word, or one more for the call that a thread was in.
 * HOW: spin; churn, where threads end and others begin; fork, where children do the work, too;
 * plugin, where a library is loaded and unloaded all the time; forks, where children come and end
 * beside the threads. Or several of these.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64, FUNCTIONS = 4, KINDS = 16 };
typedef uint64_t table[FUNCTIONS][KINDS];
static table *own;
static const char *how;
volatile uint64_t sink;

/* An array of counters. */
__attribute__((noinline)) void few(unsigned n)
{
    if (n & 1) sink += n;
    if (n & 2) sink ^= n;
    if (n & 4) sink -= n;
    if (n & 8) sink |= n;
}

#define STEP(bit)           \
    if (n >> (bit) & 1)     \
        sink += n >> (bit); \
    else                    \
        sink ^= n;
#define EIGHT(bit)                                                                  \
    STEP(bit)                                                                       \
    STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3) STEP((bit) + 4) STEP((bit) + 5) \
        STEP((bit) + 6) STEP((bit) + 7)

/* A sparse array: 2^16 paths. */
__attribute__((noinline)) void many(unsigned long n)
{
    EIGHT(0) EIGHT(8)
}

/* A hash table: 2^32 paths. */
__attribute__((noinline)) void most(unsigned long n)
{
    EIGHT(0) EIGHT(8) EIGHT(16) EIGHT(24)
}

/* Of a library that is unloaded: its word counts calls, and kind 1 what it said when it ended. */
static void use_plugin(table *mine, unsigned i)
{
    void *library = dlopen("./plugin.so", RTLD_NOW);
    void (*call)(unsigned) = library ? (void (*)(unsigned))dlsym(library, "plugin") : NULL;
    if (!call) exit(9);
    for (unsigned k = 0; k < 20; k++) {
        call(i + k);
        mine[0][3][(i + k) % KINDS]++;
    }
    dlclose(library);
}

static void work_here(table *mine, unsigned kind)
{
    few(kind);
    mine[0][0][kind]++;
    many(kind * 4001u);
    mine[0][1][kind]++;
    most(kind * 268000001ul);
    mine[0][2][kind]++;
}

static void work(table *mine, unsigned i)
{
    work_here(mine, i % KINDS);
    if (strstr(how, "plugin") && i % 50 == 0) use_plugin(mine, i);
}

static void *spin(void *context)
{
    table *mine = context;
    unsigned times = strstr(how, "churn") ? 500 : UINT32_MAX;
    for (unsigned i = 0; i < times; i++) work(mine, i);
    return NULL;
}

/* A child may not load libraries: another thread may have been doing so at the fork. */
static void fork_always(table *mine)
{
    for (;;) {
        pid_t child = fork();
        if (child < 0) exit(7);
        if (child) {
            waitpid(child, NULL, 0);
            continue;
        }
        for (unsigned i = 0; i < 2000; i++) work_here(mine, i % KINDS);
        _exit(0);
    }
}

static void run_threads(table *tables, int threads)
{
    pthread_t made[THREADS];
    for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, spin, &tables[i + 1]);
    if (!threads) spin(&tables[0]);
    if (strstr(how, "forks")) fork_always(&tables[threads + 1]);
    for (;;)
        for (int i = 0; i < threads; i++) {
            pthread_join(made[i], NULL);
            pthread_create(&made[i], NULL, spin, &tables[i + 1]);
        }
}

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR), threads = atoi(argv[2]);
    how = argv[3];
    own = mmap(NULL, THREADS * sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (argc < 4 || own == MAP_FAILED || threads >= THREADS / 2) return 8;
    close(fd);
    for (unsigned i = 0; i < 100; i++) work(&own[0], i);
    if (strstr(how, "fork,") || !strcmp(how, "fork")) {
        for (int i = 0; i < 3; i++)
            if (fork() == 0) run_threads(own + THREADS / 2 + 8 * i, threads < 7 ? threads : 7);
    }
    run_threads(own, threads);
}
