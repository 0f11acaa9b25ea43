"""What instrumentation costs, on real programs.

    python3 bench/measure.py [--programs bzip2,lua] [--variants path,clang-edges] [--what instructions,time,compile,size]

For each program and variant: extra instructions (cachegrind, less a trivial run, and of the whole process),
CPU time (interleaved, minimum of N, with the spread), CPU time of the compiler,
size of text and bss, peak memory. Results go to .cache/bench/results.json after each program, each with
the commit, the day and the machine, beside what is there; so several may run at once; bench/tables.py makes the tables and the chart of
docs/performance.md from it.
"""
import argparse
import concurrent.futures
import fcntl
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

import corpus
import inputs
import marks

ROOT = corpus.ROOT
WORK = os.environ.get("FOOTPATH_BENCH", os.path.join(ROOT, ".cache", "bench"))
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")


def clang(*flags):
    return {"cc": "clang-" + LLVM, "cxx": "clang++-" + LLVM, "flags": " ".join(("-O2",) + flags), "base": "clang"}


def gcc(*flags):
    return {"cc": "gcc", "cxx": "g++", "flags": " ".join(("-O2",) + flags), "base": "gcc"}


def footpath(*flags):
    return {"cc": os.path.join(BIN, "footpath-cc"), "cxx": os.path.join(BIN, "footpath-c++"), "flags": "-O2",
            "env": {"FOOTPATH_CC_FLAGS": " ".join(flags)}, "base": "clang"}


VARIANTS = {
    "clang": clang(),
    "gcc": gcc(),
    "clang-pgo": clang("-fprofile-generate"),
    "clang-edges": clang("-fprofile-generate", "-mllvm -disable-vp=true"),
    "clang-front": clang("-fprofile-instr-generate"),
    "gcc-pgo": gcc("-fprofile-generate", "-fprofile-update=single"),
    "path": footpath("--fp-mode=path"),
    # paths end nowhere but at back edges, unless there are more than 2^62
    "path-few": footpath("--fp-mode=path", "--fp-cuts=few"),
    # paths also end where loops that look hot are entered
    "path-loops": footpath("--fp-mode=path", "--fp-cuts=loops"),
    "path-early": footpath("--fp-mode=path", "--fp-at=early"),
    # small functions are put in line before they are counted, as clang does before its counters
    "path-early-small": footpath("--fp-mode=path", "--fp-at=early", "--fp-inline=small"),
    "path-exits": footpath("--fp-mode=path", "--fp-exits"),
    "path-shared": footpath("--fp-mode=path", "--fp-threads=shared"),
    # trained by another build on another input
    "path-guided": dict(footpath("--fp-mode=path"), train="path", guide="--fp-guide="),
    "pep": footpath("--fp-mode=pep"),
    # sampled paths guide the next build
    "pep-guided": dict(footpath("--fp-mode=pep"), train="pep", guide="--fp-guide=", times=20),
    "pep-trap": footpath("--fp-mode=pep", "--fp-pep=trap"),
    "pep-flag": footpath("--fp-mode=pep", "--fp-pep=flag"),
    # faster builds, trained on another input: ours, and clang's own; what `footpath pgo` trains with, and `footpath pgo --edges`
    "path-train": footpath("--fp-mode=path", "--fp-at=early", "--fp-inline=small", "--fp-cuts=few", "--fp-array-paths=16384", "--fp-values"),
    "edge-train": footpath("--fp-mode=edge-min", "--fp-at=early", "--fp-inline=small", "--fp-values"),
    "use": dict(footpath(), train="path-train", guide="--fp-use="),
    "use-more": dict(footpath("--fp-paths=more"), train="path-train", guide="--fp-use="),
    "use-weights": dict(footpath("--fp-paths=no"), train="path-train", guide="--fp-use="),
    "clang-use": dict(clang(), train="clang-pgo", guide="-fprofile-use="),
    "edge": footpath("--fp-mode=edge"),
    "edge-min": footpath("--fp-mode=edge-min"),
}


