#!/usr/bin/env python3
"""Frames that never return, in rewritten programs: the path that was in flight counts, as with --fp-exits.

    inflight.py --bin BUILD/bin [--copies PERCENT] [--keep] [--case NAME]...

Counts are compared with callgrind's, for every block and branch, and with those that the program keeps itself.
"""
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
sys.path.insert(0, HERE)
import callgrind  # noqa: E402
import copying  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

SOURCE = os.path.join(HERE, "src")
LINKS = (["-pie", "-fPIE", "-s"], ["-no-pie", "-fno-pie", "-s"])


class Inflight(copying.Bench):
    def build(self, compiler, source, *flags):
        needs(compiler)
        self.run(compiler, *flags, os.path.join(SOURCE, source), "-o", "prog", "-lpthread")
        return self.path("prog")

    def compilers(self, plain=("gcc", "clang-")):
        return plain[0], plain[1] + self.args.llvm

    def counting(self, program):
        self.tool("exe", program, "-o", self.path("counting"), silent=True)
        return self.path("counting")

    def own(self):
        """What the program has counted itself."""
        return struct.unpack("<16Q", self.read("own")[:128])

    def lines(self, profile, source="leaves.c"):
        """Executions of the lines that count for the program: by number of its counter."""
        found, numbers = {}, {}
        with open(os.path.join(SOURCE, source)) as f:
            for at, line in enumerate(f):
                counts = re.search(r" COUNT\((\d+)\);", line)
                if counts:
                    numbers[at + 1] = int(counts.group(1))
        for line in self.tool("export", "--format", "lcov", profile, silent=True).stdout.splitlines():
            at, _, count = line[3:].partition(",")
            if line.startswith("DA:") and int(at) in numbers:
                found[numbers[int(at)]] = int(count.split(",")[0])
        return found

    def same_as_own(self, *words, status=0):
        if os.path.exists(self.path("p.prof")):
            os.unlink(self.path("p.prof"))
        self.run(self.path("counting"), *words, self.path("own"), status=status, env={"FOOTPATH_OUT": self.path("p.prof")})
        own, lines = self.own(), self.lines("p.prof")
        expect(any(own), "%s: the program has counted nothing" % words[0])
        for number, count in lines.items():
            equal(count, own[number], "%s: executions of the line with counter %d" % (words[0], number))


def against_callgrind(b, source, modes, compilers, level="-O2", lost=0, **how):
    """lost: at most so many blocks or branches have one execution more than callgrind says. Where a signal ends the program,
    callgrind forgets the last block."""
    needs("valgrind", *compilers)
    for compiler in compilers:
        for link in LINKS:
            program = b.build(compiler, source, level, *link)
            for mode in modes:
                found = callgrind.compare(b, program, mode, **how)
                differ = found.differ + found.flown
                more = [one for one in differ if one.ours == one.theirs + 1]
                expect(found.ran > 3, "%s: nothing ran" % mode)
                expect(len(differ) <= lost and more == differ, "%s %s %s:\n%s" % (compiler, " ".join(link), mode,
                                                                                  "\n".join(map(str, differ[:20]))))


def case_ends(b):
    against_callgrind(b, "leaves.c", ("return", "exit", "_exit"), b.compilers())


def case_ends_slow_code(b):
    against_callgrind(b, "leaves.c", ("exit", "jump"), b.compilers(), level="-O0")


def case_faults(b):
    against_callgrind(b, "leaves.c", ("segv", "divide", "chase", "abort"), b.compilers(), lost=1)


def case_jumps(b):
    against_callgrind(b, "leaves.c", ("jump", "sigjump"), b.compilers())


def case_handlers(b):
    against_callgrind(b, "leaves.c", ("handler", "handler-jump"), b.compilers())


def case_vfork(b):
    against_callgrind(b, "leaves.c", ("vfork",), b.compilers(), last=True)


def case_exceptions(b):
    against_callgrind(b, "leaves.cc", ("catch", "exit", "uncaught"), b.compilers(("g++", "clang++-")))


def case_exceptions_slow_code(b):
    against_callgrind(b, "leaves.cc", ("catch",), b.compilers(("g++", "clang++-")), level="-O0")


def case_own_counts(b):
    """What the program counts itself, however it ends."""
    for compiler in b.compilers():
        for flags in (["-O1", "-g"], ["-O1", "-g", "-no-pie", "-fno-pie"]):
            b.counting(b.build(compiler, "leaves.c", *flags))
            for mode, status in (("return", None), ("exit", 3), ("_exit", 4), ("abort", -6), ("segv", -11), ("divide", -8),
                                 ("exec", 0), ("fork", None), ("jump", None), ("thread", 0), ("vfork", None), ("handler", None)):
                b.same_as_own(mode, status=status)


