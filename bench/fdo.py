"""What a sampled profile gains in a rebuild, against an instrumented one.

    python3 bench/fdo.py [--programs bzip2,lua] [--compilers clang,gcc]

For each program and compiler: a plain build (-O2), a build with the exported
profile of real cpu-clock samples (-fprofile-sample-use, -fauto-profile), and one
with the compiler's own instrumentation. Costs are counted by cachegrind with its
branch predictor, on the input of the training: instructions, mispredicted
branches, and an estimate of cycles (instructions + 10 per misprediction), which
does not depend on how busy the machine is; CPU time is given as a ratio of the
fastest of several interleaved runs. Results go to .cache/fdo/results.json.
"""
import argparse
import glob
import json
import os
import re
import resource
import shlex
import subprocess

import corpus
import inputs

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "fdo")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
PROGRAMS = "bzip2,minigzip,mawk,lua,minisat"
# valgrind cannot read clang's DWARF 5
DEBUG = "-g -gdwarf-4 -fno-pie -no-pie"


def compiler(name):
    if name == "clang":
        return "clang-" + LLVM, "clang++-" + LLVM, DEBUG + " -fdebug-info-for-profiling"
    return "gcc-12", "g++-12", DEBUG


def cpu(line, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


class Case:
    def __init__(self, program, name):
        self.program, self.name = program, name
        self.cc, self.cxx, self.debug = compiler(name)
        self.folder = os.path.join(WORK, name, program.name)
        self.inputs = inputs.make(os.path.join(ROOT, ".cache", "inputs"))
        os.makedirs(self.folder, exist_ok=True)

    def build(self, variant, flags, fresh=False):
        """One folder for all variants of a program: gcc's profiles know files by path."""
        exe = os.path.join(self.folder, variant)
        if os.path.exists(exe) and not fresh:
            return exe
        built = corpus.build(self.program, os.path.join(self.folder, "src"), self.cc, self.cxx,
                             "-O2 %s %s" % (self.debug, flags), log=exe + ".log")
        subprocess.run(["cp", built, exe], check=True)
        return exe

    def line(self, exe, prefix=""):
        src = os.path.join(self.folder, "src", self.program.name)
        line = corpus.command(self.program, "small", exe, self.inputs, src)
        return line.replace(exe, (prefix + " " + exe).strip(), 1)

    def run(self, line, **env):
        subprocess.run(["sh", "-c", line], cwd=self.folder, env=dict(os.environ, LC_ALL="C", **env),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sampled(self, base):
        data, profile = os.path.join(self.folder, "clock.data"), os.path.join(self.folder, "sampled.prof")
        runs = max(1, int(3 / max(0.005, cpu(self.line(base), self.folder))))
        loop = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (runs, self.line(base))
        footpath = os.path.join(BIN, "footpath")
        self.run("%s record --quiet -e cpu-clock -c 100000 -o %s -- sh -c %s" % (footpath, data, shlex.quote(loop)))
        subprocess.run([footpath, "infer", data, "--module", os.path.basename(base), "-o", profile], check=True,
                       stdout=subprocess.DEVNULL)
        kind = "llvm-sample" if self.name == "clang" else "gcc-afdo"
        out = os.path.join(self.folder, "sampled." + kind)
        subprocess.run([footpath, "export", "--format", kind, profile, "-o", out], check=True)
        return "-fprofile-sample-use=" + out if self.name == "clang" else "-fauto-profile=" + out

    def instrumented(self):
        folder = os.path.join(self.folder, "trained")
        if self.name == "clang":
            exe = self.build("training", "-fprofile-generate")
            self.run(self.line(exe), LLVM_PROFILE_FILE=os.path.join(folder, "%p.profraw"))
            out = os.path.join(self.folder, "trained.profdata")
            subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", out] + glob.glob(folder + "/*.profraw"), check=True)
            return "-fprofile-use=" + out
        exe = self.build("training", "-fprofile-generate -fprofile-update=single -fprofile-dir=" + folder)
        self.run(self.line(exe))
        return "-fprofile-use -fprofile-correction -Wno-missing-profile -fprofile-dir=" + folder

    def cost(self, exe):
        log = exe + ".cachegrind"
        for old in glob.glob(log + "*"):
            os.remove(old)
        self.run(self.line(exe, "valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes "
                                "--cachegrind-out-file=/dev/null --log-file=%s.%%p" % log))
        total = {"instructions": 0, "mispredicted": 0}
        for name in glob.glob(log + ".*"):
            with open(name, errors="replace") as f:
                text = f.read()
            for key, pattern in (("instructions", r"I\s+refs:\s+([\d,]+)"), ("mispredicted", r"Mispredicts:\s+([\d,]+)")):
                found = re.search(pattern, text)
                total[key] += int(found.group(1).replace(",", "")) if found else 0
        total["cycles"] = total["instructions"] + 10 * total["mispredicted"]
        return total

    def measure(self, rounds):
        base = self.build("plain", "")
        builds = {"plain": base, "sampled": self.build("sampled", self.sampled(base), True),
                  "instrumented": self.build("instrumented", self.instrumented(), True)}
        result = {name: self.cost(exe) for name, exe in builds.items()}
        times = {name: [] for name in builds}
        for _ in range(rounds):
            for name, exe in builds.items():
                times[name].append(cpu(self.line(exe), self.folder))
        for name in builds:
            result[name]["time"] = min(times[name])
        return result


def gain(result, name, key):
    return 1 - result[name][key] / result["plain"][key]


def print_table(results):
    print("| program | compiler | cycles, sampled | cycles, instrumented | part | instructions | mispredicted | time |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    parts = {}
    for key in sorted(results):
        r = results[key]
        name, program = key.split(" ")
        sampled, trained = gain(r, "sampled", "cycles"), gain(r, "instrumented", "cycles")
        parts.setdefault(name, []).append((sampled, trained))
        pairs = ["%+.1f%% / %+.1f%%" % (100 * gain(r, "sampled", k), 100 * gain(r, "instrumented", k))
                 for k in ("instructions", "mispredicted", "time")]
        print("| %s | %s | %.2f%% | %.2f%% | %s | %s |" % (
            program, name, 100 * sampled, 100 * trained, "%.0f%%" % (100 * sampled / trained) if trained > 0 else "",
            " | ".join(pairs)))
    for name, all_of in sorted(parts.items()):
        sampled, trained = (sum(x) / len(all_of) for x in zip(*all_of))
        print("| **average** | %s | %.2f%% | %.2f%% | %s | | | |" % (
            name, 100 * sampled, 100 * trained, "%.0f%%" % (100 * sampled / trained) if trained > 0 else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--compilers", default="clang,gcc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="print what was measured before")
    args = parser.parse_args()
    store = os.path.join(WORK, "results.json")
    results = json.load(open(store)) if os.path.exists(store) else {}
    if not args.table:
        for program in corpus.names(args.programs):
            for name in args.compilers.split(","):
                results[name + " " + program.name] = Case(program, name).measure(args.rounds)
                with open(store, "w") as out:
                    json.dump(results, out, indent=1, sort_keys=True)
    print_table(results)


if __name__ == "__main__":
    main()
