#!/usr/bin/env python3
"""Statically linked programs: rewritten ones do what the programs did, and count it exactly.

    static.py --bin BUILD/bin [--keep] [--case NAME]...
"""
import os
import re
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
sys.path.insert(0, HERE)
import callgrind  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

SOURCE = os.path.join(HERE, "src")
KINDS = ("-static", "-static-pie")


class Static(harness.Bench):
    def build(self, source, *flags, compiler=None):
        compiler = compiler or ("g++" if source.endswith(".cc") else "gcc")
        needs(compiler)
        self.run(compiler, "-w", *flags, os.path.join(SOURCE, source), "-o", "prog", "-lpthread")
        return self.path("prog")

    def counting(self, program, says=""):
        done = self.tool("exe", program, "-o", self.path("counting"))
        expect(says in done.stderr and bool(says) == bool(done.stderr), "message: " + done.stderr)

    def profile_of(self, *words, status=0):
        if os.path.exists(self.path("p.prof")):
            os.unlink(self.path("p.prof"))
        return self.run(self.path("counting"), *words, status=status, env={"FOOTPATH_OUT": self.path("p.prof")})

    def function(self, name):
        shown = self.json("show", "--json", "--function", name, "p.prof", silent=True)
        return [f for f in shown["functions"] if f["name"] == name][0]

    def lines(self):
        """Executions of the lines of leaves.c that count for the program: by number of its counter."""
        found, numbers = {}, {}
        with open(os.path.join(SOURCE, "leaves.c")) as f:
            for at, line in enumerate(f):
                counts = re.search(r" COUNT\((\d+)\);", line)
                if counts:
                    numbers[at + 1] = int(counts.group(1))
        for line in self.tool("export", "--format", "lcov", "p.prof", silent=True).stdout.splitlines():
            at, _, count = line[3:].partition(",")
            if line.startswith("SF:"):
                ours = line.endswith("leaves.c")
            if line.startswith("DA:") and ours and int(at) in numbers:
                found[numbers[int(at)]] = int(count.split(",")[0])
        return found


def same(b, program, *words):
    """The program and the copy that counts print the same and end alike."""
    plain = b.run(program, *words, status=None)
    other = b.profile_of(*words, status=None)
    equal((other.stdout, other.stderr, other.returncode), (plain.stdout, plain.stderr, plain.returncode),
          "what %s does" % " ".join(words))


def case_life(b):
    """Threads, signals, fork, exec, _exit, abort; a run for each process."""
    for kind in KINDS:
        for flags in (["-O2"], ["-O2", "-s"]):
            program = b.build("life.c", kind, *flags)
            b.counting(program)
            same(b, program)
            expect(len(re.findall("^run of", b.tool("info", "p.prof").stdout, re.M)) >= 4, "runs")


def case_threads(b):
    for kind, level in zip(KINDS, ("-O0", "-O1")):
        b.counting(b.build("events.c", kind, level))
        b.profile_of("threads")
        work = b.function("work")
        equal(work["calls"], 8000000, "calls")
        equal(sorted(path["count"] for path in work["paths"]), [2000000, 2000000, 4000000], "paths")


def case_events(b):
    """fork, longjmp and signals."""
    for kind in KINDS:
        b.counting(b.build("events.c", kind, "-O1"))
        for what, calls, paths in (("children", 300, [75, 75, 150]), ("jumps", 1000, [250, 250, 500])):
            b.profile_of(what)
            work = b.function("work")
            equal((work["calls"], sorted(path["count"] for path in work["paths"])), (calls, paths), what)
        said = b.profile_of("signals").stdout
        equal(b.function("work")["calls"], int(said), "calls, of the handler and of what it interrupts")


def case_own_counts(b):
    """What the program counts itself, however frames are left and however it ends."""
    for kind in KINDS:
        b.counting(b.build("leaves.c", kind, "-O1", "-g"))
        for mode, status in (("return", None), ("exit", 3), ("_exit", 4), ("abort", -6), ("segv", -11), ("divide", -8),
                             ("exec", 0), ("fork", None), ("jump", None), ("thread", 0), ("threads", 5), ("vfork", None),
                             ("handler", None), ("handler-jump", None)):
            b.profile_of(mode, b.path("own"), status=status)
            own, lines = struct.unpack("<16Q", b.read("own")[:128]), b.lines()
            expect(any(own) or mode == "handler-jump", "%s: the program has counted nothing" % mode)
            for number, count in lines.items():
                equal(count, own[number], "%s: executions of the line with counter %d" % (mode, number))


