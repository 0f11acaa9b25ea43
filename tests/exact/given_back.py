#!/usr/bin/env python3
"""Threads with many counters give the memory of their copies back when they end, and no count
is lost on the way.

    given_back.py --bin BUILD/bin [--llvm 19] [--case NAME]...

The program has functions with 2,048 paths each, which every thread calls, so that each copy of
the counters has a page or more per function. It prints the memory that is resident before the
threads, while all are there, and when they have ended.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

FUNCTIONS, THREADS, ROUNDS = 128, 40, 3
MAIN = r"""
#include <footpath/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS %(threads)d
static pthread_barrier_t all_there, all_go;

static long resident(void)
{
    long total, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%%ld %%ld", &total, &pages) != 2) exit(9);
    fclose(f);
    return pages * 4096;
}

static void *work(void *together)
{
    volatile int s = 0;
    for (int r = 0; r < %(rounds)d; r++)
        for (unsigned i = 0; i < sizeof all / sizeof *all; i++) all[i]((i * 2654435761u + r * 977u) >> 7, &s);
    if (together) pthread_barrier_wait(&all_there), pthread_barrier_wait(&all_go);
    return NULL;
}

static void burst(int dumps)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    pthread_barrier_init(&all_go, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, threads)) exit(8);
    pthread_barrier_wait(&all_there);
    printf("%%ld\n", resident());
    pthread_barrier_wait(&all_go);
    for (; dumps; dumps--)
        if (footpath_dump) footpath_dump();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%%ld\n", resident());
}

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0;
    printf("%%ld\n", resident());
    burst(how == 1 ? 20 : 0);
    for (int i = 0; how == 2 && i < 20; i++) { /* one by one */
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) return 8;
        pthread_join(thread, NULL);
    }
    if (how == 2) burst(0);
    if (how == 3 && !fflush(stdout)) { /* the child counts from 0 */
        pid_t child = fork();
        if (!child) burst(0);
        if (!child) return 0;
        waitpid(child, NULL, 0);
    }
    return 0;
}
"""


class Bench(harness.Bench):
    def build(self, *flags):
        text = ""
        for i in range(FUNCTIONS):
            turns = "".join("    if (x >> %d & 1) *s = %d;\n" % (k, k) for k in range(11))
            text += "__attribute__((noinline)) void f%d(unsigned x, volatile int *s);\n" % i
            text += "void f%d(unsigned x, volatile int *s)\n{\n%s}\n" % (i, turns)
        names = ", ".join("f%d" % i for i in range(FUNCTIONS))
        text += "static void (*const all[])(unsigned, volatile int *) = {%s};\n" % names
        self.write("many.c", text + MAIN % {"threads": THREADS, "rounds": ROUNDS})
        self.cc("-O1", "-pthread", *flags, "many.c", "-o", "many")

    def calls(self, profile, threads):
        shown = self.json("show", "--json", "--function", "f", profile)["functions"]
        counts = {f["name"]: f["calls"] for f in shown if f["name"][1:].isdigit()}
        equal(counts, {"f%d" % i: threads * ROUNDS for i in range(FUNCTIONS)}, "calls of the functions")

    def ran(self, how):
        """Memory before, with all threads, and behind, of each burst."""
        if os.path.exists(self.path("out.prof")):
            os.unlink(self.path("out.prof"))
        done = self.run(self.path("many"), str(how), env={"FOOTPATH_OUT": self.path("out.prof")})
        sizes = [int(word) for word in done.stdout.split()]
        return [(sizes[0], *sizes[i:i + 2]) for i in range(1, len(sizes), 2)]

    def check(self, how, threads):
        for before, there, behind in self.ran(how):
            print("%d bytes before, %d with all threads, %d behind" % (before, there, behind))
            expect(behind - before < (there - before) // 4, "bytes left of %d:" % (there - before), behind - before)
        self.calls("out.prof", threads)


def case_burst(b):
    b.build()
    b.check(0, THREADS)


def case_dumps_meanwhile(b):
    for flags in ((), ("--fp-exits",)):
        b.build(*flags)
        for _ in range(3):
            b.check(1, THREADS)


def case_again(b):
    b.build("--fp-mode=check")
    b.check(2, 2 * THREADS + 20)
    b.verify("out.prof")


def case_fork(b):
    b.build()
    b.check(3, 2 * THREADS)


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
