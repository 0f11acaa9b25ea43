#!/usr/bin/env python3
"""Functions with about a million paths count in sparse arrays, and no count is lost: with threads, forks, libraries that
come and go, and where address space is limited, so that there are no arrays.

    sparse.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Each function has a turn per bit of its argument. A run says how many mappings and how much address space and memory it
had in the end.
"""
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal, expect  # noqa: E402

ROUNDS = 50
MAIN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_profile_instrument_function))
static pthread_barrier_t all_there;

QUIET static void say(void)
{
    char line[4096];
    long total, pages, maps = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) maps++;
    if (f) fclose(f);
    f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &pages) != 2) exit(9);
    fclose(f);
    printf("%ld %ld %ld\n", maps, total >> 8, pages >> 8);
    fflush(stdout);
}

typedef void call(unsigned, volatile int *);
static call *volatile now; /* the function that counts */
static volatile unsigned ticks;

QUIET static void *work(void *all)
{
    volatile int s = 0;
    for (unsigned r = 0; r < ROUNDS; r++)
        for (call **f = all; *f; f++) (now = *f)(r * 2654435761u >> 3, &s);
    return NULL;
}

/* Interrupts counts, and counts in the same function: the same path, and another one. */
QUIET static void tick(int number)
{
    volatile int s = number;
    call *f = now;
    if (f) f(ticks * 2654435761u >> 3, &s), f(0, &s), ticks++;
}

QUIET static void *work_together(void *all)
{
    work(all);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

QUIET static void burst(int count, call **all)
{
    pthread_t threads[count];
    pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work_together, all)) exit(8);
    pthread_barrier_wait(&all_there);
    say();
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

QUIET static void load(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    if (!library) exit(7);
    work(dlsym(library, "of_library"));
    dlclose(library);
}

QUIET static void in_child(call **all)
{
    pid_t child = fork();
    if (!child) {
        work(all);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status) exit(6);
}

QUIET int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int count = atoi(argv[i] + 1);
        if (argv[i][0] == 'w') work(of_program);
        if (argv[i][0] == 't') burst(count, of_program);
        if (argv[i][0] == 'f') in_child(of_program);
        if (argv[i][0] == 'l' && mlockall(MCL_FUTURE)) puts("not locked");
        if (argv[i][0] == 's') {
            signal(SIGALRM, tick);
            setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
        }
        for (; argv[i][0] == 'd' && count; count--) load("./library.so");
        say();
    }
    return 0;
}
"""


def functions(count, turns, array):
    """Definitions, and an array of all of them."""
    text = ""
    for i in range(count):
        body = "".join("    if (x >> %d & 1) *s = %d;\n" % (k, k + i) for k in range(turns))
        text += "__attribute__((noinline)) void %s%d(unsigned x, volatile int *s)\n{\n%s}\n" % (array, i, body)
    return text + "void (*%s[])(unsigned, volatile int *) = {%s, 0};\n" % (array, ", ".join("%s%d" % (array, i) for i in range(count)))


class Bench(harness.Bench):
    def build(self, *flags, count=3, turns=20):
        self.count = count
        self.write("prog.c", functions(count, turns, "of_program") + "#define ROUNDS %d\n" % ROUNDS + MAIN)
        self.cc("-O1", "--fp-cuts=few", "-pthread", *flags, "prog.c", "-ldl", "-o", "prog")

    def build_library(self, *flags):
        self.write("library.c", functions(3, 20, "of_library"))
        self.cc("-O1", "--fp-cuts=few", "-shared", "-fPIC", *flags, "library.c", "-o", "library.so")

    def ran(self, *what, limit=None):
        """Mappings, MB of address space and MB of memory, after each thing that the program does."""
        def narrow():
            if limit:
                resource.setrlimit(limit[0], (limit[1], limit[1]))
        if os.path.exists(self.path("out.prof")):
            os.unlink(self.path("out.prof"))
        done = self.run(self.path("prog"), *what, env={"FOOTPATH_OUT": self.path("out.prof")}, preexec_fn=narrow)
        equal(done.stderr, "", "what was said")
        if "not locked" in done.stdout:
            raise Skipped("memory cannot be locked here")
        return [tuple(int(word) for word in line.split()) for line in done.stdout.splitlines()]

    def calls(self, times, name="of_program", count=None):
        shown = self.json("show", "--json", "--top", "0", "out.prof")["functions"]
        got = {f["name"]: f["calls"] for f in shown if f["name"].startswith(name)}
        equal(got, {"%s%d" % (name, i): times * ROUNDS for i in range(count or self.count)}, "calls of the functions")


def case_one_thread(b):
    for flags in (), ("--fp-threads=shared",), ("--fp-threads=atomic",), ("--fp-exits",):
        b.build("--fp-mode=check", *flags)
        (maps, space, memory), = b.ran("w")
        expect(24 <= space < 200, "MB of address space with three arrays of 8 MB:", space)
        expect(memory < 16, "MB of memory:", memory)
        b.verify("out.prof")
        b.calls(1)


def case_threads(b):
    """Twice: the second time threads count where others have counted."""
    b.build("--fp-mode=check")
    b.ran("w", "t12", "t12")
    b.verify("out.prof")
    b.calls(25)


def case_atomic(b):
    b.build("--fp-threads=atomic")
    b.ran("t12")
    b.calls(12)


def case_signals(b):
    """A handler counts in the function that it interrupts, while the level on trial becomes an array."""
    b.build("--fp-mode=check", count=150, turns=13)
    for _ in range(5):
        b.ran("s", "w")
        b.verify("out.prof")


def case_given_back(b):
    """Threads that have ended leave little of what they had in memory."""
    b.build(count=20)
    alone, there, behind, again, _ = b.ran("w", "t30", "t30")
    expect(behind[2] - alone[2] < (there[2] - alone[2]) // 2, "MB of memory with one, all, and no threads:", (alone, there, behind))
    expect(again[1] <= there[1] + 1, "address space the second time:", (there, again))
    b.calls(61)


def case_few_mappings(b):
    """Sixteen thousand arrays: a process may have 65,530 mappings."""
    b.build(count=400, turns=13)
    (alone, _, _), (there, _, _), _ = b.ran("w", "t40")
    expect(there < alone + 40 * 4, "mappings with one thread and with forty more:", (alone, there))
    b.calls(41)


def case_limits(b):
    """Without arrays: each count is in a hash table."""
    b.build("--fp-mode=check")
    for limit in (resource.RLIMIT_AS, 4 << 30), (resource.RLIMIT_DATA, 1 << 30):
        without, = b.ran("w", limit=limit)
        expect(without[1] < 24, "MB of address space:", without[1])
        b.verify("out.prof")
        b.calls(1)
        b.ran("w", "t4", "f", limit=limit)
        b.verify("out.prof")
        b.calls(6)


def case_fork(b):
    """The child counts from 0, and so does its child's parent further on."""
    b.build("--fp-mode=check")
    b.ran("w", "t3", "f", "f", "t3")
    b.verify("out.prof")
    b.calls(9)


