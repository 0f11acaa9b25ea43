#!/usr/bin/env python3
"""One run is one trial, whatever modules have a copy of a function.

    modules.py --bin BUILD/bin [--llvm 19] [--mpirun MPIRUN] [--case NAME]...

A C++ program whose templates and inline functions are in itself, in a library that it
is linked with and in one that it loads in some of its runs. The program prints what it
did; from that alone this script computes the statistics that a combined profile must
have. Then values on the boundaries of bins, programs that have nothing to do with each
other, and ranks that see none of their files.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, expect  # noqa: E402

HEADER = r"""
#include <cstdio>
template <class T> __attribute__((noinline)) int pick(T x) { if (x > 5) return 1; return 2; }
inline __attribute__((noinline)) int steps(int n) { int s = 0; while (n > 1) { s += n & 1 ? 3 : 1; n /= 2; } return s; }
"""
LIBRARY = r"""
#include "t.hpp"
int s%(n)s;
extern "C" void work%(n)s(int high, int low, int n) {
    for (int i = 0; i < high; i++) s%(n)s += pick<int>(9);
    for (int i = 0; i < low; i++) s%(n)s += pick<int>(1);
    s%(n)s += steps(n);
}
"""
MAIN = r"""
#include "t.hpp"
#include <cstdlib>
#include <dlfcn.h>
extern "C" void work1(int, int, int);
int s;
int main(int c, char **v) {
    int a = atoi(v[1]), b = atoi(v[2]);
    work1(a, 0, 5);
    for (int i = 0; i < b; i++) s += pick<int>(1);
    if (c > 3) {
        void *lib = dlopen("./lib2.so", RTLD_NOW);
        auto work2 = lib ? (void (*)(int, int, int))dlsym(lib, "work2") : nullptr;
        if (!work2) return 1;
        work2(b, a, 17);
        s += steps(9);
    }
    return 0;
}
"""
RUNS = [(3, 4), (10, 10), (1, 9, "x"), (0, 5), (5, 0), (7, 2, "x"), (2, 2, "x"), (8, 1), (4, 4), (1, 0, "x")]


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


class Session(harness.Bench):
    def events(self, name, function):
        shown = self.json("show", "--json", name)
        return shown, [e for e in shown["events"] if e["function"].startswith(function)]


# ---- a program of three modules ----

def build(s, mode, level):
    s.write("t.hpp", HEADER)
    s.write("main.cpp", MAIN)
    for n in "12":
        s.write("lib%s.cpp" % n, LIBRARY % {"n": n})
        s.cc("--fp-mode=" + mode, level, "-shared", "-fPIC", "lib%s.cpp" % n, "-o", "lib%s.so" % n)
    s.cc("--fp-mode=" + mode, level, "main.cpp", "-o", "prog", "./lib1.so", "-ldl")


def calls_of_pick(run):
    """How often pick was called with a high and with a low number, in all modules."""
    a, b = run[:2]
    return (a + b, a + b) if len(run) > 2 else (a, b)


def statistics(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def same(event, values, what):
    mean, variance = statistics(values)
    expect(event["runs"] == len(values), "%s: %d trials, expected %d" % (what, event["runs"], len(values)))
    expect(event["seen"] == sum(v > 0 for v in values), "%s: nonzero %d" % (what, event["seen"]))
    expect(near(event["mean"], mean), "%s: mean %r, expected %r" % (what, event["mean"], mean))
    expect(near(event["variance"], variance), "%s: variance %r, expected %r" % (what, event["variance"], variance))
    expect(near(event["min"], min(values)) and near(event["max"], max(values)), "%s: range" % what)


def check_program(s, profile, what, paths):
    _, pick = s.events(profile, "int pick<int>")
    entries = [e for e in pick if e["kind"] == "calls"]
    expect(len(entries) == 1, "%s: pick is %d functions" % (what, len(entries)))
    for event in entries:
        same(event, [sum(calls_of_pick(r)) for r in RUNS], what + ": calls of pick")
    shares = [[], []]
    for run in RUNS:
        high, low = calls_of_pick(run)
        for k, n in enumerate((high, low)):
            shares[k].append(n / (high + low) if high + low else 0)
    means = sorted(statistics(v)[0] for v in shares)
    found = sorted(e["mean"] for e in pick if e["kind"] == ("path" if paths else "edge"))
    if paths:
        expect(len(found) == 2, "%s: %d paths of pick" % (what, len(found)))
    for mean in means:
        expect(any(near(mean, m) for m in found), "%s: no event of pick with mean %r among %r" % (what, mean, found))
    _, steps = s.events(profile, "steps(int)")
    for event in (e for e in steps if e["kind"] == "calls"):
        same(event, [3 if len(r) > 2 else 1 for r in RUNS], what + ": calls of steps")


def modules(s, mode, level):
    what = "%s %s" % (mode, level)
    build(s, mode, level)
    single = []
    for i, run in enumerate(RUNS):
        words = ["./prog"] + [str(w) for w in run]
        s.run(*words, env={"FOOTPATH_OUT": "one-%d.prof" % i})
        s.run(*words, env={"FOOTPATH_OUT": "all.prof"})
        s.run(*words, env={"FOOTPATH_OUT": "own.cp"})
        single.append("one-%d.prof" % i)
    paths = mode == "path"
    s.tool("combine", "-o", "files.cp", "--bins", "100", *single)
    s.tool("combine", "-o", "file.cp", "--bins", "100", "all.prof")
    for name in ("files.cp", "file.cp", "own.cp"):
        check_program(s, name, "%s, %s" % (what, name), paths)
    data, _ = s.events("files.cp", "main")
    expect(data["runs"] == len(RUNS), "%s: %d runs" % (what, data["runs"]))
    for name in single + ["all.prof", "own.cp"]:
        os.unlink(os.path.join(s.folder, name))


def case_path(s):
    """And two processes at a time that write their modules' records into one file."""
    modules(s, "path", "-O0")
    for i in range(0, len(RUNS), 2):
        env = dict(os.environ, FOOTPATH_OUT="both.prof")
        both = [subprocess.Popen(["./prog"] + [str(w) for w in run], cwd=s.folder, env=env) for run in RUNS[i:i + 2]]
        for process in both:
            expect(process.wait() == 0, "a run beside another")
    s.tool("combine", "-o", "both.cp", "both.prof")
    check_program(s, "both.cp", "interleaved", True)


