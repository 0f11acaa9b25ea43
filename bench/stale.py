#!/usr/bin/env python3
"""Builds by the profile of an older version: two releases of Debian, the old one's profile, the new one's source.

    stale.py --bin BUILD/bin [--before OTHER/bin] [--programs lua,mawk] [--docs]

The old version (the system's own release) is built to count and trained; the new one (--suite, trixie) is built plain, by its own
profile (fresh), and by the old version's. Both are trained with one input and measured with another. Gains are in instructions of
the whole process (cachegrind), over plain -O2 of the new version. --before is a footpath that leaves functions that changed alone:
today's figure beside it.
"""
import argparse
import dataclasses
import os
import re
import subprocess
import sys

import corpus
import inputs
import marks

WORK = os.path.join(corpus.ROOT, ".cache", "stale")
SEVEN = "minigzip,mawk,lua,zstd,sqlite,tcl,xz"
COLUMNS = ["program", "old", "new", "functions", "changed", "counts that found a place", "fresh", "stale, before", "stale", "part of the fresh gain"]
COUNT = "--fp-at=early --fp-inline=small --fp-cuts=few --fp-values"


class Case:
    def __init__(self, args, program):
        # of what a program that confines itself may not write, no profile is left
        recipe = program.recipe.replace("./configure", "./configure --enable-sandbox=no") if program.name == "xz" else program.recipe
        self.args, self.program = args, dataclasses.replace(program, recipe=recipe)
        self.inputs = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
        self.folder = os.path.join(WORK, program.name)
        os.makedirs(self.folder, exist_ok=True)

    def build(self, name, sources, flags, bin=None):
        """Names of folders have one length: some programs walk over the name by which they were called."""
        log = os.path.join(self.folder, name + ".log")
        cc = [os.path.join(bin or self.args.bin, c) + " " + flags for c in ("footpath-cc", "footpath-c++")]
        corpus.CACHE = sources
        exe = corpus.build(self.program, os.path.join(self.folder, name), *cc, "-O2 " + self.program.compare_flags, log=log)
        with open(log, errors="replace") as f:
            return exe, f.read()

    def run(self, which, exe, tool="", **env):
        line = corpus.command(self.program, which, tool + exe, self.inputs, self.source_of(exe))
        done = subprocess.run(["sh", "-c", line], cwd=os.path.dirname(exe), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=dict(os.environ, **env))
        if done.returncode not in self.program.ends:
            raise RuntimeError("%s: status %d" % (line, done.returncode))

    def source_of(self, exe):
        return exe[:-len(self.program.exe)].rstrip("/")

    def trained(self, name, sources):
        profile = os.path.join(self.folder, name + ".prof")
        for old in (profile, profile + ".guide"):
            if os.path.exists(old):
                os.remove(old)
        exe, _ = self.build(name, sources, COUNT)
        self.run("train", exe, FOOTPATH_OUT=profile, FOOTPATH_MAP="1")
        return profile

    def guide(self, bin, profile):
        """Of each footpath its own: the file's version may differ."""
        guide = profile + (".before" if bin != self.args.bin else "") + ".made.guide"
        subprocess.run([os.path.join(bin, "footpath"), "export", "--format", "guide", profile, "-o", guide], check=True)
        return guide

    def instructions(self, exe):
        log = exe + ".refs"
        tool = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s " % log
        self.run("small", exe, tool)
        with open(log) as f:
            return int(re.search(r"I +refs: +([\d,]+)", f.read()).group(1).replace(",", ""))


def version(sources, program):
    """As the package's changelog says; of one that was fetched without it, as the lists of packages do."""
    package = program.packages[0]
    changelog = os.path.join(sources, package, "debian", "changelog")
    if os.path.exists(changelog):
        with open(changelog, errors="replace") as f:
            found = re.search(r"\(([^)]*)\)", f.readline())
    else:
        apt = os.path.join(sources, "apt")
        said = subprocess.run(["apt-cache", "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=%s/parts" % apt,
                               "-o", "Dir::State::Lists=%s/lists" % apt, "-o", "Dir::Cache=%s/cache" % apt, "showsrc", package],
                              capture_output=True, text=True).stdout
        found = re.search(r"^Version: (.*)$", said, re.M)
    return found.group(1).split(":")[-1]


def summed(said):
    """From --fp-remarks: functions, those that changed, and the share of their counts that found a place."""
    found = re.findall(r"remark: (\d+) functions by the profile, (\d+) stale, (\d+) not in it;.*; (\d+) by an earlier version of theirs, "
                       r"\d+ of these under another name: (\d+) of (\d+) counts", said)
    if not found:
        return "–", "–", "–"  # the recipe does not keep what the compiler says
    same, stale, absent, placed, counts, total = (sum(int(x[i]) for x in found) for i in range(6))
    return same + stale + absent + placed, stale + placed, "%.1f%%" % (100 * counts / total) if total else "–"


def measure(args, program):
    case = Case(args, program)
    old, new = args.old, args.new
    old_profile, new_profile = case.trained("count-old", old), case.trained("count-new", new)
    plain = case.instructions(case.build("build-pln", new, "--fp-mode=none")[0])
    fresh = case.instructions(case.build("build-frs", new, "--fp-use=" + case.guide(args.bin, new_profile))[0])
    exe, said = case.build("build-stl", new, "--fp-remarks --fp-use=" + case.guide(args.bin, old_profile))
    stale = case.instructions(exe)
    before = None
    if args.before:
        before = case.instructions(case.build("build-bef", new, "--fp-use=" + case.guide(args.before, old_profile), args.before)[0])
    functions, changed, placed = summed(said)
    gain = lambda by: by / plain - 1
    percent = lambda by: "%+.2f%%" % (100 * gain(by))
    return [version(old, program), version(new, program), functions, changed, placed,
            percent(fresh), percent(before) if before else "–", percent(stale), "%.2f" % (gain(stale) / gain(fresh))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--before", help="tools of an earlier footpath")
    parser.add_argument("--programs", default=os.environ.get("BENCH") or SEVEN)
    parser.add_argument("--suite", default="trixie")
    parser.add_argument("--docs", action="store_true", help="put the rows into docs/use.md")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    args.before = args.before and os.path.abspath(args.before)
    args.old, args.new = corpus.CACHE, os.path.join(corpus.ROOT, ".cache", args.suite)
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    packages = sorted({p for program in programs for p in program.packages})
    subprocess.run([os.path.join(corpus.HERE, "fetch"), args.new] + packages, check=True, env=dict(os.environ, FOOTPATH_SUITE=args.suite))
    rows = {}
    for p in programs:
        rows[p.name] = [str(x) for x in measure(args, p)]
        print(p.name, dict(zip(COLUMNS[1:], rows[p.name])), flush=True)
        if args.docs:
            marks.write(os.path.join(corpus.ROOT, "docs", "use.md"), "stale", COLUMNS, {p.name: rows[p.name]}, marks.stamp(), None,
                        [p.name for p in corpus.PROGRAMS])


if __name__ == "__main__":
    main()
