"""What a sampled profile gains in a rebuild, against an instrumented one.

    python3 bench/fdo.py [--programs bzip2,lua] [--compilers clang,gcc] [--input small|train]

For each program and compiler: a plain build (-O2), a build with the exported
profile of real cpu-clock samples (-fprofile-sample-use, -fauto-profile), one with
the exact counts of callgrind in the same form, and one with the compiler's own
instrumentation. The first difference to the last is what sampling loses, the
second what the form of the profile loses. All profiles are of the input `train`;
costs are counted on --input (`small`: cross-validated; `train`: the same input) by
cachegrind with its branch predictor: instructions, mispredicted branches, and an
estimate of cycles (instructions + 10 per misprediction), which does not depend on
how busy the machine is; CPU time is a ratio of the fastest of several interleaved
runs. Results go to .cache/fdo/results.json as they come; --docs writes the table
into docs/perf.md, between its markers.
"""
import argparse
import glob
import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys

import corpus
import inputs

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "fdo")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
PROGRAMS = "bzip2,minigzip,mawk,lua,minisat"
BUILDS = ("plain", "sampled", "exact", "instrumented")
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
    def __init__(self, program, name, seconds):
        self.program, self.name, self.seconds = program, name, seconds
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

    def line(self, which, exe, prefix=""):
        src = os.path.join(self.folder, "src", self.program.name)
        line = corpus.command(self.program, which, exe, self.inputs, src)
        return line.replace(exe, (prefix + " " + exe).strip())

    def run(self, line, **env):
        subprocess.run(["sh", "-c", line], cwd=self.folder, env=dict(os.environ, LC_ALL="C", **env),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def footpath(self, *args):
        subprocess.run([os.path.join(BIN, "footpath")] + list(args), check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def use(self, profile):
        """The flag that builds with a profile of ours."""
        kind = "llvm-sample" if self.name == "clang" else "gcc-afdo"
        out = os.path.join(self.folder, os.path.basename(profile) + "." + kind)
        self.footpath("export", "--format", kind, profile, "-o", out)
        # lines that were optimised away have no count: clang infers it, if told to
        clang = "-fprofile-sample-use=%s -fsample-profile-use-profi" % out
        return clang if self.name == "clang" else "-fauto-profile=" + out

    def sampled(self, base):
        data, profile = os.path.join(self.folder, "clock.data"), os.path.join(self.folder, "sampled.prof")
        line = self.line("train", base)
        runs = max(1, int(self.seconds / max(0.005, cpu(line, self.folder))))
        loop = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (runs, line)
        self.run("%s record --quiet -e cpu-clock -c 100000 -o %s -- sh -c %s" % (
            os.path.join(BIN, "footpath"), data, shlex.quote(loop)))
        self.footpath("infer", data, "--module", os.path.basename(base), "-o", profile)
        return self.use(profile)

    def exact(self, base):
        out, profile = os.path.join(self.folder, "callgrind.out"), os.path.join(self.folder, "exact.prof")
        for old in glob.glob(out + "*"):
            os.remove(old)
        self.run(self.line("train", base, "valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes "
                                          "--skip-plt=no --callgrind-out-file=%s.%%p" % out))
        self.footpath("import", "--format", "callgrind", "--binary", base, "-o", profile, *glob.glob(out + ".*")[:1])
        return self.use(profile)

    def instrumented(self):
        folder = os.path.join(self.folder, "trained")
        if self.name == "clang":
            exe = self.build("training", "-fprofile-generate")
            self.run(self.line("train", exe), LLVM_PROFILE_FILE=os.path.join(folder, "%p.profraw"))
            out = os.path.join(self.folder, "trained.profdata")
            subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", out] + glob.glob(folder + "/*.profraw"), check=True)
            return "-fprofile-use=" + out
        exe = self.build("training", "-fprofile-generate -fprofile-update=single -fprofile-dir=" + folder)
        subprocess.run(["rm", "-rf", folder])  # what programs of configure left
        self.run(self.line("train", exe))
        return "-fprofile-use -fprofile-correction -Wno-missing-profile -fprofile-dir=" + folder

    def cost(self, exe, which):
        log = exe + ".cachegrind"
        for old in glob.glob(log + "*"):
            os.remove(old)
        self.run(self.line(which, exe, "valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes "
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

    def measure(self, which, rounds):
        # what an earlier run left is of other builds
        subprocess.run(["rm", "-rf", os.path.join(self.folder, "trained"), os.path.join(self.folder, "training")])
        base = self.build("plain", "")
        builds = {"plain": base, "sampled": self.build("sampled", self.sampled(base), True),
                  "exact": self.build("exact", self.exact(base), True),
                  "instrumented": self.build("instrumented", self.instrumented(), True)}
        result = {name: self.cost(exe, which) for name, exe in builds.items()}
        times = {name: [] for name in builds}
        for _ in range(rounds):
            for name, exe in builds.items():
                times[name].append(cpu(self.line(which, exe), self.folder))
        for name in builds:
            result[name]["time"] = min(times[name]) if rounds else 0
        return result


def gain(result, name, key):
    return 1 - result[name][key] / result["plain"][key] if result["plain"][key] else 0


def share(part, whole):
    return "%.0f%%" % (100 * part / whole) if whole > 0 else ""


def write_table(results, out):
    """A gain is what a build saves of the plain one's cost; a part is of the instrumented gain."""
    print("| program | compiler | cycles: sampled | exact | instrumented | **sampled, part** | exact, part | "
          "instructions | mispredicted | time |", file=out)
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|", file=out)
    gains = {}
    for key in sorted(results):
        r = results[key]
        name, program = key.split(" ")
        three = [gain(r, build, "cycles") for build in BUILDS[1:]]
        gains.setdefault(name, []).append(three)
        pairs = ["%+.1f%% / %+.1f%%" % (100 * gain(r, "sampled", k), 100 * gain(r, "instrumented", k))
                 for k in ("instructions", "mispredicted", "time")]
        print("| %s | %s | %s | %s | %s | %s |" % (
            program, name, " | ".join("%.2f%%" % (100 * g) for g in three), share(three[0], three[2]),
            share(three[1], three[2]), " | ".join(pairs)), file=out)
    for name, rows in sorted(gains.items()):
        three = [sum(column) / len(rows) for column in zip(*rows)]
        print("| **average** | %s | %s | %s | %s | | | |" % (
            name, " | ".join("%.2f%%" % (100 * g) for g in three), share(three[0], three[2]), share(three[1], three[2])),
            file=out)


def write_docs(results):
    path = os.path.join(ROOT, "docs", "perf.md")
    text, table = open(path).read(), io.StringIO()
    write_table(results, table)
    before, rest = text.split("<!-- fdo -->\n", 1)
    after = rest.split("<!-- /fdo -->", 1)[1]
    with open(path, "w") as out:
        out.write(before + "<!-- fdo -->\n" + table.getvalue() + "<!-- /fdo -->" + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--compilers", default="clang,gcc")
    parser.add_argument("--input", default="small", choices=("small", "train"), help="that costs are counted on")
    parser.add_argument("--seconds", type=float, default=3, help="of running, for samples")
    parser.add_argument("--rounds", type=int, default=5, help="of timed runs")
    parser.add_argument("--table", action="store_true", help="print what was measured before")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/perf.md")
    args = parser.parse_args()
    store = os.path.join(WORK, "results.json" if args.input == "small" else "results-same.json")
    results = json.load(open(store)) if os.path.exists(store) else {}
    failed = []
    for program in [] if args.table else corpus.names(args.programs):
        if not program.train:
            raise SystemExit("%s has no second input (train) to take a profile from" % program.name)
        for name in args.compilers.split(","):
            try:
                results[name + " " + program.name] = Case(program, name, args.seconds).measure(args.input, args.rounds)
            except (RuntimeError, subprocess.CalledProcessError) as problem:
                failed.append("%s with %s: %s" % (program.name, name, problem))
                continue
            with open(store, "w") as out:
                json.dump(results, out, indent=1, sort_keys=True)
    write_table(results, sys.stdout)
    if args.docs:
        write_docs(results)
    if failed:
        raise SystemExit("not measured:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