def case_edge_min(s):
    modules(s, "edge-min", "-O0")


# ---- bins ----

def case_bins(s):
    """58 of 100 lie in the bin that begins at 0.58 (distributions.c has the others)."""
    s.write("hb.c", "int s; void f(int i) { if (i < 58) s++; else s--; }\n"
            "int main(void) { for (int i = 0; i < 100; i++) f(i); return 0; }\n")
    s.cc("-O0", "hb.c", "-o", "hb")
    s.run("./hb", env={"FOOTPATH_OUT": "hb.prof"})
    s.tool("combine", "-o", "hb.cp", "hb.prof")
    _, events = s.events("hb.cp", "f")
    lower = [(e["mean"], e["histogram"]["lower"]) for e in events if e["kind"] == "path"]
    expect(lower and all(near(a, b) for a, b in lower), "frequencies in the bin below: %r" % lower)


# ---- several programs, and ranks ----

def two_programs(s):
    for name in ("left", "right"):
        s.write(name + ".c", "int %s(int n) { return n > 1 ? 1 : 2; }\nint main(int c, char **v) { (void)v; return %s(c) - 2; }\n" % (name, name))
        s.cc(name + ".c", "-o", name)
        s.profile(name, name + ".prof")


def case_programs(s):
    two_programs(s)
    done = s.tool("combine", "-o", "no.cp", "left.prof", "right.prof", status=1)
    expect("2 programs" in done.stderr and "left" in done.stderr and "--mix" in done.stderr, "two programs: " + done.stderr)
    expect(not os.path.exists(os.path.join(s.folder, "no.cp")), "two programs were written")
    s.tool("combine", "--mix", "-o", "mixed.cp", "left.prof", "right.prof")
    expect(s.events("mixed.cp", "left")[0]["runs"] == 2, "mixed")
    s.tool("combine", "--program", "left", "-o", "left.cp", "left.prof", "right.prof")
    data, right = s.events("left.cp", "right")
    expect(data["runs"] == 1 and not right, "--program left")
    s.tool("combine", "--program", "none", "-o", "no.cp", "left.prof", status=1)


def case_ranks(s):
    """The second rank has files that are not there; then each rank has another program."""
    if not s.args.mpirun:
        raise Skipped("needs MPI")
    two_programs(s)
    mpirun = [s.args.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", s.bin("footpath"), "combine", "--mpi", "-o",
              "ranks.cp"]
    done = s.run(*mpirun, *["left.prof"] * 16, *["absent-%d.prof" % i for i in range(16)], status=None)
    expect(done.returncode != 0 and "rank 1" in done.stderr, "a rank without files: %d %s" % (done.returncode, done.stderr))
    expect(not os.path.exists(s.path("ranks.cp")), "a rank without files: written")
    done = s.run(*mpirun, *["left.prof"] * 16, *["right.prof"] * 16, status=None)
    expect(done.returncode != 0 and "2 programs" in done.stderr, "two programs by ranks: %s" % done.stderr)


if __name__ == "__main__":
    harness.main(__doc__, ("--mpirun", {"default": ""}), bench=Session)