def case_threads(b):
    """Other threads are in the middle of functions when the program ends."""
    for flags in (["-O1", "-g"], ["-O1", "-g", "-no-pie", "-fno-pie"]):
        b.counting(b.build("gcc", "leaves.c", *flags))
        for _ in range(5):
            b.same_as_own("threads", status=5)
            equal([b.own()[3], b.own()[4]], [5, 2], "the program's own counts")


def end_by(b, signal):
    """Ends the program by a signal, wherever it is. A line may have been begun and not have counted itself."""
    if os.path.exists(b.path("p.prof")):
        os.unlink(b.path("p.prof"))
    with subprocess.Popen([b.path("counting"), b.path("own")], stdout=subprocess.PIPE, cwd=b.folder,
                          env=harness.environment(FOOTPATH_OUT=b.path("p.prof"))) as running:
        running.stdout.readline()
        time.sleep(0.01 * random.random())
        running.send_signal(signal)
        equal(running.wait(), -signal, "status")
    own, lines = b.own(), b.lines("p.prof", "endless.c")
    equal(len(lines), 14, "lines that count themselves")
    begun = {number: count for number, count in lines.items() if count != own[number]}
    for number, count in begun.items():
        equal(count, own[number] + 1, "executions of the line with counter %d" % number)
    expect(len(begun) <= 1, "%d lines were begun" % len(begun))


def case_signals(b):
    for compiler in b.compilers():
        for flags in (["-O0", "-g"], ["-O1", "-g"], ["-O1", "-g", "-no-pie", "-fno-pie"]):
            b.counting(b.build(compiler, "endless.c", *flags))
            for signal in (15, 2, 14, 10) * 4:
                end_by(b, signal)


def case_thread_ends(b):
    """pthread_exit and cancellation unwind the frames of a thread."""
    for compiler in b.compilers(("g++", "clang++-")):
        program = b.build(compiler, "leaves.cc", "-O1", "-g")
        plain = b.run(program, "cancel").stdout
        b.counting(program)
        done = b.run(b.path("counting"), "cancel", env={"FOOTPATH_OUT": b.path("cancel.prof")})
        equal(done.stdout, plain, "output")
        shown = b.json("show", "--json", "--function", "spins", "cancel.prof")["functions"]
        spins = [f for f in shown if "spins" in f["linkage_name"]][0]
        equal(spins["calls"], 1, "calls of the function that was cancelled")


def case_stacks(b):
    """A longjmp to another stack leaves no frame."""
    for flags in (["-O1"], ["-O2"], ["-O0"]):
        program = b.build("gcc", "stacks.c", *flags)
        status = b.run(program, status=None).returncode
        b.run(b.counting(program), status=status, env={"FOOTPATH_OUT": b.path("stacks.prof")})
        shown = b.json("show", "--json", "stacks.prof", silent=True)["functions"]
        calls = {f["linkage_name"]: f.get("calls") for f in shown}
        equal([calls["main"], calls["step"], calls["to_first"]], [1, 20, 20], "calls")
        left = [path for f in shown for path in f.get("paths", []) if path["ends_at"] == "left" and f["name"] == "step"]
        equal(left, [], "frames of step that were left")
        os.unlink(b.path("stacks.prof"))


def case_option(b):
    program = b.build("gcc", "leaves.c", "-O1")
    b.counting(program)
    expect(not re.search(r"\b0 exact to the end", b.tool("info", b.path("counting")).stdout), "functions exact to the end")
    b.tool("exe", "--no-exits", program, "-o", b.path("without"), silent=True)
    expect(re.search(r"\b0 exact to the end", b.tool("info", b.path("without")).stdout), "functions exact to the end")
    equal(b.run(b.path("without"), "exit", status=3).stdout, "", "output")


def case_stock_as(b):
    """The assembler ends by exit, far from main."""
    assembler = shutil.which("as", path="/usr/bin:/bin")
    needs("valgrind", "gcc")
    if not assembler:
        raise Skipped("needs as")
    b.run("gcc", "-O1", "-S", os.path.join(SOURCE, "ways.c"), "-o", "ways.s")
    b.run("gcc", "-c", "ways.s", "-o", "ways.o")
    callgrind.same(b, os.path.realpath(assembler), b.path("ways.s"), "-o", b.path("ways.o"))


def case_stock_git_long(b):
    needs("valgrind", "git")
    for words in (["init", "-q", "."], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "one", "--allow-empty"]):
        b.run("git", *words)
    callgrind.same(b, os.path.realpath(shutil.which("git")), "-C", b.folder, "log", "--oneline")


harness.main(__doc__, copying.OPTION, bench=Inflight)
