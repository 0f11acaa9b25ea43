"""What builds by a profile gain: clang's own, ours by edges, ours by paths.

    use.py [--programs bzip2,lua] [--rounds 11] [--what branches,correlated,time] [-o docs/use.md]
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
import tempfile

import corpus
import inputs
import marks
import measure

VARIANTS = ("clang", "clang-use", "use-weights", "use")
NAMES = {"clang-use": "clang's", "use-weights": "by edges", "use": "by paths"}
TWELVE = "bzip2,minigzip,mawk,lua,zstd,sqlite,gnugo,libquantum,x264,tcl,xz,minisat"
COUNTED = ("instructions", "cachegrind", "branches", "mispredictions", "printed", "code")
CORRELATED = ["program", "instructions: by paths", "`more`", "mispredictions: by paths", "`more`", "by cachegrind: by paths", "`more`"]
RESULTS = os.path.join(measure.WORK, "use.json")
PLUGIN = os.environ.get("FOOTPATH_TAGE", os.path.join(measure.ROOT, "build", "libtage.so"))


def under(tool, exe, line, folder):
    """Runs a command line with the program under a tool; gives what it printed."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    done = subprocess.run(["sh", "-c", line.replace(exe, "%s %s" % (tool % folder, exe), 1)], cwd=folder,
                          env=measure.environment(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=3600)
    return done.stdout


def cachegrind(exe, line, folder):
    """(instructions, mispredictions by its predictor)"""
    under("valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes --cachegrind-out-file=/dev/null --log-file=%s/log.%%p",
          exe, line, folder)
    found = [0, 0]
    for name in glob.glob(os.path.join(folder, "log.*")):
        with open(name, errors="replace") as f:
            text = f.read()
        for i, pattern in enumerate((r"I\s+refs:\s+([\d,]+)", r"Mispredicts:\s+([\d,]+)")):
            number = re.search(pattern, text)
            found[i] += int(number.group(1).replace(",", "")) if number else 0
    if not found[0]:
        raise RuntimeError("cachegrind counted nothing: " + line)
    return found


def history(exe, line, folder):
    """({kind of branch: [executed, mispredicted]}, what the program printed)"""
    printed = under("qemu-x86_64 -cpu max -plugin " + PLUGIN + ",out=%s/tage", exe, line, folder)
    found = {}
    for name in glob.glob(os.path.join(folder, "tage.*")):
        with open(name) as f:
            for kind, counts in json.load(f).items():
                found[kind] = [a + b for a, b in zip(found.get(kind, [0, 0]), counts)]
    if not found:
        raise RuntimeError("the plugin of qemu counted nothing: " + line)
    return found, printed.decode(errors="replace")


def digest(program, variant, printed):
    """Of what it printed, less the name of its folder and lines that differ from run to run."""
    out = printed.replace(os.path.join(measure.WORK, "build", variant), "")
    if program.noise:
        out = "\n".join(l for l in out.splitlines() if not re.search(program.noise, l))
    return hashlib.sha256(out.encode()).hexdigest()


def count_one(program, variant, which):
    exe, _ = measure.build(program, variant)
    line = measure.run_command(program, variant, which, exe)
    folder = os.path.join(measure.WORK, "run", variant, program.name, which)
    return cachegrind(exe, line, folder), *history(exe, line, folder)


def code_of(exe):
    """A digest of what is executed: two builds are often the same."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "code")
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "-j", ".rodata", exe, out], check=True)
        with open(out, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()


def count(program, known, variants):
    for v in variants:
        if "mispredictions" in known.get(v, {}):
            continue
        code = code_of(measure.build(program, v)[0])
        same = [k for k in known.values() if k.get("code") == code and "mispredictions" in k]
        if same:
            known[v] = {**known.get(v, {}), **{key: same[0][key] for key in COUNTED}}
            continue
        (small, branches, printed), (trivial, before, _) = count_one(program, v, "small"), count_one(program, v, "trivial")
        printed = digest(program, v, printed)
        branches = {kind: [a - b for a, b in zip(counts, before[kind])] for kind, counts in branches.items()}
        known.setdefault(v, {}).update(
            instructions=small[0] - trivial[0], cachegrind=small[1] - trivial[1], branches=branches,
            mispredictions=sum(wrong for _, wrong in branches.values()), printed=printed, code=code)
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


def correlated():
    """The suite of correlated branches: {program: cells}, of builds by edges and by paths, with all copies."""
    rows = {}
    cc = os.path.join(measure.BIN, "footpath-cc")
    for source in sorted(glob.glob(os.path.join(measure.ROOT, "tests", "use", "correlated", "*.c"))):
        name = os.path.basename(source)[:-2]
        folder = os.path.join(measure.WORK, "correlated", name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        exe, profile = os.path.join(folder, name), os.path.join(folder, "train.prof")
        subprocess.run([cc, "-O2", "--fp-at=early", "--fp-cuts=few", source, "-o", exe], check=True)
        subprocess.run([exe], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, FOOTPATH_OUT=profile))
        found = []
        for paths in ("no", "yes", "more"):
            subprocess.run([cc, "-O2", "--fp-use=" + profile, "--fp-paths=" + paths, source, "-o", exe], check=True)
            instructions, by_counters = cachegrind(exe, exe, os.path.join(folder, "run"))
            branches, _ = history(exe, exe, os.path.join(folder, "run"))
            found.append((instructions, sum(wrong for _, wrong in branches.values()), by_counters))
        change = lambda i, k: percent(found[i][k] / found[0][k] - 1)
        rows[name] = [change(1, 0), change(2, 0), change(1, 1), change(2, 1), change(1, 2), change(2, 2)]
    return rows


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


def measure_one(p, known, args, keep):
    facts = {v: measure.build(p, v)[1] for v in VARIANTS}
    at = marks.stamp(commit=facts["use"].get("commit"))
    if "branches" in args.what:
        for v in VARIANTS:
            count(p, known, [v])
            keep()
        known.setdefault("at", {}).setdefault("branches", at)
    if "time" in args.what:
        clock(p, known, VARIANTS, args.rounds)
        known.setdefault("at", {})["time"] = at


def take_times(args, results):
    """What elsewhere.py printed on another machine."""
    with open(args.times) as f:
        given = json.load(f)
    of_ours = {p.name for p in corpus.names()}
    for name, times in given["times"].items():
        if name not in of_ours:  # live.py's and training.py's
            continue
        known = results.setdefault(name, {})
        for v in VARIANTS:
            known.setdefault(v, {})["times"] = times[v]
        known.setdefault("at", {})["time"] = marks.stamp(where=args.where or given["machine"], when=given["date"], commit=given["commit"])


def save(path, results):
    with open(path + ".new", "w") as f:
        json.dump(results, f, indent=1, sort_keys=True)
    os.rename(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH") or TWELVE)
    parser.add_argument("--what", default="branches,correlated,time")
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
            measure_one(p, results.setdefault(p.name, {}), args, lambda: save(args.results, results))
        except Exception as error:
            print("%s: %s" % (p.name, str(error)[-600:]), file=sys.stderr)
        save(args.results, results)
    write(args.output, results)
    if "correlated" in args.what:
        marks.write(args.output, "use-correlated", CORRELATED, correlated(), marks.stamp(), marks.geomean)
    for name in different(results):
        print("%s: two builds print different things" % name, file=sys.stderr)
    return 1 if different(results) else 0


if __name__ == "__main__":
    sys.exit(main())
