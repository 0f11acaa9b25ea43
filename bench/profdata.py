#!/usr/bin/env python3
"""Profiles for clang's -fprofile-use=, counted by footpath and by clang itself.

    profdata.py --bin BUILD/bin [--programs bzip2,lua,minisat] [--llvm 19] [--docs]

Each program is built by footpath-cc --fp-at=pgo --fp-values and by clang -fprofile-generate, and trained with the same input. The
table has: functions and counters of clang's profile; how many of its functions ours lacks, has with another hash or with other
counters; values that differ (clang keeps some values of a call and drops others); how often clang says of our profile that a function
is missing or differs, and how often of its own; and the instructions (cachegrind) of programs built by both profiles on an input that
was not trained on, over plain -O2. clang says all of it: also of functions that are not in the profile, and of copies in several
objects, which it leaves out otherwise. Warnings that a program's own build turns off are on.

For each function that differs a line says why: clang's own profile differs in the same way when it is written behind the last
destructor (clang's program is linked with a piece that does so on demand), or between two runs; or the program has no code of the
function, which the C++ library has, so that only its inlined copies count; or clang has dropped values, or has none. "Not known" is the rest.
"""
import argparse
import dataclasses
import glob
import os
import re
import subprocess
import sys

import corpus
import inputs
import marks

sys.path.insert(0, os.path.join(corpus.ROOT, "tests", "use"))
sys.path.insert(0, os.path.join(corpus.ROOT, "tests"))
from profdata import read_profile  # noqa: E402

LATE = """
#include <stdio.h>
#include <stdlib.h>
int __llvm_profile_write_file(void);
const char *__llvm_profile_get_filename(void);
__attribute__((destructor(101))) static void write_late(void)
{
    if (!getenv("WRITE_LATE")) return;
    remove(__llvm_profile_get_filename());
    __llvm_profile_write_file();
}
"""
WORK = os.path.join(corpus.ROOT, ".cache", "profdata")
SIX = "bzip2,lua,sqlite,zstd,minisat,cppcheck"
COLUMNS = ["program", "functions", "counters", "missing", "other hash", "other counters", "other values", "clang warns", "of its own",
           "instructions, clang's profile", "ours", "part of the gain"]
QUIET = re.compile(r" -Wno-everything| -w\b| >/dev/null 2>&1$")


class Case:
    def __init__(self, args, program):
        self.args, self.program = args, dataclasses.replace(program, recipe=QUIET.sub("", program.recipe))
        self.folder = os.path.join(WORK, program.name + ("" if args.llvm == "19" else "-" + args.llvm))
        self.inputs = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
        os.makedirs(self.folder, exist_ok=True)

    def build(self, name, cc, cxx, flags=""):
        """Names of folders have one length: some programs walk over the name by which they were called."""
        log = os.path.join(self.folder, name + ".log")
        folder = os.path.join(self.folder, name)
        return corpus.build(self.program, folder, cc, cxx, "-O2 " + flags + " " + self.program.compare_flags, log=log), log

    def run(self, which, exe, tool="", **env):
        line = corpus.command(self.program, which, tool + exe, self.inputs, os.path.dirname(exe))
        done = subprocess.run(["sh", "-c", line], cwd=os.path.dirname(exe), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=dict(os.environ, **env))
        if done.returncode not in self.program.ends:
            raise RuntimeError("%s: status %d" % (line, done.returncode))

    def tool(self, *words):
        subprocess.run(words, check=True)

    def profiles(self):
        v, here = self.args.llvm, lambda name: os.path.join(self.folder, name)
        flags = " --fp-llvm=%s --fp-at=pgo --fp-values" % v
        cc = [os.path.join(self.args.bin, name) + flags for name in ("footpath-cc", "footpath-c++")]
        ours, _ = self.build("build-1", *cc)
        late = here("late.o")
        subprocess.run(["clang-" + v, "-O1", "-x", "c", "-c", "-", "-o", late], input=LATE, text=True, check=True)
        clangs, _ = self.build("build-2", *["%s-%s -fprofile-generate -Wno-unused-command-line-argument -Wl,%s" % (c, v, late) for c in ("clang", "clang++")])
        self.exe = clangs
        if os.path.exists(here("ours.prof")):
            os.remove(here("ours.prof"))
        self.run("train", ours, FOOTPATH_OUT=here("ours.prof"))
        self.clangs("clang")
        self.clangs("again")
        self.clangs("late", WRITE_LATE="1")
        self.tool(os.path.join(self.args.bin, "footpath"), "export", "--format", "llvm-profdata", here("ours.prof"), "-o", here("ours.profdata"))
        return here("ours.profdata"), here("clang.profdata")

    def clangs(self, name, **env):
        """clang's own profile of a run: NAME.profdata."""
        here = os.path.join(self.folder, name)
        for old in glob.glob(here + "-*.profraw"):
            os.remove(old)
        self.run("train", self.exe, LLVM_PROFILE_FILE=here + "-%p.profraw", **env)  # a file per process: training may be several
        self.tool("llvm-profdata-" + self.args.llvm, "merge", *sorted(glob.glob(here + "-*.profraw")), "-o", here + ".profdata")

    def without_code(self):
        """Functions that clang's program takes from a library."""
        said = subprocess.run(["nm", "--undefined-only", "--format=posix", self.exe], check=True, capture_output=True, text=True).stdout
        return {line.split()[0].split("@")[0] for line in said.splitlines()}

    def why(self, ours):
        """{function: why it differs from clang's own}"""
        first, again, late = (self.read(os.path.join(self.folder, name + ".profdata")) for name in ("clang", "again", "late"))
        library, reasons = self.without_code(), {}
        for name in first:
            if name not in ours:
                reasons[name] = "missing"
            elif ours[name] != first[name]:
                reasons[name] = why_different(ours[name], first[name], again.get(name), late.get(name), name.split(";")[-1] in library)
        return reasons

    def read(self, path):
        done = subprocess.run(["llvm-profdata-" + self.args.llvm, "show", "--all-functions", "--counts", "--ic-targets", "--memop-sizes", path],
                              check=True, capture_output=True, text=True, errors="replace")
        return read_profile(done.stdout)[0]

    def used(self, name, profile):
        weak = "" if int(self.args.llvm) < 16 else "-weak"
        say = " -Wbackend-plugin -mllvm -pgo-warn-missing-function -mllvm -no-pgo-warn-mismatch-comdat%s=false" % weak
        flag = " -fprofile-use=%s" % profile + say if profile else ""
        exe, log = self.build(name, "clang-" + self.args.llvm + flag, "clang++-" + self.args.llvm + flag)
        with open(log, errors="replace") as f:
            warnings = f.read().count("[-Wbackend-plugin]")
        return self.instructions(exe), warnings

    def instructions(self, exe):
        log = exe + ".refs"
        tool = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s " % log
        self.run("small", exe, tool)
        with open(log) as f:
            return int(re.search(r"I +refs: +([\d,]+)", f.read()).group(1).replace(",", ""))


