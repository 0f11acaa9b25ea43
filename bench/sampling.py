"""How close an edge profile inferred from samples comes to the exact one.

    python3 bench/sampling.py [--programs bzip2,lua] [--seconds 3] [--what clock,pmu,overhead]

For each program: exact edge counts by callgrind, samples of the same runs (real
cpu-clock samples, and those of the simulated PMU), and the degree of overlap
(paper 003, section 5.1) of what is inferred, by cost model: a table in the form
of the paper's Figure 3, on average also for the programs that constants were tuned
on and for the others. At the end, what recording costs: CPU time of some seconds of
bzip2 with and without, fastest of interleaved runs. Results go to .cache/sampling/
results.json; --table prints them as docs/perf.md has them.
"""
import argparse
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys

import corpus
import inputs

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "sampling")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
PLUGIN = os.path.join(ROOT, "build", "lib", "footpath", "simulated-pmu.so")
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
PROGRAMS = "bzip2,minigzip,mawk,lua,zstd,xz,minisat,libquantum,gnugo"
# valgrind cannot read clang's DWARF 5
FLAGS = "-O2 -g -gdwarf-4 -fdebug-info-for-profiling -fno-pie -no-pie"
MODELS = ("raw", "levin", "profi", "footpath")
# taken to be those that the constants of src/perf were chosen by: see docs/perf.md
TUNED = ("bzip2", "minigzip", "mawk", "lua")
# the paper's period, 202001 + (random & 0xffff) instructions, is 10,000 samples a second at 2.4 GHz
PERIODS = {"10,000 samples/s": ("100000",), "10,000 samples/s, random periods": ("100000", "--random", "0x7fff"),
           "4,000 samples/s": ("250000",)}


