/* A thread counts, the program reserves memory, and a library is loaded above it: the place of the thread's copy of the library's
 * counters is the program's memory. Prints how often the library was called, and how many words of that memory have changed.
 *
 *     foreign [x]    x: nobody may touch that memory */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HOLE = 1 << 20, WORDS = PAGE / sizeof(long) };
#define SIZE (64ul << 30)
static volatile int step;
static int (*call)(int);

__attribute__((noinline)) static int work(int n)
{
    return n & 1 ? n * 3 : n - 1;
}

static void wait_for(int wanted)
{
    while (step != wanted) usleep(1000);
}

static void *count(void *sum)
{
    *(int *)sum = work(1);
    step = 1;
    wait_for(2);
    for (int i = 0; i < 100; i++) *(int *)sum += call(i);
    return sum;
}

static unsigned long changed(long *memory)
{
    unsigned char *resident = malloc(SIZE / PAGE);
    unsigned long words = 0;
    mincore(memory, SIZE, resident);
    for (unsigned long page = 0; page < SIZE / PAGE; page++)
        for (int i = 0; resident[page] & 1 && i < WORDS; i++) words += memory[page * WORDS + i] != 0;
    free(resident);
    return words;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int sum;
    (void)argv;
    pthread_create(&thread, 0, count, &sum);
    wait_for(1);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *hole = mmap(0, HOLE, PROT_NONE, flags, -1, 0);
    long *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
    munmap(hole, HOLE);
    void *library = dlopen("./library.so", RTLD_NOW);
    if (memory == MAP_FAILED || !library) return 3;
    call = (int (*)(int))dlsym(library, "called");
    if (argc > 1) mprotect(memory, SIZE, PROT_NONE);
    step = 2;
    pthread_join(thread, 0);
    printf("%d %lu\n", sum, argc > 1 ? 0 : changed(memory));
    return 0;
}
