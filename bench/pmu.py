"""The experiment of paper 003 on a simulated PMU: what several events, classification and minimum cost flow bring.

    python3 bench/pmu.py [--programs bzip2,lua] [--what overlap,learn] [--docs]

For each program: exact edge counts by callgrind, samples of the same run by the simulated PMU
(tests/pmu, a plugin of qemu-user), and the degree of overlap (section 5.1) of what is inferred from
them: with the paper's costs, a table in the form of its Figure 3; with footpath's costs; and what is
learnt of the events, its Table 1. Constants were chosen by the programs of TUNED alone. What was
recorded stays in .cache/pmu/PROGRAM. --docs writes the tables of docs/perf.md.
"""
import argparse
import json
import os
import subprocess
import sys

import corpus
import inputs
import marks

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "pmu")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
PLUGIN = os.path.join(os.path.dirname(BIN), "lib", "footpath", "simulated-pmu.so")
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
TUNED = ("bzip2", "minigzip", "mawk", "lua")
APART = ("zstd", "sqlite", "hmmer", "libquantum", "tcl", "xz", "minisat")
# valgrind cannot read clang's DWARF 5; the plugin wants fixed addresses
FLAGS = "-O2 -g -gdwarf-4 -fdebug-info-for-profiling -fno-pie -no-pie"
SETTINGS = "seed=1,period=5003,mask=0x3ff,rare=101"
MISSES = ("--stall", "MISPREDICTED_PEBS=15")
SEEN = ("--stall", "LONG_STALL=1", "--stall", "DTLB_MISS=0", "--stall", "L2_MISS=0")
TRUTH = ("--classify", "--truth", "{exact}")
PAPER = {
    "raw": ("--costs", "raw"),
    "levin": ("--costs", "levin"),
    "**classified**": ("--costs", "paper"),
    "and mispredictions": ("--costs", "paper", *MISSES),
    "without wrong classes": ("--costs", "paper", *MISSES, "--confirm", "--truth", "{exact}"),
    "**stalls as seen**": ("--costs", "paper", *SEEN),
    "perfect": ("--costs", "paper", *TRUTH),
    "levin, PEBS": ("--costs", "levin", "--event", "INST_RETIRED_PEBS"),
    "levin, cycles": ("--costs", "levin", "--event", "CPU_CLK_UNHALTED", "--by", "instructions"),
}
OWN = {
    "levin": ("--costs", "levin"),
    "profi": ("--costs", "profi"),
    "footpath": (),
    "**classified**": ("--classify",),
    "without classes": ("--classify", "--without", "CPU_CLK_UNHALTED"),
    "without PEBS": ("--classify", "--without", "INST_RETIRED_PEBS"),
    "without mispredictions": ("--classify", "--without", "BR_MISP", "--without", "MISPREDICTED_PEBS"),
    "perfect": TRUTH,
}
# Table 1 of the paper
PRINTED = {"INST_RETIRED": "0.43", "INST_RETIRED_PEBS": "0.272", "INST_RETIRED_0": "-0.1247", "INST_RETIRED_4": "-0.1887",
           "CPU_CLK_UNHALTED": "0.2131", "DTLB_MISS": "-0.1124", "L1I_MISS": "0.0092"}