def tool(*args):
    done = subprocess.run([os.path.join(BIN, "footpath")] + list(args), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("footpath %s:\n%s" % (" ".join(args), done.stderr[-2000:]))
    return done.stdout


def cpu_seconds():
    """Of children: waiting for the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Subject:
    """A program built for sampling, with its exact profile."""

    def __init__(self, program):
        self.program = program
        self.folder = os.path.join(WORK, program.name)
        self.exe = os.path.join(WORK, "build", program.name, program.exe)
        self.inputs = inputs.make(os.path.join(ROOT, ".cache", "inputs"))
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self):
        if not os.path.exists(self.exe):
            os.makedirs(os.path.join(WORK, "build"), exist_ok=True)
            corpus.build(self.program, os.path.join(WORK, "build"), "clang-" + LLVM, "clang++-" + LLVM, FLAGS,
                         log=self.path("build.log"))

    def line(self, which="small", prefix=""):
        src = os.path.join(WORK, "build", self.program.name)
        line = corpus.command(self.program, which, self.exe, self.inputs, src)
        return line.replace(self.exe, (prefix + " " + self.exe).strip(), 1)

    def run(self, line):
        subprocess.run(["sh", "-c", line], cwd=self.folder, env=dict(os.environ, LC_ALL="C"), check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1800)

    def exact(self):
        if os.path.exists(self.path("exact.prof")):
            return
        self.run(self.line(prefix="valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no "
                                  "--callgrind-out-file=%s" % self.path("callgrind.out")))
        tool("import", "--format", "callgrind", "--binary", self.exe, "-o", self.path("exact.prof"),
             self.path("callgrind.out"))

    def clock(self, seconds, period):
        """Samples of as many runs as fill the time."""
        if os.path.exists(self.path("clock.data")):
            return
        start = cpu_seconds()
        self.run(self.line())
        runs = max(1, int(seconds / max(0.005, cpu_seconds() - start)))
        line = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (runs, self.line())
        self.run("%s record --quiet -e cpu-clock -c %d -o clock.data -- sh -c %s" % (
            os.path.join(BIN, "footpath"), period, shlex.quote(line)))

    def pmu(self):
        """Samples of the simulated PMU, written as the plugin's run ends."""
        if os.path.exists(self.path("pmu.data")):
            return
        self.run(self.line(prefix="qemu-x86_64 -plugin %s,out=%s,seed=1,period=5003,mask=0x3ff,rare=101" % (PLUGIN, self.path("pmu.data"))))

    def overlap(self, samples, *how):
        name = os.path.basename(self.exe)
        tool("infer", self.path(samples), "--module", name, "--binary", self.exe, "-o", self.path("try.prof"), *how)
        lines = tool("compare", "--metric", "overlap", "--metric", "function", self.path("exact.prof"),
                     self.path("try.prof")).split()
        return float(lines[lines.index("overlap") + 1]), float(lines[lines.index("function") + 1])


def measure(subject, what, seconds, period):
    subject.build()
    subject.exact()
    found = {}
    if "clock" in what:
        subject.clock(seconds, period)
        for model in MODELS:
            found["clock " + model], found["clock function"] = subject.overlap("clock.data", "--costs", model)
    if "pmu" in what:
        subject.pmu()
        event = ("--event", "INST_RETIRED")
        truth = ("--classify", "--truth", subject.path("exact.prof"))
        for model in MODELS + ("paper",):
            found["pmu " + model], _ = subject.overlap("pmu.data", "--costs", model, *event)
        found["pmu paper perfect"], _ = subject.overlap("pmu.data", "--costs", "paper", *truth, *event)
        found["pmu classified"], found["pmu function"] = subject.overlap("pmu.data", "--classify", *event)
        found["pmu perfect"], _ = subject.overlap("pmu.data", *truth, *event)
        found["pmu cycles"], _ = subject.overlap("pmu.data", "--costs", "levin", "--event", "CPU_CLK_UNHALTED")
    return found


def overhead(seconds, rounds):
    """CPU time of the same work with and without the recorder, its own time included."""
    subject = Subject(corpus.names("bzip2")[0])
    subject.build()
    start = cpu_seconds()
    subject.run(subject.line("large"))
    runs = max(1, round(seconds / (cpu_seconds() - start)))
    line = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (runs, subject.line("large"))
    lines = {"plain": "sh -c " + shlex.quote(line)}
    for name, period in PERIODS.items():
        lines[name] = "%s record --quiet -e cpu-clock -c %s -o cost.data -- sh -c %s" % (
            os.path.join(BIN, "footpath"), " ".join(period), shlex.quote(line))
    if shutil.which("perf"):  # what the kernel's own recorder costs here
        lines["perf record, 10,000 samples/s"] = "perf record -q -e cpu-clock:u -c 100000 -o cost.data sh -c " + shlex.quote(line)
    best = {}
    for _ in range(rounds):
        for name, text in lines.items():
            start = cpu_seconds()
            subject.run(text)
            best[name] = min(best.get(name, 1e9), cpu_seconds() - start)
    return {name: {"seconds": s, "overhead": s / best["plain"] - 1} for name, s in best.items()}


def print_overhead(found):
    print("\nrecording, CPU time (the paper: +0.74%, with a PMU)")
    for name, one in found.items():
        print("  %-34s %6.2f s  %+.1f%%" % (name, one["seconds"], 100 * one["overhead"]))


def print_table(results, columns):
    rows = sorted(results)
    print("| program | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for name in rows:
        print("| %s | %s |" % (name, " | ".join("%.3f" % results[name][c] if c in results[name] else "" for c in columns)))
    groups = {"**average**": rows, "of those tuned on": [n for n in rows if n in TUNED],
              "of the others": [n for n in rows if n not in TUNED]}
    for title, group in groups.items():
        means = []
        for c in columns:
            have = [results[n][c] for n in group if c in results[n]]
            means.append("%.3f" % (sum(have) / len(have)) if have else "")
        print("| %s | %s |" % (title, " | ".join(means)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--what", default="clock,pmu,overhead")
    parser.add_argument("--seconds", type=float, default=3, help="of running, for real samples")
    parser.add_argument("--rounds", type=int, default=3, help="of timed runs, for the overhead")
    parser.add_argument("--period", type=int, default=100000, help="of cpu-clock, in ns")
    parser.add_argument("--table", action="store_true", help="print what was measured before")
    args = parser.parse_args()
    store, costs = os.path.join(WORK, "results.json"), os.path.join(WORK, "overhead.json")
    results = json.load(open(store)) if os.path.exists(store) else {}
    what = args.what.split(",")
    os.makedirs(WORK, exist_ok=True)
    if not args.table and ("clock" in what or "pmu" in what):
        for program in corpus.names(args.programs):
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[K" + program.name)
            results.setdefault(program.name, {}).update(
                measure(Subject(program), what, args.seconds, args.period))
            with open(store, "w") as out:
                json.dump(results, out, indent=1, sort_keys=True)
    columns = sorted({c for r in results.values() for c in r}, key=lambda c: (c.split()[0], c))
    if results:
        print_table(results, columns)
    if not args.table and "overhead" in what:
        with open(costs, "w") as out:
            json.dump(overhead(args.seconds, args.rounds), out, indent=1)
    if os.path.exists(costs):
        print_overhead(json.load(open(costs)))


if __name__ == "__main__":
    main()