KERNEL = (("spawn", 10), ("detached", 50000), ("first", 100), ("thread-exits", 10), ("thread-forks", 20), ("signal-stack", 10), ("failing-exec", 10),
          ("actions", 10), ("deep", 1), ("exit", 10), ("exit-group", 10), ("bare", 10), ("bare-again", 10))


def kernel(b, program, says=""):
    b.counting(program, says)
    for kind, calls in KERNEL:
        same(b, program, kind)
        equal(b.function("work")["calls"], calls, kind + ": calls of work")


def case_kernel(b):
    """Every way that the runtime learns of by a call of the kernel."""
    for kind in KINDS:
        kernel(b, b.build("kernel.c", kind, "-O1"))


def case_musl(b):
    """The code of musl has no unwind tables: it is left alone, and calls the kernel from there."""
    needs("musl-gcc")
    says = "of the code has no unwind tables"
    for flags in (["-O1"], ["-O2", "-g"]):
        kernel(b, b.build("kernel.c", "-static", *flags, compiler="musl-gcc"), says)
    b.counting(b.build("events.c", "-static", "-O1", compiler="musl-gcc"), says)
    b.profile_of("threads")
    equal(b.function("work")["calls"], 8000000, "calls")


# go over the program headers, of which a program without .eh_frame_hdr has one more when it is rewritten
ONE_MORE = ("_dl_non_dynamic_init", "_dl_find_object_from_map", "_dlfo_process_initial_noncontiguous_map")


def case_callgrind(b):
    """All of libc is compared, too. Callgrind forgets the block that ends the process."""
    needs("valgrind")
    for kind, level in zip(KINDS, ("-O2", "-O0")):
        found = callgrind.compare(b, b.build("ways.c", kind, level))
        expect(found.ran > 500, "%d blocks ran" % found.ran)
        differ = [one for one in found.differ + found.flown
                  if not (one.function in ("_exit", "_Exit") and one.ours == one.theirs + 1)
                  and not (kind == "-static" and one.function in ONE_MORE)]
        expect(not differ, "%s %s:\n%s" % (kind, level, "\n".join(map(str, differ[:20]))))


def case_exceptions(b):
    """The program's own functions. The unwinder's do other things: they read other tables."""
    needs("valgrind", "nm")
    for kind, source, *words in (("-static", "throws.cc"), ("-static", "leaves.cc", "uncaught"), ("-static-pie", "leaves.cc", "catch")):
        program = b.build(source, kind, "-O1")
        b.run("g++", "-O1", "-c", os.path.join(SOURCE, source), "-o", "own.o")
        own = set(re.findall(r" [TtWw] (\S+)", b.run("nm", "own.o").stdout))
        found = callgrind.compare(b, program, *words)
        differ = [one for one in found.differ + found.flown if one.function in own]
        expect(not differ, "%s %s %s:\n%s" % (kind, source, words, "\n".join(map(str, differ[:20]))))


def case_cancel(b):
    """The end of a thread unwinds its frames, and then jumps: each frame counts once."""
    for kind in KINDS:
        program = b.build("leaves.cc", kind, "-O1", "-g")
        b.counting(program)
        same(b, program, "cancel")
        shown = b.json("show", "--json", "--function", "spins", "p.prof")["functions"]
        equal([f["calls"] for f in shown if "spins" in f["linkage_name"]], [1], "calls of the function that was cancelled")


def case_unforeseen(b):
    """A jump into old code is caught, and the profile says that the function is not exact."""
    for kind in KINDS:
        program = b.build("unforeseen.c", kind, "-O2")
        b.counting(program)
        same(b, program, "6")
        expect("caught: victim, 10 times" in b.tool("info", "p.prof").stdout, "info")


def case_run(b):
    """footpath run, and tools that read ELF files."""
    needs("readelf", "objdump")
    for kind in KINDS:
        program = b.build("life.c", kind, "-O2")
        for words in ([], ["--libs"]):
            done = b.tool("run", *words, "-o", b.path("p.prof"), program, env={"XDG_CACHE_HOME": b.path("cache")})
            equal(done.stdout, b.run(program).stdout, "output")
        b.counting(program)
        for command in (["readelf", "-aW"], ["objdump", "-h"], ["nm"]):
            done = b.run(*command, b.path("counting"))
            expect("arning" not in done.stderr and "rror" not in done.stderr, "%s: %s" % (command, done.stderr))


def case_stock(b):
    """ldconfig is linked statically, and stripped."""
    needs("valgrind", "readelf")
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if not program or "INTERP" in b.run("readelf", "-lW", program).stdout:
        raise Skipped("needs a static ldconfig")
    found = callgrind.compare(b, os.path.realpath(program), "-p")
    expect(found.ran > 500 and not found.differ, "\n".join(map(str, found.differ[:20])))


harness.main(__doc__, bench=Static)
