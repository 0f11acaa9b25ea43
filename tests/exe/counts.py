#!/usr/bin/env python3
"""What rewritten programs count: the same as callgrind, for every block and branch, and exact with threads and signals.

    counts.py --bin BUILD/bin [--copies PERCENT] [--keep] [--case NAME]...
"""
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
sys.path.insert(0, HERE)
import callgrind  # noqa: E402
import copying  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

SOURCE = os.path.join(HERE, "src")
LINKS = (["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], ["-s"])


class Counts(copying.Bench):
    def build(self, compiler, source, *flags):
        needs(compiler)
        self.run(compiler, *flags, os.path.join(SOURCE, source), "-o", "prog", "-lpthread")
        return self.path("prog")

    def counts(self, kind, compiler="gcc"):
        """Counts of work(), of one run of events.c: calls, and the counts of its paths."""
        program = self.build(compiler, "events.c", "-O1", "-g")
        self.tool("exe", program, "-o", self.path("counting"), silent=True)
        done = self.run(self.path("counting"), kind, env={"FOOTPATH_OUT": self.path("p.prof")})
        shown = self.json("show", "--json", "--function", "work", "p.prof", silent=True)
        work = [f for f in shown["functions"] if f["name"] == "work"][0]
        return done.stdout, work["calls"], sorted(path["count"] for path in work["paths"])


def levels(b, compiler, source, *options):
    needs("valgrind", compiler)
    for level in options:
        for link in LINKS:
            callgrind.same(b, b.build(compiler, source, level, *link))


def case_gcc_slow(b):
    levels(b, "gcc", "ways.c", "-O0", "-O1")


def case_gcc_fast(b):
    levels(b, "gcc", "ways.c", "-O2", "-O3")


def case_clang_slow(b):
    levels(b, "clang-" + b.args.llvm, "ways.c", "-O0", "-O1")


def case_clang_fast(b):
    levels(b, "clang-" + b.args.llvm, "ways.c", "-O2", "-O3")


def case_exceptions_gcc(b):
    levels(b, "g++", "throws.cc", "-O0", "-O2")


def case_exceptions_clang(b):
    levels(b, "clang++-" + b.args.llvm, "throws.cc", "-O0", "-O2")


def case_prefix(b):
    """Functions that jump over a lock prefix are counted."""
    for flags in (["-O0"], ["-O2"], ["-O2", "-no-pie"]):
        program = b.build("gcc", "prefix.c", *flags)
        callgrind.same(b, program)
        b.tool("exe", program, "-o", b.path("counting"), silent=True)
        expect("left out: add" not in b.tool("info", b.path("counting")).stdout, "add is left out")


def case_threads(b):
    _, calls, paths = b.counts("threads")
    equal(calls, 8000000, "calls")
    equal(paths, [2000000, 2000000, 4000000], "paths")


def case_fork(b):
    _, calls, paths = b.counts("children")
    equal(calls, 300, "calls, of both processes")
    equal(paths, [75, 75, 150], "paths")


def case_longjmp(b):
    _, calls, paths = b.counts("jumps")
    equal(calls, 1000, "calls")
    equal(paths, [250, 250, 500], "paths")


def case_signals(b):
    said, calls, _ = b.counts("signals")
    equal(calls, int(said), "calls, of the handler and of what it interrupts")


def case_wrong_graph(b):
    """Where an edge is missing in the graph, the program does what it did, and the function is said not to be exact."""
    program = b.build("gcc", "ways.c", "-O1", "-g")
    plain = b.run(program, status=None)
    caught = 0
    for edge in range(3):
        b.tool("exe", program, "-o", b.path("wrong"), "--drop-edge", "table:%d" % edge, silent=True)
        profile = b.path("wrong%d.prof" % edge)
        done = b.run(b.path("wrong"), status=None, env={"FOOTPATH_OUT": profile})
        equal((done.stdout, done.returncode), (plain.stdout, plain.returncode), "what the program does")
        expect("table" in b.tool("show", profile).stderr, "nobody says that table is not exact")
        caught += "not exact" in b.tool("info", profile).stdout
    equal(caught, 3, "wrong graphs that were noticed")


def case_cuts(b):
    """Where paths end is told, and counts are those of callgrind wherever they end."""
    program = b.build("gcc", "ways.c", "-O2", "-s")
    ends = {}
    for cuts in "fit", "few", "paper", "loops":
        callgrind.same(b, program, options=["--cuts=" + cuts])
        shown = b.json("show", "--json", "--top", "0", b.path("counts.prof"), silent=True)["functions"]
        ends[cuts] = [sum(f[what] for f in shown) for what in ("cuts", "doors", "laps")]
    equal(ends["fit"][:2], [0, 0], "cuts and doors of small functions, by default")
    expect(ends["fit"][2] > 0, "laps by default")
    equal(ends["few"], ends["fit"], "few")
    equal(ends["paper"], [0, 0, 0], "cuts, doors and laps with --cuts=paper")
    expect(ends["loops"][1] > 0, "doors with --cuts=loops")


def case_chain(b):
    """The commands that read a profile work on this one."""
    program = b.build("gcc", "ways.c", "-O2", "-g")
    b.tool("exe", program, "-o", b.path("counting"), silent=True)
    for name in ("one.prof", "two.prof"):
        b.run(b.path("counting"), status=None, env={"FOOTPATH_OUT": b.path(name)})
    expect("collatz" in b.tool("show", "one.prof", silent=True).stdout, "show")
    expect("ways.c" in b.tool("show", "--edges", "one.prof", silent=True).stdout, "show --edges")
    for words in (["stats", "one.prof"], ["coverage", "one.prof"], ["diff", "one.prof", "two.prof"],
                  ["dot", "--function", "collatz", "one.prof"], ["info", "one.prof"], ["info", b.path("counting")],
                  ["export", "--format", "json", "one.prof"], ["annotate", "one.prof"]):
        expect(b.tool(*words).stdout, " ".join(words))
    b.tool("merge", "-o", "sum.prof", "one.prof", "two.prof", silent=True)
    b.tool("combine", "-o", "all.cp", "one.prof", "two.prof")
    b.tool("report", "-o", "site", "one.prof")
    both = b.json("show", "--json", "sum.prof", silent=True)["functions"]
    one = b.json("show", "--json", "one.prof", silent=True)["functions"]
    calls = {f["name"]: f.get("calls") for f in one}
    for f in both:
        if f.get("calls"):
            equal(f["calls"], 2 * calls[f["name"]], "calls of %s in the sum" % f["name"])


def case_own_names(b):
    """A function of the program's own that is called err is not libc's, which never returns; in a library neither."""
    needs("valgrind")
    for flags in (["-pie"], ["-s"], ["-rdynamic"]):
        callgrind.same(b, b.build("gcc", "names.c", "-O1", *flags))
        expect("not exact" not in b.tool("info", b.path("counts.prof")).stdout, "a call returned that should not")
    b.run("gcc", "-O1", "-shared", "-fPIC", "-DLIBRARY", os.path.join(SOURCE, "names.c"), "-o", "libnames.so")
    b.write("user.c", "int check(int); int main(void) { int s = 0; for (int i = 0; i < 20; i++) s += check(i); return s > 9; }")
    b.run("gcc", "-O1", "user.c", "-o", "user", "-L.", "-lnames")
    callgrind.same(b, b.path("user"), libraries={"libnames.so": b.path("libnames.so")})
    expect("not exact" not in b.tool("info", b.path("counts.prof")).stdout, "a call in the library returned that should not")


def case_loop_register(b):
    """A loop without calls does not keep its path register in memory because of calls elsewhere in the function."""
    needs("valgrind", "objdump")
    program = b.build("gcc", "loop.c", "-O2", "-fno-tree-vectorize", "-fno-if-conversion", "-fno-if-conversion2")
    b.tool("exe", program, "-o", b.path("counting"), silent=True)
    times = []
    for each in (program, b.path("counting")):
        done = b.run("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", each, env={"FOOTPATH_OUT": b.path("p.prof")})
        times.append(int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", "")))
    rounds = 1 << 20
    added = (times[1] - times[0]) / rounds  # in main and in work
    expect(added < 6, "%.2f instructions in each round" % added)
    callgrind.same(b, program)


def case_verify(b):
    """footpath verify compares the paths of the copy with callgrind's counts of the program. Functions with calls that return
    twice, or with landing pads, have other graphs there."""
    needs("valgrind")
    program = b.build("gcc", "ways.c", "-O2", "-s")
    b.tool("exe", program, "-o", b.path("counting"), silent=True)
    b.run(b.path("counting"), status=None, env={"FOOTPATH_OUT": b.path("paths.prof")})
    b.run("valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
          "--callgrind-out-file=" + b.path("callgrind.out"), program, status=None)
    b.tool("import", "--format", "callgrind", "--binary", program, b.path("callgrind.out"), "-o", b.path("edges.prof"))
    said = b.tool("verify", "paths.prof", "edges.prof", status=None).stdout
    expect(re.search(r"^1\d functions, \d+ edges: (these )?identical", said, re.M), "verify: " + said)
    b.run(b.path("counting"), status=None, env={"FOOTPATH_OUT": b.path("paths.prof")})
    expect("differ" in b.tool("verify", "paths.prof", "edges.prof", status=1).stdout, "two runs are not one")


def stock(b, name, *words, **how):
    program = shutil.which(name, path="/usr/bin:/bin")
    if not program:
        raise Skipped("needs " + name)
    needs("valgrind")
    return callgrind.same(b, os.path.realpath(program), *words, **how)


def text(b):
    return b.write("text", "".join("line %d of the text %d\n" % (i * i, i % 7) for i in range(5000)))


def case_stock_gzip(b):
    expect(stock(b, "gzip", "-c", input=text(b)) > 100, "ran")


def case_stock_sed(b):
    expect(stock(b, "sed", "s/[0-9][0-9]*/<&>/g;$!N;P;D", text(b)) > 100, "ran")


def case_stock_sort(b):
    expect(stock(b, "sort", "-r", "-k", "2", text(b)) > 100, "ran")


def case_stock_dash(b):
    script = 'i=0; while [ $i -lt 500 ]; do i=$((i+1)); case $i in *7) x="$x$i";; esac; done; echo ${#x}'
    expect(stock(b, "dash", "-c", script) > 100, "ran")


harness.main(__doc__, copying.OPTION, bench=Counts)
