#!/usr/bin/env python3
"""Threads with many counters give the memory of their copies back when they end, and no count
is lost on the way.

    given_back.py --bin BUILD/bin [--llvm 19] [--case NAME]...

The program has functions with 2,048 paths each, which every thread calls. Where a thread calls
them seldom, threads share the pages of their counters (runtime/threads/rt_gate.c); where often, each
copy of the counters has a page or more per function. The program prints the memory that is resident
before the threads, while all are there, and when they have ended.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

FUNCTIONS, THREADS, ROUNDS = 128, 40, 300
SELDOM = 3  # rounds
MAIN = r"""
#include <footpath/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000 };
static int nthreads, nrounds;
static pthread_barrier_t all_there, all_go;

static long resident(void)
{
    long total, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &pages) != 2) exit(9);
    fclose(f);
    return pages * 4096;
}

static void *work(void *together)
{
    volatile int s = 0;
    for (int r = 0; r < nrounds; r++)
        for (unsigned i = 0; i < sizeof all / sizeof *all; i++) all[i]((i * 2654435761u + r * 977u) >> 7, &s);
    if (together) pthread_barrier_wait(&all_there), pthread_barrier_wait(&all_go);
    return NULL;
}

static void burst(int dumps)
{
    static pthread_t threads[MOST];
    pthread_barrier_init(&all_there, NULL, (unsigned)nthreads + 1);
    pthread_barrier_init(&all_go, NULL, (unsigned)nthreads + 1);
    for (int i = 0; i < nthreads; i++)
        if (pthread_create(&threads[i], NULL, work, threads)) exit(8);
    pthread_barrier_wait(&all_there);
    printf("%ld\n", resident());
    pthread_barrier_wait(&all_go);
    for (; dumps; dumps--)
        if (footpath_dump) footpath_dump();
    for (int i = 0; i < nthreads; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", resident());
}

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0;
    nthreads = argc > 2 ? atoi(argv[2]) : 1;
    nrounds = argc > 3 ? atoi(argv[3]) : 1;
    if (nthreads > MOST) return 7;
    printf("%ld\n", resident());
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


def source(functions):
    """The program: arguments are how the threads come, how many, and how often each calls all."""
    text = ""
    for i in range(functions):
        turns = "".join("    if (x >> %d & 1) *s = %d;\n" % (k, k) for k in range(11))
        text += "__attribute__((noinline)) void f%d(unsigned x, volatile int *s);\n" % i
        text += "void f%d(unsigned x, volatile int *s)\n{\n%s}\n" % (i, turns)
    names = ", ".join("f%d" % i for i in range(functions))
    return text + "static void (*const all[])(unsigned, volatile int *) = {%s};\n" % names + MAIN


class Bench(harness.Bench):
    def build(self, *flags, functions=FUNCTIONS):
        self.write("many.c", source(functions))
        self.cc("-O1", "-pthread", *flags, "many.c", "-o", "many")

    def calls(self, profile, threads, rounds, functions=FUNCTIONS):
        shown = self.json("show", "--json", "--function", "f", profile)["functions"]
        counts = {f["name"]: f["calls"] for f in shown if f["name"][1:].isdigit()}
        equal(counts, {"f%d" % i: threads * rounds for i in range(functions)}, "calls of the functions")

    def ran(self, how, threads=THREADS, rounds=ROUNDS):
        """Memory before, with all threads, and behind, of each burst."""
        if os.path.exists(self.path("out.prof")):
            os.unlink(self.path("out.prof"))
        done = self.run(self.path("many"), str(how), str(threads), str(rounds),
                        env={"FOOTPATH_OUT": self.path("out.prof")})
        sizes = [int(word) for word in done.stdout.split()]
        for i in range(1, len(sizes), 2):
            print("%d bytes before, %d with all threads, %d behind" % (sizes[0], *sizes[i:i + 2]))
        return [(sizes[0], *sizes[i:i + 2]) for i in range(1, len(sizes), 2)]

    def check(self, how, threads):
        for before, there, behind in self.ran(how):
            expect(behind - before < (there - before) // 4, "bytes left of %d:" % (there - before), behind - before)
        self.calls("out.prof", threads, ROUNDS)


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


def case_seldom(b):
    """Each thread calls the functions a few times, alone, while the profile is written, in a child
    of fork, and where all threads count at once."""
    for flags in ((), ("--fp-exits",), ("--fp-at=early",), ("-fPIC", "-flto", "-fuse-ld=lld")):
        b.build(*flags)
        for how, bursts in ((0, 1), (1, 1), (3, 2)):
            for before, there, _ in b.ran(how, rounds=SELDOM):
                expect(there - before < THREADS * FUNCTIONS * 4096 // 4, "bytes with all threads:", there - before)
            b.calls("out.prof", bursts * THREADS, SELDOM)
    b.build("--fp-mode=check")
    b.ran(2, rounds=SELDOM)
    b.calls("out.prof", 2 * THREADS + 20, SELDOM)
    b.verify("out.prof")


def case_thousand(b):
    """1,000 functions: 64 threads in 60 MB, 1,000 threads in 600 MB, and given back."""
    b.build(functions=1000)
    for threads, most in ((64, 60), (1000, 600)):
        (before, there, behind), = b.ran(0, threads=threads, rounds=SELDOM)
        expect(there < most * 1000000, "bytes with %d threads:" % threads, there)
        expect(behind - before < 40000000, "bytes behind %d threads:" % threads, behind - before)
        b.calls("out.prof", threads, SELDOM, functions=1000)


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