def part(lines, *heads):
    return [l for l in lines if l.startswith(heads)]


def why_different(ours, clangs, again, late, in_library):
    if ours == late:
        return "counted behind clang's writing of its profile"
    if again != clangs:
        return "differs between two runs of clang's own"
    if in_library:
        return "no code of its own, inlined copies only"
    targets = lambda lines: {l.split("(")[0] for l in lines if l.startswith("[")}
    if part(ours, "Hash", "Counters", "Block", "Function") == part(clangs, "Hash", "Counters", "Block", "Function"):
        if targets(clangs) < targets(ours):
            return "clang has dropped values" if targets(clangs) else "clang has no values of its calls"
        return "other values: ours %s, clang's %s" % tuple(sorted(targets(a) - targets(b)) for a, b in ((ours, clangs), (clangs, ours)))
    return "not known"


def compare(ours, clangs):
    """[functions, counters, missing, other hash, other counters, other values]"""
    both = [n for n in clangs if n in ours]
    count = lambda f: sum(1 for n in both if f(n))
    head = ("Hash", "Counters")
    hashed = lambda n: part(ours[n], *head) != part(clangs[n], *head)
    counters = lambda n: not hashed(n) and part(ours[n], "Block", "Function") != part(clangs[n], "Block", "Function")
    total = sum(int(line.split()[1]) for lines in clangs.values() for line in part(lines, "Counters"))
    return [len(clangs), total, len(clangs) - len(both), count(hashed), count(counters), count(
        lambda n: not hashed(n) and not counters(n) and ours[n] != clangs[n])]


def measure(args, program):
    case = Case(args, program)
    ours, clangs = case.profiles()
    row = compare(case.read(ours), case.read(clangs))
    for name, why in case.why(case.read(ours)).items():
        print("%s: %s: %s" % (program.name, name, why), flush=True)
    plain, by_clang, by_us = case.used("build-3", None)[0], case.used("build-4", clangs), case.used("build-5", ours)
    gains = [by / plain - 1 for by in (by_clang[0], by_us[0])]
    return row + ["%d" % by_us[1], "%d" % by_clang[1], "%+.2f%%" % (100 * gains[0]), "%+.2f%%" % (100 * gains[1]),
                  "%.1f%%" % (100 * gains[1] / gains[0]) if gains[0] else "–"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--programs", default=os.environ.get("BENCH") or SIX)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--docs", action="store_true", help="put the rows into docs/use.md")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    rows = {}
    for p in programs:
        rows[p.name] = [str(x) for x in measure(args, p)]
        print(p.name, dict(zip(COLUMNS[1:], rows[p.name])), flush=True)
    if args.docs:
        marks.write(os.path.join(corpus.ROOT, "docs", "use.md"), "profdata", COLUMNS, rows, marks.stamp(), None, [p.name for p in corpus.PROGRAMS])


if __name__ == "__main__":
    main()
