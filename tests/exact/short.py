#!/usr/bin/env python3
"""Short processes, of which configure scripts and test suites run thousands: what the runtime
adds to one, in system calls, which no load of the machine changes.

    short.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TINY = "int main(void) { return 0; }\n"
FEW = """static __attribute__((noinline)) int side(int x) { return x > 3 ? x * 2 : x + 1; }
static __attribute__((noinline)) int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += side(i); return s; }
int main(int argc, char **argv) { (void)argv; return sum(argc + 3) == 1000; }
"""
# of these 19 for the handlers of fatal signals (docs/exits.md)
MOST_CALLS, MOST_FIRST = 30, 46
# has a handler of its own
HANDLER = """#include <signal.h>
static void note(int number) { (void)number; }
int main(void) { struct sigaction a = {.sa_handler = note}; return sigaction(SIGUSR2, &a, 0); }
"""


class Bench(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.clang("-O1", os.path.join(HERE, "calls.c"), "-o", "calls")

    def count(self, program, status=0, **env):
        """System calls of a run, and how many of them are pread."""
        done = self.run(self.path("calls"), self.path("count"), self.path(program), status=None, env=env)
        if done.returncode == 125:
            raise Skipped("no program can be traced here: " + done.stderr)
        equal(done.returncode, status, "status of " + program)
        return [int(word) for word in self.read("count").split()]


def calls_of(b, source, *flags):
    b.write("short.c", source)
    b.clang("-O2", "short.c", "-o", "plain")
    b.cc("-O2", *flags, "short.c", "-o", "counted")
    plain = b.count("plain")[0]
    first, second = (b.count("counted")[0] for _ in range(2))
    print("%s: %d system calls plain, %d in the first run, %d later" % (" ".join(flags), plain, first, second))
    expect(second - plain <= MOST_CALLS, "system calls of a run beyond the plain program's:", second - plain)
    expect(first - plain <= MOST_FIRST, "system calls of the first run beyond the plain program's:", first - plain)
    known = b.json("info", "--json", "footpath.prof")
    equal([m["runs"] for m in known["modules"]], [2], "runs in the profile")


def case_tiny(b):
    calls_of(b, TINY)


def case_few(b):
    calls_of(b, FEW)


def case_few_exits(b):
    calls_of(b, FEW, "--fp-exits")


def case_few_edges(b):
    calls_of(b, FEW, "--fp-mode=edge-min")


def runs(b):
    return [m["runs"] for m in b.json("info", "--json", "footpath.prof")["modules"]]


def case_signal_while_writing(b):
    """A signal that comes while the record is written strikes when it is written."""
    b.write("short.c", FEW)
    b.cc("-O2", "short.c", "-o", "counted")
    for i, number in enumerate([15, 2, 13, 25, 11, 10]):
        b.count("counted", status=128 + number, CALLS_SIGNAL=str(number))
        equal(runs(b), [i + 1], "runs in the profile after signal %d" % number)
    b.write("own.c", HANDLER)
    b.cc("-O2", "own.c", "-o", "own")
    b.count("own", status=128 + 10, CALLS_SIGNAL="10", FOOTPATH_OUT="own.prof")
    b.count("own", CALLS_SIGNAL="12", FOOTPATH_OUT="own.prof")
    equal(b.json("info", "--json", "own.prof")["modules"][0]["runs"], 2, "runs of the program with a handler")


def case_many_builds(b):
    """The map of the build is looked for among the runs of all builds, without a read per run."""
    for i in range(8):
        b.write("short.c", TINY.replace("0", "0 * %d" % i) + "int unique%d;\n" % i)
        b.cc("-O0", "short.c", "-o", "build%d" % i)
        for _ in range(12 if i < 7 else 2):
            b.run(b.path("build%d" % i))
    calls, reads = b.count("build7")
    print("behind 84 runs of other builds: %d system calls, %d of them pread" % (calls, reads))
    expect(reads <= 84 // 2, "reads of the profile:", reads)
    known = b.json("info", "--json", "--program", "all", "footpath.prof")
    equal(sorted(m["runs"] for m in known["modules"]), [3] + 7 * [12], "runs of each build")


def arguments(b, expected, *words, env=None, **how):
    if os.path.exists(b.path("footpath.prof")):
        os.unlink(b.path("footpath.prof"))
    if env is None:
        b.run(*words, **how)
    else:
        harness.run(*words, cwd=b.folder, env=env)
    equal(b.json("info", "--json", "footpath.prof")["runs"][0]["arguments"], expected, "arguments")


def case_arguments(b):
    """The profile has the arguments as /proc/self/cmdline shows them when the run ends."""
    b.write("short.c", """#include <string.h>
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "change")) memset(argv[2], 'x', strlen(argv[2]));
    if (argc > 1 && !strcmp(argv[1], "swap")) argv[2] = argv[1];
    if (argc > 1 && !strcmp(argv[1], "title")) memset(argv[0], 't', argv[2] + strlen(argv[2]) + 1 - argv[0]);
    return 0;
}
""")
    b.cc("-O1", "short.c", "-o", "short")
    exe = b.path("short")
    arguments(b, [exe], exe)
    arguments(b, [exe, "", "a b", ""], exe, "", "a b", "")
    arguments(b, [exe, "1"], exe, "1", env={})
    arguments(b, [exe, "change", "xxx"], exe, "change", "abc")
    arguments(b, [exe, "swap", "abc"], exe, "swap", "abc")
    for size in (900, 1023, 1024, 5000, 60000):
        arguments(b, [exe, "y" * size], exe, "y" * size)
    many = [str(i) for i in range(9000)]
    arguments(b, [exe] + many, exe, *many)
    b.run("sh", "-c", "rm -f footpath.prof; exec ./short title abc")
    shown = b.json("info", "--json", "footpath.prof")["runs"][0]["arguments"]
    expect(len(shown) == 1 and set(shown[0][:8]) == {"t"}, "a text over the arguments:", shown)


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
