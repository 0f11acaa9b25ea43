"""What builds by a profile gain: clang's own, ours by edges, ours by paths.

    use.py [--programs bzip2,lua] [--rounds 11] [--what branches,time] [-o docs/use.md]
    use.py --times FILE --where MACHINE [-o docs/use.md]       times that elsewhere.py took there

Of clang -O2, clang -fprofile-use, --fp-use by edges alone and --fp-use, all trained on
another input: instructions (cachegrind) and mispredicted branches on the small input, less
those of a trivial run, and CPU time on the large one, interleaved, the least of --rounds.
Mispredictions are those of the history predictor in tage/ (qemu-x86_64 with its plugin);
cachegrind's own are kept in the results beside them. Results are kept in
.cache/bench/use.json; --rebuild builds and measures again. Executables must print what clang's
print.
"""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import corpus
import inputs
import marks
import measure

VARIANTS = ("clang", "clang-use", "use-weights", "use")
NAMES = {"clang-use": "clang's", "use-weights": "by edges", "use": "by paths"}
TWELVE = "bzip2,minigzip,mawk,lua,zstd,sqlite,gnugo,libquantum,x264,tcl,xz,minisat"
RESULTS = os.path.join(measure.WORK, "use.json")
PLUGIN = os.environ.get("FOOTPATH_TAGE", os.path.join(measure.ROOT, "build", "libtage.so"))