def tool(*args):
    done = subprocess.run([os.path.join(BIN, "footpath"), *args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("footpath %s:\n%s" % (" ".join(args), done.stderr[-2000:]))
    return done.stdout


class Subject:
    """A program, its exact profile and its simulated samples."""

    def __init__(self, program):
        self.program = program
        self.source = os.path.join(WORK, "build", program.name)
        self.exe = os.path.join(self.source, program.exe)
        self.folder = os.path.join(WORK, program.name)
        self.exact, self.samples = self.path("exact.prof"), self.path("pmu.data")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, prefix):
        line = corpus.command(self.program, "small", self.exe, inputs.make(os.path.join(ROOT, ".cache", "inputs")), self.source)
        subprocess.run(["sh", "-c", line.replace(self.exe, prefix + " " + self.exe, 1)], cwd=self.folder,
                       env=dict(os.environ, LC_ALL="C"), check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def record(self):
        os.makedirs(self.folder, exist_ok=True)
        os.makedirs(os.path.dirname(self.source), exist_ok=True)
        if not os.path.exists(self.exe):
            corpus.build(self.program, os.path.dirname(self.source), "clang-" + LLVM, "clang++-" + LLVM, FLAGS, log=self.path("build.log"))
        if not os.path.exists(self.exact):
            self.run("valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no --callgrind-out-file="
                     + self.path("callgrind.out"))
            tool("import", "--format", "callgrind", "--binary", self.exe, "-o", self.exact, self.path("callgrind.out"))
        if not os.path.exists(self.samples):
            self.run("qemu-x86_64 -plugin %s,out=%s,%s" % (PLUGIN, self.samples, SETTINGS))

    def overlap(self, metric, how):
        event = () if "--event" in how else ("--event", "INST_RETIRED")
        how = [word.format(exact=self.exact) for word in (*event, *how)]
        tool("infer", self.samples, "--module", os.path.basename(self.exe), "--binary", self.exe, "-o", self.path("try.prof"), *how)
        return float(tool("compare", "--metric", metric, self.exact, self.path("try.prof")).split()[1])

    def measure(self):
        self.record()
        found = {"paper " + name: self.overlap("overlap", how) for name, how in PAPER.items()}
        found.update({"own " + name: self.overlap("overlap", how) for name, how in OWN.items()})
        found["own function"] = self.overlap("function", ("--classify",))
        return found


def learn(subjects):
    """The weights of all events, and of the paper's alone."""
    words = [word for s in subjects for word in ("--truth", s.exact, s.samples)]
    few = [word for name in PRINTED for word in ("--event", name)]
    return [json.loads(tool("learn", "--json", *words, *more)) for more in (few, ())]


def rows(results, kind):
    columns = [c for c in next(iter(results.values())) if c.startswith(kind + " ")]
    return (["program"] + [c[len(kind) + 1:] for c in columns],
            {name: ["%.3f" % one[c] for c in columns] for name, one in results.items()})


def report(document, results, learnt):
    groups = {", tuned on": [n for n in TUNED if n in results], ", kept apart": [n for n in APART if n in results]}
    at = marks.stamp()
    for kind in ("paper", "own") if results else ():
        columns, cells = rows(results, kind)
        marks.write(document, "pmu-" + kind, columns, cells, at, marks.average, TUNED + APART, True, groups)
    if learnt:
        few, every = (dict(one["weights"], **{"(constant)": one["constant"]}) for one in learnt)
        marks.write(document, "pmu-learn", ["event", "the paper's weight", "learnt of its events", "of all"],
                    {name: [PRINTED.get(name, ""), "%.4f" % few[name] if name in few else "", "%.4f" % weight]
                     for name, weight in every.items()}, at, right=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=",".join(TUNED + APART))
    parser.add_argument("--what", default="overlap,learn")
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/perf.md")
    args = parser.parse_args()
    subjects = {p.name: Subject(p) for p in corpus.names(args.programs)}
    results = {}
    for name, subject in subjects.items() if "overlap" in args.what else ():
        results[name] = subject.measure()
        print(name, " ".join("%s=%.3f" % pair for pair in results[name].items()), flush=True)
    tuned = [subjects[n] for n in TUNED if n in subjects]
    for subject in tuned:
        subject.record()
    learnt = learn(tuned) if "learn" in args.what and len(tuned) == len(TUNED) else None
    print(json.dumps(learnt, indent=1))
    if args.docs:
        report(os.path.join(ROOT, "docs", "perf.md"), results, learnt)


if __name__ == "__main__":
    sys.exit(main())
