#!/usr/bin/env python3
"""Short loops count in two copies of their counters in turn, and no count is lost or made twice.

    turns.py --bin BUILD/bin [--llvm 19] [--case NAME]...

The loop goes round in two diamonds, so that its rounds have four paths. How often each is taken follows from the
input. The same loop is run again by a signal handler that interrupts it, and by threads.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import limits  # noqa: E402
from harness import equal  # noqa: E402

ROUNDS = 9001
LOOP = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static unsigned data[%d];
static __attribute__((noinline)) void flip(volatile unsigned *at, long n, unsigned a, unsigned b)
{
    for (long i = 0; i < n; i++) {
        if (at[i] & a) at[i] ^= 256;
        if (at[i] & b) at[i] ^= 512;
    }
}
""" % ROUNDS
FILL = "    for (unsigned i = 0; i < %d; i++) data[i] = i %% 5 | (i %% 3 == 0) << 4;\n" % ROUNDS
PLAIN = LOOP + "int main(void)\n{\n" + FILL + "    for (int k = 0; k < 3; k++) flip(data, %d, 1, 16);\n    return 0;\n}\n" % ROUNDS
SIGNALS = LOOP + r"""
static unsigned own[64];
static void on_alarm(int signal) { (void)signal; flip(own, 64, 1, 2); }
int main(void)
{
    struct itimerval often = {{0, 100}, {0, 100}};
    signal(SIGALRM, on_alarm);
""" + FILL + r"""
    setitimer(ITIMER_REAL, &often, NULL);
    for (int k = 0; k < 20000; k++) flip(data, %d, 1, 16);
    setitimer(ITIMER_REAL, &(struct itimerval){{0}}, NULL);
    return 0;
}
""" % ROUNDS
THREADS = LOOP + r"""
static void *work(void *own)
{
    for (int k = 0; k < 200; k++) flip(own, 1000, 1, 16);
    return NULL;
}
int main(void)
{
    pthread_t threads[8];
    static unsigned own[8][1000];
    for (int i = 0; i < 8; i++)
        for (unsigned k = 0; k < 1000; k++) own[i][k] = k % 5 | (k % 3 == 0) << 4;
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, own[i]);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return 0;
}
"""


def flip_counts(b, *flags):
    """How often each path of flip ran, from the most frequent on."""
    found = [f for f in b.json("show", "--json", "--top", "0", *flags, "out.prof")["functions"] if f["name"] == "flip"]
    return sorted((p["count"] for p in found[0]["paths"]), reverse=True)


def build(b, text, *flags):
    b.write("prog.c", text)
    b.cc(*flags, "-O2", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "prog.c", "-o", "prog", "-lpthread")
    env = harness.environment(FOOTPATH_OUT=b.path("out.prof"))
    equal(limits.run([b.path("prog")], 120, env=env).returncode, 0, "status of the program")


def rounds_by_path(n):
    counts = {}
    for i in range(n):
        way = (bool(i % 5 & 1), i % 3 == 0)
        counts[way] = counts.get(way, 0) + 1
    return counts


def case_counts(b):
    build(b, PLAIN, "--fp-copies=no")  # with copies of its blocks the loop has constants to count by
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", b.path("prog")], capture_output=True, text=True, check=True).stdout
    flip = code[code.index("<flip>:"):]
    flip = flip[:flip.index("\n\n")]
    harness.expect(re.search(r"(incq|addq\s+\$0x1,)\s*%gs:\S*\(%\w+,%\w+,1\)", flip), "flip counts in two copies in turn:\n" + flip)
    counted = {}
    for p in [f for f in b.json("show", "--json", "--top", "0", "out.prof")["functions"] if f["name"] == "flip"][0]["paths"]:
        if p["ends_at"] == "edge":
            counted[p["id"]] = p["count"]
    # the first round of a call is part of the path from the entry, the last of the path to the end
    equal(sum(counted.values()), 3 * (ROUNDS - 1), "rounds that end at the loop")
    inner = sorted((c for c in counted.values() if c > 3), reverse=True)
    equal(len(inner), 4, "paths of a round")
    expected = sorted((3 * c for c in rounds_by_path(ROUNDS).values()), reverse=True)
    harness.expect(all(0 <= e - c <= 6 for e, c in zip(expected, inner)), "rounds by path: %s of %s" % (inner, expected))


def case_checked(b):
    build(b, PLAIN, "--fp-mode=check")
    b.verify("out.prof")


def case_signals(b):
    build(b, SIGNALS, "--fp-mode=check")
    b.verify("out.prof")


def case_threads(b):
    build(b, THREADS, "--fp-mode=check")
    b.verify("out.prof")
    total = sum(flip_counts(b))
    equal(total, 8 * 200 * 1000, "rounds, of which a call's last one ends at the exit")


if __name__ == "__main__":
    harness.main(__doc__)
