#!/usr/bin/env python3
"""Counters stay out of memory that is the program's, and out of sight of what checks it.

    foreign.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign.c")
LIBRARY = "__attribute__((noinline)) static int work(int n) { return n & 1 ? n * 3 : n - 1; }\nint called(int n) { return work(n) + 1; }\n"
# functions that count in arrays, in sparse arrays and in hash tables
STEPS = r"""
#include <pthread.h>
#include <unistd.h>
static unsigned sink, other;
#define STEP(bit) if (n >> (bit) & 1) __atomic_fetch_add(&sink, n >> (bit), 0); else __atomic_fetch_xor(&other, n >> (bit), 0);
#define FOUR(bit) STEP(bit) STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3)
__attribute__((noinline)) void most(unsigned n) { FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16) FOUR(20) FOUR(24) FOUR(28) }
__attribute__((noinline)) void many(unsigned n) { FOUR(0) FOUR(4) FOUR(8) }
__attribute__((noinline)) void few(unsigned n) { STEP(0) STEP(1) }
static void *work(void *none)
{
    for (unsigned i = 0; i < 1000; i++) few(i), many(i * 77), most(i * 2654435761u);
    return none;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], 0, work, 0);
        usleep(50000); /* mostly it ends meanwhile, and is not joined yet */
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


def case_reserved_memory(b):
    """A thread's copy of a library's counters is never where the program has memory of its own; its counts are there."""
    b.write("library.c", LIBRARY)
    b.cc("-O1", "-shared", "-fPIC", "library.c", "-o", "library.so")
    b.cc("-O1", SOURCE, "-o", "foreign", "-ldl", "-pthread")
    for live in "0", "1":
        for words in [], ["x"]:
            env = {"FOOTPATH_OUT": "out.prof", "FOOTPATH_LIVE": live}
            equal(b.run("./foreign", *words, env=env).stdout.split()[1], "0", "words of the program's memory that changed")
            calls = {f["name"]: f["calls"] for f in b.json("show", "--json", "--program", "all", "out.prof")["functions"]}
            equal(calls.get("called"), 100, "calls of the library")
            os.unlink(b.path("out.prof"))


def case_thread_sanitizer(b):
    """A thread that counts in the copy of one that has ended is no data race."""
    if b.args.llvm == "14":
        raise Skipped("ThreadSanitizer of LLVM 14 looks at counters, too (docs/footpath-cc.md)")
    b.write("steps.c", STEPS)
    b.cc("-O1", "-g", "-fsanitize=thread", "steps.c", "-o", "steps", "-pthread")
    for _ in range(8):
        b.run("./steps", env={"FOOTPATH_OUT": "steps.prof"}, silent=True)


if __name__ == "__main__":
    harness.main(__doc__)