def environment(folder):
    """Profiles of measured runs go where nobody looks."""
    return dict(os.environ, FOOTPATH_OUT=os.path.join(folder, "run.prof"),
                LLVM_PROFILE_FILE=os.path.join(folder, "run.profraw"), LC_ALL="C")


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(program, variant, times=1, seconds=0):
    """A profile of the variant's training run, made once. Samples need several runs: so many, and so much CPU time."""
    folder = os.path.join(WORK, "train", variant, program.name)
    profile = os.path.join(folder, "train.prof")
    if os.path.exists(profile):
        return profile
    exe, _ = build(program, variant)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = run_command(program, variant, "train" if program.train else "small", exe)
    env = dict(environment(folder), FOOTPATH_OUT=profile, FOOTPATH_TICK_MS="1",
               LLVM_PROFILE_FILE=os.path.join(folder, "run-%p.profraw"))
    begin, done = children_seconds(), 0
    while done < times or children_seconds() - begin < seconds:
        subprocess.run(["sh", "-c", line], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done += 1
    raw = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".profraw")]
    if raw:
        subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", profile] + raw, check=True)
    if not os.path.exists(profile):
        raise RuntimeError("%s %s: training wrote no profile: %s" % (program.name, variant, line))
    return profile


def with_profile(program, spec):
    """The flags of a variant that uses a profile."""
    if "train" not in spec:
        return spec
    flag = spec["guide"] + train(program, spec["train"], spec.get("times", 1), spec.get("seconds", 0))
    if "env" not in spec:
        return dict(spec, flags=spec["flags"] + " " + flag)
    return dict(spec, env={"FOOTPATH_CC_FLAGS": spec["env"]["FOOTPATH_CC_FLAGS"] + " " + flag})


def build(program, variant, force=False):
    """Builds once; gives the executable, the CPU seconds it took and sizes."""
    spec = VARIANTS[variant]
    folder = os.path.join(WORK, "build", variant)
    note = os.path.join(folder, program.name + ".json")
    exe = os.path.join(folder, program.name, program.exe)
    if os.path.exists(note) and os.path.exists(exe) and not force:
        with open(note) as f:
            return exe, json.load(f)
    os.makedirs(folder, exist_ok=True)
    spec = with_profile(program, spec)
    begin = children_seconds()
    corpus.build(program, folder, spec["cc"], spec["cxx"], spec["flags"], env=spec.get("env"),
                 log=os.path.join(folder, program.name + ".log"))
    facts = {"commit": marks.tree(), "build_cpu": children_seconds() - begin}
    size = subprocess.run(["size", "-A", exe], capture_output=True, text=True).stdout
    sections = {m.group(1): int(m.group(2)) for m in re.finditer(r"^(\S+)\s+(\d+)\s+\d+$", size, re.M)}
    facts["text"] = sections.get(".text", 0)
    facts["bss"] = sum(v for k, v in sections.items() if k in (".bss", "footpath_cnt", "footpath_hash", "__llvm_prf_cnts"))
    with open(note, "w") as f:
        json.dump(facts, f)
    return exe, facts


def run_command(program, variant, which, exe):
    src = os.path.join(WORK, "build", variant, program.name)
    return corpus.command(program, which, exe, inputs.make(os.path.join(ROOT, ".cache", "inputs")), src)


def instructions(program, variant, which):
    exe, _ = build(program, variant)
    folder = os.path.join(WORK, "run", variant, program.name, which)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = run_command(program, variant, which, exe)
    # {exe} becomes valgrind exe: only the program itself is counted
    tool = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s/log.%%p %s" % (folder, exe)
    line = line.replace(exe, tool, 1)
    # under valgrind time runs slower: samples would be far too dense
    env = dict(environment(folder), FOOTPATH_SAMPLES="0")
    subprocess.run(["sh", "-c", line], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=3600)
    total = 0
    for name in os.listdir(folder):
        if name.startswith("log."):
            with open(os.path.join(folder, name), errors="replace") as f:
                found = re.search(r"I\s+refs:\s+([\d,]+)", f.read())
                total += int(found.group(1).replace(",", "")) if found else 0
    if not total:
        raise RuntimeError("%s %s: cachegrind counted nothing: %s" % (program.name, variant, line))
    return total


