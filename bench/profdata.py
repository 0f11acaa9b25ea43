#!/usr/bin/env python3
"""Profiles for clang's -fprofile-use=, counted by footpath and by clang itself.

    profdata.py --bin BUILD/bin [--programs bzip2,lua,minisat] [--llvm 19] [--docs]

Each program is built by footpath-cc --fp-at=pgo --fp-values and by clang -fprofile-generate, and trained with the same input. The
table has: functions and counters of clang's profile; how many of its functions ours lacks, has with another hash or with other
counters; values that differ (clang keeps some values of a call and drops others); what clang says of our profile; and the
instructions (cachegrind) of programs built by both profiles on an input that was not trained on, over plain -O2.
"""
import argparse
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

WORK = os.path.join(corpus.ROOT, ".cache", "profdata")
SIX = "bzip2,lua,sqlite,zstd,minisat,cppcheck"
COLUMNS = ["program", "functions", "counters", "missing", "other hash", "other counters", "other values", "clang warns",
           "instructions, clang's profile", "ours", "part of the gain"]


class Case:
    def __init__(self, args, program):
        self.args, self.program = args, program
        self.folder = os.path.join(WORK, program.name)
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
        clangs, _ = self.build("build-2", "clang-%s -fprofile-generate" % v, "clang++-%s -fprofile-generate" % v)
        for old in ("ours.prof", "clang.profraw"):
            if os.path.exists(here(old)):
                os.remove(here(old))
        self.run("train", ours, FOOTPATH_OUT=here("ours.prof"))
        self.run("train", clangs, LLVM_PROFILE_FILE=here("clang.profraw"))
        self.tool(os.path.join(self.args.bin, "footpath"), "export", "--format", "llvm-profdata", here("ours.prof"), "-o", here("ours.profdata"))
        self.tool("llvm-profdata-" + v, "merge", here("clang.profraw"), "-o", here("clang.profdata"))
        return here("ours.profdata"), here("clang.profdata")

    def read(self, path):
        done = subprocess.run(["llvm-profdata-" + self.args.llvm, "show", "--all-functions", "--counts", "--ic-targets", "--memop-sizes", path],
                              check=True, capture_output=True, text=True, errors="replace")
        return read_profile(done.stdout)[0]

    def used(self, name, profile):
        flag = " -fprofile-use=%s" % profile if profile else ""
        exe, log = self.build(name, "clang-" + self.args.llvm + flag, "clang++-" + self.args.llvm + flag,
                              "-Wprofile-instr-out-of-date -Wbackend-plugin")
        with open(log, errors="replace") as f:
            warnings = len(re.findall(r"hash mismatch|profile data may be|no profile data|out of date", f.read()))
        return self.instructions(exe), warnings

    def instructions(self, exe):
        log = exe + ".refs"
        tool = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s " % log
        self.run("small", exe, tool)
        with open(log) as f:
            return int(re.search(r"I +refs: +([\d,]+)", f.read()).group(1).replace(",", ""))


def part(lines, *heads):
    return [l for l in lines if l.startswith(heads)]


def compare(ours, clangs):
    """[functions, counters, missing, other hash, other counters, other values]"""
    both = [n for n in clangs if n in ours]
    count = lambda f: sum(1 for n in both if f(n))
    head = ("Hash", "Counters")
    hashed = lambda n: part(ours[n], *head) != part(clangs[n], *head)
    counters = lambda n: not hashed(n) and part(ours[n], "Block", "Function") != part(clangs[n], "Block", "Function")
    total = sum(int(part(lines, "Counters")[0].split()[1]) for lines in clangs.values())
    return [len(clangs), total, len(clangs) - len(both), count(hashed), count(counters), count(
        lambda n: not hashed(n) and not counters(n) and ours[n] != clangs[n])]


def measure(args, program):
    case = Case(args, program)
    ours, clangs = case.profiles()
    row = compare(case.read(ours), case.read(clangs))
    plain, by_clang, by_us = case.used("build-3", None)[0], case.used("build-4", clangs), case.used("build-5", ours)
    gains = [by / plain - 1 for by in (by_clang[0], by_us[0])]
    return row + ["%d" % by_us[1], "%+.2f%%" % (100 * gains[0]), "%+.2f%%" % (100 * gains[1]),
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