def case_libraries(b):
    """Loaded and unloaded often: address space and memory do not grow."""
    b.build("--fp-mode=check")
    b.build_library("--fp-mode=check")
    few, many = b.ran("d2", "d40")
    expect(many[1] < few[1] + 40 and many[2] < few[2] + 4 and many[0] < few[0] + 10, "after 2 rounds and 42:", (few, many))
    b.verify("out.prof")
    b.calls(42, "of_library", 3)


def case_libraries_and_threads(b):
    b.build("--fp-mode=check")
    b.build_library("--fp-mode=check")
    b.ran("t6", "d3", "t6", "w", "d3")
    b.verify("out.prof")
    b.calls(13)
    b.calls(6, "of_library", 3)


def case_locked(b):
    """A program that locks its memory has only those pages of the arrays that it counts in."""
    b.build()
    _, (_, _, memory) = b.ran("l", "w")
    expect(memory < 24, "MB of memory:", memory)
    b.calls(1)


def case_helgrind(b):
    """Helgrind sees no races in how arrays are made."""
    harness.needs("valgrind")
    b.write("prog.c", "#include <pthread.h>\n" + functions(3, 20, "all") + """
static void *work(void *unused)
{
    volatile int s = 0;
    for (unsigned i = 0; i < 100; i++)
        for (int f = 0; f < 3; f++) all[f](i * 2654435761u >> 3, &s);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
""")
    b.cc("-O1", "--fp-mode=check", "--fp-cuts=few", "-pthread", "prog.c", "-o", "prog")
    b.run("valgrind", "-q", "--tool=helgrind", "--error-exitcode=3", b.path("prog"), env={"FOOTPATH_OUT": b.path("out.prof")})
    b.verify("out.prof")


def case_two_lengths(b):
    """An inline function whose cuts differ between two objects has an array for each."""
    body = "".join("    if (x >> %d & 1) *s = %d;\n" % (k, k) for k in range(20))
    text = "__attribute__((weak, noinline)) void both(unsigned x, volatile int *s)\n{\n    for (int i = 0; i < 3; i++) {\n%s    }\n}\n" % body
    b.write("one.c", text + "int two(void);\nint main(void) { volatile int s; for (unsigned i = 0; i < 9; i++) both(i * 40503u, &s); return two(); }\n")
    b.write("two.c", text + "int two(void) { volatile int s; for (unsigned i = 0; i < 9; i++) both(i * 40503u, &s); return 0; }\n")
    for order in ("one.o", "two.o"), ("two.o", "one.o"):
        for name, cuts in ("one", "few"), ("two", "paper"):
            b.cc("-O1", "--fp-cuts=" + cuts, "-c", name + ".c", "-o", name + ".o")
        b.cc(*order, "-o", "prog")
        b.profile("prog", "out.prof")
        shown = b.json("show", "--json", "--top", "0", "out.prof")["functions"]
        equal(sum(f["calls"] for f in shown if f["name"] == "both"), 18, "calls of both")


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
