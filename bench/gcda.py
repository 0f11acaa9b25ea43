#!/usr/bin/env python3
"""What gcc gains by a profile of footpath's, against its own instrumentation.

    bench/gcda.py [--bin BUILD/bin] [--programs bzip2,lua] [--work FOLDER] [--docs]

Each program is built by gcc -O2: plain; with -fprofile-use and no profile ("flags": what the option turns on by itself); by
footpath-gcc with the exact profile of a footpath-cc --fp-at=early build; by footpath-gcc with a profile inferred from cpu-clock
samples of gcc's plain build; and by gcc's own -fprofile-generate. Profiles are of the input `train`, costs of the input `small`:
instructions and mispredictions by cachegrind. "part" is the part of the gain by gcc's own profile.
"""
import argparse
import glob
import os
import re
import shlex
import shutil
import subprocess

import corpus
import inputs
import marks

PROGRAMS = "bzip2,minigzip,mawk,lua,sqlite,minisat,xz,libquantum"
COLUMNS = ["program", "flags", "by footpath's profile", "own", "part of own's gain"]


def sh(line, folder, **env):
    subprocess.run(["sh", "-c", line], cwd=folder, env=dict(os.environ, LC_ALL="C", **env), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)


class Case:
    def __init__(self, args, program):
        self.args, self.program = args, program
        self.folder = os.path.join(args.work, program.name)
        self.inputs = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
        os.makedirs(self.folder, exist_ok=True)

    def build(self, name, cc="gcc", cxx="g++", flags="", **env):
        """In one folder for all builds: gcc's profiles know objects by their paths."""
        exe = os.path.join(self.folder, name)
        built = corpus.build(self.program, os.path.join(self.folder, "src"), cc, cxx, "-O2 " + flags, env=env, log=exe + ".log")
        shutil.copy(built, exe)
        return exe

    def line(self, which, exe, prefix=""):
        line = corpus.command(self.program, which, exe, self.inputs, os.path.join(self.folder, "src", self.program.name))
        return line.replace(exe, (prefix + " " + exe).strip())

    def tool(self, name):
        return os.path.join(self.args.bin, name)

    def exact(self):
        profile = os.path.join(self.folder, "exact.prof")
        if os.path.exists(profile):
            os.remove(profile)
        exe = self.build("counted", self.tool("footpath-cc"), self.tool("footpath-c++"), "-g", FOOTPATH_CC_FLAGS="--fp-at=early",
                         FOOTPATH_OUT="/dev/null")
        sh(self.line("train", exe), self.folder, FOOTPATH_OUT=profile)
        return profile

    def sampled(self):
        data, profile = os.path.join(self.folder, "clock.data"), os.path.join(self.folder, "sampled.prof")
        exe = self.build("plain-g", flags="-g")
        loop = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (self.args.runs, self.line("train", exe))
        sh("%s record --quiet -e cpu-clock -c 100000 -o %s -- sh -c %s" % (self.tool("footpath"), data, shlex.quote(loop)), self.folder)
        subprocess.run([self.tool("footpath"), "infer", data, "--module", "plain-g", "-o", profile], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return profile

    def own(self):
        """gcc's counters lie in a folder of their own, by the path of each object."""
        folder = os.path.join(self.folder, "counters")
        shutil.rmtree(folder, ignore_errors=True)
        exe = self.build("counting", flags="-fprofile-generate -fprofile-update=single -fprofile-dir=" + folder)
        shutil.rmtree(folder, ignore_errors=True)  # what programs of configure left
        sh(self.line("train", exe), self.folder)
        return self.build("own", flags="-fprofile-use -fprofile-correction -Wno-missing-profile -fprofile-dir=" + folder)

    def by(self, name, profile):
        return self.build(name, self.tool("footpath-gcc"), self.tool("footpath-g++"), FOOTPATH_CC_FLAGS="--fp-use=" + profile)

    def cost(self, exe):
        log = exe + ".cachegrind"
        for old in glob.glob(log + "*"):
            os.remove(old)
        sh(self.line("small", exe, "valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes --cachegrind-out-file=/dev/null "
                                   "--log-file=%s.%%p" % log), self.folder)
        total = [0, 0]
        for name in glob.glob(log + ".*"):
            with open(name, errors="replace") as f:
                text = f.read()
            for i, pattern in enumerate((r"I\s+refs:\s+([\d,]+)", r"Mispredicts:\s+([\d,]+)")):
                found = re.search(pattern, text)
                total[i] += int(found.group(1).replace(",", "")) if found else 0
        return total

    def measure(self):
        costs = {"plain": self.cost(self.build("plain")),
                 "flags": self.cost(self.build("flags", flags="-fprofile-use -Wno-missing-profile")),
                 "own": self.cost(self.own()),
                 "exact": self.cost(self.by("exact", self.exact()))}
        if self.args.sampled:
            costs["sampled"] = self.cost(self.by("sampled", self.sampled()))
        return costs


def row(args, costs):
    """Gains over plain, and parts of gcc's own gain."""
    gain = {n: [costs[n][i] / costs["plain"][i] - 1 if costs["plain"][i] else 0 for i in (0, 1)] for n in costs}
    part = lambda n: "%.0f%%" % (100 * gain[n][0] / gain["own"][0]) if gain["own"][0] else "-"
    cells = ["%+.1f%%, %+.1f%%" % tuple(100 * g for g in gain[n]) for n in ("flags", "exact", "own")] + [part("exact")]
    if args.sampled:
        print("sampled: %+.1f%%, %+.1f%%; part %s" % (*[100 * g for g in gain["sampled"]], part("sampled")))
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(corpus.ROOT, "build", "bin"))
    parser.add_argument("--programs", default=os.environ.get("BENCH") or PROGRAMS)
    parser.add_argument("--work", type=os.path.abspath, default=os.path.join(corpus.ROOT, ".cache", "gcda"))
    parser.add_argument("--sampled", action="store_true", help="also by samples")
    parser.add_argument("--runs", type=int, default=40, help="runs that are sampled")
    parser.add_argument("--docs", action="store_true", help="put the rows into docs/use.md")
    args = parser.parse_args()
    chosen, rows = corpus.names(args.programs), {}
    corpus.fetch(chosen)
    for program in chosen:
        rows[program.name] = row(args, Case(args, program).measure())
        print(program.name, dict(zip(COLUMNS[1:], rows[program.name])), flush=True)
    if args.docs:
        marks.write(os.path.join(corpus.ROOT, "docs", "use.md"), "gcda", COLUMNS, rows, marks.stamp(), None,
                    [p.name for p in corpus.PROGRAMS])


if __name__ == "__main__":
    main()
