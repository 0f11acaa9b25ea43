#!/usr/bin/env python3
"""Copies of blocks in rewritten programs, and first profiles that guide them: the same counts for fewer instructions.

    copies.py --bin BUILD/bin [--keep] [--case NAME]...
"""
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import equal, expect, needs  # noqa: E402

SOURCE = os.path.join(HERE, "src")


class Copies(harness.Bench):
    def build(self, compiler, source, *flags):
        needs(compiler)
        self.run(compiler, *flags, os.path.join(SOURCE, source), "-o", "prog", "-lpthread")
        return self.path("prog")

    def rewrite(self, program, name, *options):
        """Says what was done."""
        return json.loads(self.tool("exe", program, "-o", self.path(name), "--json", *options, silent=True).stdout)

    def paths(self, name, *words, prefix=(), **how):
        """One run: what it says, and how often each path of each function was taken."""
        profile = self.path(name + ".prof")
        if os.path.exists(profile):
            os.unlink(profile)
        done = self.run(*prefix, self.path(name), *words, status=None, env={"FOOTPATH_OUT": profile, "ASAN_OPTIONS": ""}, **how)
        shown = self.json("show", "--json", "--top", "0", profile, silent=True)["functions"]
        counts = {f["linkage_name"]: sorted((p["id"], p["count"]) for p in f["paths"]) for f in shown if f.get("paths")}
        return (done.returncode, done.stdout), counts

    def instructions(self, name, *words):
        done = self.run("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", self.path(name), *words,
                        status=None, env={"FOOTPATH_OUT": self.path("cost.prof")})
        return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def same_with_copies(b, program, *words, **how):
    """Without copies, with some, with nearly all blocks copied, and guided by the first run: the same paths are taken."""
    b.rewrite(program, "none", "--copies=0")
    said, plain = b.paths("none", *words, **how)
    expect(sum(map(len, plain.values())) > 10, "paths")
    guide = "--guide=" + b.path("none.prof")
    sizes = []
    for name, options in (("some", []), ("all", ["--copies=1000"]), ("placed", ["--copies=0", guide]), ("guided", [guide]),
                          ("guided-all", ["--copies=1000", guide])):
        sizes.append(b.rewrite(program, name, *options)["bytes_of_copies"])
        now, counts = b.paths(name, *words, **how)
        equal(now, said, "what the program does, " + name)
        expect(counts == plain, "other paths are taken: %s %s" % (name, [f for f in plain if plain[f] != counts.get(f)]))
        differ = b.tool("diff", "--top", "0", b.path("none.prof"), b.path(name + ".prof"), silent=True, status=None)
        equal(differ.returncode, 0, "diff")
    expect(sizes[2] == 0 < sizes[0] < sizes[1] and 0 < sizes[3] <= sizes[4], "bytes of copies: %s" % sizes)


def case_same_paths(b):
    for compiler in ("gcc", "clang-" + b.args.llvm):
        for flags in (["-O2"], ["-O0", "-no-pie", "-fno-pie"]):
            same_with_copies(b, b.build(compiler, "ways.c", *flags))


def case_same_exceptions(b):
    same_with_copies(b, b.build("g++", "throws.cc", "-O2"))


def case_same_stock(b):
    program = shutil.which("dash", path="/usr/bin:/bin")
    needs("dash")
    same_with_copies(b, os.path.realpath(program), "-c", 'for i in a b "c d"; do case $i in a) x=$i;; *) y="$y${i#?}";; esac; done; echo $x $y')


def case_price(b):
    """A loop with four paths and no register for a sum: with copies a round takes one instruction more."""
    needs("valgrind", "gcc")
    program = b.build("gcc", "loop.c", "-O2", "-fno-tree-vectorize", "-fno-if-conversion", "-fno-if-conversion2")
    b.rewrite(program, "none", "--copies=0")
    b.paths("none")
    b.rewrite(program, "guided", "--guide=" + b.path("none.prof"))
    plain, none, guided = (b.instructions(name) for name in ("prog", "none", "guided"))
    expect(guided - plain < 0.8 * (none - plain), "instructions: %d, without copies %d more, guided %d more" % (plain, none - plain, guided - plain))


def case_options(b):
    program = b.build("gcc", "ways.c", "-O1")
    for options, what in ((["--copies=x"], "--copies is"), (["--copies=1001"], "--copies is"), (["--guide=missing.prof"], "missing.prof"),
                          (["--guide=" + b.write("text", "no profile")], "text")):
        done = b.tool("exe", program, "-o", b.path("out"), *options, status=None)
        expect(done.returncode in (1, 2) and what in done.stderr, "%s: %s" % (options, done.stderr))
    b.write("other.c", "int main(int n, char **v) { return n > 5 ? v[0][0] : 0; }")
    b.cc("other.c", "-o", "other")
    b.run(b.path("other"), env={"FOOTPATH_OUT": b.path("other.prof")})
    done = b.tool("exe", program, "-o", b.path("out"), "--guide=" + b.path("other.prof"), status=1)
    expect("footpath exe" in done.stderr, "a profile of a compiled program: " + done.stderr)


harness.main(__doc__, bench=Copies)