def under(tool, program, variant, which):
    """Runs the program under a tool; gives the folder and what it printed."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "run", variant, program.name, which)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = measure.run_command(program, variant, which, exe)
    done = subprocess.run(["sh", "-c", line.replace(exe, "%s %s" % (tool % folder, exe), 1)], cwd=folder,
                          env=measure.environment(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=3600)
    return folder, done.stdout


def cachegrind(program, variant, which):
    """(instructions, mispredictions by its predictor)"""
    folder, _ = under("valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes --cachegrind-out-file=/dev/null "
                      "--log-file=%s/log.%%p", program, variant, which)
    found = [0, 0]
    for name in glob.glob(os.path.join(folder, "log.*")):
        with open(name, errors="replace") as f:
            text = f.read()
        for i, pattern in enumerate((r"I\s+refs:\s+([\d,]+)", r"Mispredicts:\s+([\d,]+)")):
            number = re.search(pattern, text)
            found[i] += int(number.group(1).replace(",", "")) if number else 0
    if not found[0]:
        raise RuntimeError("%s %s: cachegrind counted nothing" % (program.name, variant))
    return found


def history(program, variant, which):
    """({kind of branch: [executed, mispredicted]}, what the program printed)"""
    folder, printed = under("qemu-x86_64 -cpu max -plugin " + PLUGIN + ",out=%s/tage", program, variant, which)
    found = {}
    for name in glob.glob(os.path.join(folder, "tage.*")):
        with open(name) as f:
            for kind, counts in json.load(f).items():
                found[kind] = [a + b for a, b in zip(found.get(kind, [0, 0]), counts)]
    if not found:
        raise RuntimeError("%s %s: the plugin of qemu counted nothing" % (program.name, variant))
    out = printed.decode(errors="replace").replace(os.path.join(measure.WORK, "build", variant), "")
    if program.noise:
        out = "\n".join(l for l in out.splitlines() if not re.search(program.noise, l))
    return found, hashlib.sha256(out.encode()).hexdigest()


def count(program, known, variants):
    for v in variants:
        if "mispredictions" in known.get(v, {}):
            continue
        small, trivial = cachegrind(program, v, "small"), cachegrind(program, v, "trivial")
        (branches, printed), (before, _) = history(program, v, "small"), history(program, v, "trivial")
        branches = {kind: [a - b for a, b in zip(counts, before[kind])] for kind, counts in branches.items()}
        known.setdefault(v, {}).update(
            instructions=small[0] - trivial[0], cachegrind=small[1] - trivial[1], branches=branches,
            mispredictions=sum(wrong for _, wrong in branches.values()), printed=printed)
        print("%s %s: %d instructions, %d mispredictions; by cachegrind %d" % (
            program.name, v, known[v]["instructions"], known[v]["mispredictions"], known[v]["cachegrind"]), file=sys.stderr, flush=True)


def clock(program, known, variants, rounds):
    times = {v: [] for v in variants}
    for _ in range(rounds):
        for v in variants:
            times[v].append(measure.cpu_time(program, v)[0])
    for v in variants:
        known.setdefault(v, {})["times"] = times[v]
    print("%s: %s" % (program.name, ", ".join("%s %.2f s" % (v, min(times[v])) for v in variants)), file=sys.stderr)


def relative(known, v, key):
    if key == "time":
        if "times" not in known.get(v, {}):
            return None
        return min(known[v]["times"]) / min(known["clang"]["times"]) - 1
    if key not in known.get(v, {}):
        return None
    return known[v][key] / known["clang"][key] - 1


def percent(value):
    return "–" if value is None else "%+.1f%%" % (100 * value)


def columns(keys):
    return ["%s%s" % (key + ": " if v == VARIANTS[1] else "", NAMES[v]) for key in keys for v in VARIANTS[1:]]


def write(path, results):
    """Both tables, of what there is."""
    order = [p.name for p in corpus.PROGRAMS]
    keys = ["instructions", "mispredictions"]
    counted = {n: k for n, k in results.items() if all("mispredictions" in k.get(v, {}) for v in VARIANTS)}
    rows = {n: [percent(relative(k, v, key)) for key in keys for v in VARIANTS[1:]] +
            ["%.2f" % (1000 * k["clang"]["mispredictions"] / k["clang"]["instructions"])] for n, k in counted.items()}
    marks.write(path, "use-branches", ["program"] + columns(keys) + ["of 1,000 instructions, plain"], rows,
                {n: counted[n]["at"]["branches"] for n in rows}, marks.geomean, order)
    timed = {n: k for n, k in results.items() if all("times" in k.get(v, {}) for v in VARIANTS)}
    rows = {n: [percent(relative(k, v, "time")) for v in VARIANTS[1:]] + ["%.2f" % min(k["clang"]["times"])] + [
        "%.1f%%" % (100 * max(max(k[v]["times"]) / min(k[v]["times"]) - 1 for v in VARIANTS))] for n, k in timed.items()}
    marks.write(path, "use-time", ["program"] + columns(["CPU time"]) + ["plain, s", "spread"], rows,
                {n: timed[n]["at"]["time"] for n in rows}, marks.geomean, order)


def different(results):
    """Programs of which two builds printed different things."""
    return [n for n, k in results.items() if len({k[v]["printed"] for v in VARIANTS if "printed" in k.get(v, {})}) > 1]


def forget(program):
    for folder in [os.path.join("build", v) for v in VARIANTS + ("path-train", "clang-pgo")] + ["train/path-train", "train/clang-pgo"]:
        shutil.rmtree(os.path.join(measure.WORK, folder, program.name), ignore_errors=True)


def measure_one(p, known, args):
    facts = {v: measure.build(p, v)[1] for v in VARIANTS}
    at = marks.stamp(commit=facts["use"].get("commit"))
    if "branches" in args.what:
        count(p, known, VARIANTS)
        known.setdefault("at", {}).setdefault("branches", at)
    if "time" in args.what:
        clock(p, known, VARIANTS, args.rounds)
        known.setdefault("at", {})["time"] = at


def take_times(args, results):
    """What elsewhere.py printed on another machine."""
    with open(args.times) as f:
        given = json.load(f)
    for name, times in given["times"].items():
        known = results.setdefault(name, {})
        for v in VARIANTS:
            known.setdefault(v, {})["times"] = times[v]
        known.setdefault("at", {})["time"] = marks.stamp(where=args.where or given["machine"], when=given["date"], commit=given["commit"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH") or TWELVE)
    parser.add_argument("--what", default="branches,time")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--times", help="times measured elsewhere, as elsewhere.py prints them; nothing is measured here")
    parser.add_argument("--where", help="with --times: the machine, in words")
    parser.add_argument("-o", "--output", default=os.path.join(measure.ROOT, "docs", "use.md"), help="the document with the tables")
    args = parser.parse_args()
    results = measure.load(args.results)
    if args.times:
        take_times(args, results)
    programs = [] if args.times else corpus.names(args.programs)
    corpus.fetch(programs)
    inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
    for p in programs:
        if args.rebuild:
            results.pop(p.name, None)
            forget(p)
        try:
            measure_one(p, results.setdefault(p.name, {}), args)
        except Exception as error:
            print("%s: %s" % (p.name, str(error)[-600:]), file=sys.stderr)
        with open(args.results, "w") as f:
            json.dump(results, f, indent=1, sort_keys=True)
    write(args.output, results)
    for name in different(results):
        print("%s: two builds print different things" % name, file=sys.stderr)
    return 1 if different(results) else 0


if __name__ == "__main__":
    sys.exit(main())