def cpu_time(program, variant, which="large"):
    exe, _ = build(program, variant)
    folder = os.path.join(WORK, "time", variant, program.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = run_command(program, variant, which, exe)
    child = subprocess.Popen(["sh", "-c", line], cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class Progress:
    """A line on a terminal; nothing elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.time()

    def step(self, text):
        self.done += 1
        if sys.stderr.isatty():
            left = (time.time() - self.start) / self.done * (self.total - self.done)
            sys.stderr.write("\r\033[K[%d/%d, %d:%02d left] %s" % (self.done, self.total, left // 60, left % 60, text))
            if self.done == self.total:
                sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def load(path):
    try:
        with open(path) as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def save(path, results):
    """Adds to what is in the file by now: another measure.py may have written there."""
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load(path)
        for program, variants in results.items():
            for variant, facts in variants.items():
                at = dict(known.get(program, {}).get(variant, {}).get("at", {}), **facts.get("at", {}))
                known.setdefault(program, {}).setdefault(variant, {}).update(facts, at=at)
        with open(path + ".new", "w") as f:
            json.dump(known, f, indent=1, sort_keys=True)
        os.rename(path + ".new", path)


def note(results, program, variant, what):
    """The figures of a variant, of which `what` is measured now on what was built then."""
    known = results.setdefault(program.name, {}).setdefault(variant, {})
    known.setdefault("at", {})[what] = marks.stamp(commit=build(program, variant)[1].get("commit"))
    return known


def measure_instructions(programs, variants, results, at_once=2):
    jobs = [(p, v, w) for p in programs for v in variants for w in ("trivial", "small")]
    progress = Progress(len(jobs))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        futures = {pool.submit(instructions, *job): job for job in jobs}
        for future in concurrent.futures.as_completed(futures):
            p, v, w = futures[future]
            note(results, p, v, "instructions")["instructions_" + w] = future.result()
            progress.step("instructions of %s %s" % (p.name, v))


def measure_time(programs, variants, results, rounds):
    progress = Progress(len(programs) * len(variants) * rounds)
    for p in programs:
        times = {v: [] for v in variants}
        for _ in range(rounds):
            for v in variants:
                seconds, memory = cpu_time(p, v)
                times[v].append(seconds)
                note(results, p, v, "time")["memory_kb"] = memory
                progress.step("time of %s %s" % (p.name, v))
        for v in variants:
            results[p.name][v]["times"] = times[v]


def measure_builds(programs, variants, results, force, timed):
    """Sizes, and the compiler's CPU time where times say something on this machine."""
    progress = Progress(len(programs) * len(variants))
    for p in programs:
        for v in variants:
            _, facts = build(p, v, force)
            known = note(results, p, v, "build")
            known.update(facts)
            if not timed:
                known.pop("build_cpu")
            progress.step("build of %s %s" % (p.name, v))


def forget(programs, variants):
    """Builds by footpath, and what they were trained by, are made again."""
    ours = [v for v in variants if VARIANTS[v]["cc"].startswith(BIN)]
    for v in set(ours) | {VARIANTS[v]["train"] for v in ours if "train" in VARIANTS[v]}:
        for p in programs:
            for kind in ("build", "train"):
                shutil.rmtree(os.path.join(WORK, kind, v, p.name), ignore_errors=True)


def extra(results, program, variant, key="instructions"):
    """Relative to the uninstrumented program of the same compiler."""
    base = VARIANTS[variant]["base"]
    mine, plain = results[program][variant], results[program][base]
    net = lambda r: r["instructions_small"] - r["instructions_trivial"]
    return net(mine) / net(plain) - 1


def geomean(values):
    product = 1.0
    for v in values:
        product *= 1 + v
    return product ** (1 / len(values)) - 1


def print_table(results, programs, variants):
    names = [p.name for p in programs if p.name in results]
    print("| extra instructions | " + " | ".join(names) + " | geomean |")
    print("|---|" + "---|" * (len(names) + 1))
    for v in variants:
        if v in ("clang", "gcc"):
            continue
        values = [extra(results, n, v) for n in names]
        print("| %s | %s | **%+.1f%%** |" % (v, " | ".join("%+.1f%%" % (100 * x) for x in values), 100 * geomean(values)))


def main():
    parser = argparse.ArgumentParser(description="What instrumentation costs, on real programs.")
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--what", default="instructions,time")
    parser.add_argument("--jobs", type=int, default=2, help="runs under cachegrind at a time")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rebuild", action="store_true", help="build again what was built by footpath before")
    parser.add_argument("--results", default=os.path.join(WORK, "results.json"))
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    variants = args.variants.split(",")
    for base in ("clang", "gcc"):
        if base not in variants and any(VARIANTS[v]["base"] == base for v in variants):
            variants.insert(0, base)
    corpus.fetch(programs)
    inputs.make(os.path.join(ROOT, ".cache", "inputs"))
    os.makedirs(WORK, exist_ok=True)
    if args.rebuild:
        forget(programs, variants)
    for program in programs:
        results = {}
        measure_builds([program], variants, results, False, "time" in args.what)
        if "instructions" in args.what:
            measure_instructions([program], variants, results, args.jobs)
        if "time" in args.what:
            measure_time([program], variants, results, args.rounds)
        save(args.results, results)
    if "instructions" in args.what:
        print_table(load(args.results), programs, variants)


if __name__ == "__main__":
    main()
