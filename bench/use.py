#!/usr/bin/env python3
"""What builds by a profile gain: clang's own, ours by edges, ours by paths.

    use.py [--programs bzip2,lua] [--rounds 5] [--what cachegrind,time] [-o docs/use.md]

For each program: instructions and mispredicted branches (cachegrind --branch-sim, less a
trivial run) on the small input and CPU time on the large one, interleaved, the least of
--rounds; of clang -O2, clang -fprofile-use, --fp-use by edges alone and --fp-use, all
trained on another input. Results are kept in .cache/bench/use.json and stay in the
table; --rebuild builds and measures again. Executables must print what clang's print.
"""
import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time

import corpus
import inputs
import measure

VARIANTS = ("clang", "clang-use", "use-weights", "use")
RESULTS = os.path.join(measure.WORK, "use.json")


def cachegrind(program, variant, which):
    """(instructions, mispredictions, what it printed)"""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "run", variant, program.name, which)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = measure.run_command(program, variant, which, exe)
    tool = ("valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes --cachegrind-out-file=/dev/null "
            "--log-file=%s/log.%%p %s" % (folder, exe))
    done = subprocess.run(["sh", "-c", line.replace(exe, tool, 1)], cwd=folder, env=measure.environment(folder),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=3600)
    found = [0, 0]
    for name in os.listdir(folder):
        if not name.startswith("log."):
            continue
        with open(os.path.join(folder, name), errors="replace") as f:
            text = f.read()
        for i, pattern in enumerate((r"I\s+refs:\s+([\d,]+)", r"Mispredicts:\s+([\d,]+)")):
            number = re.search(pattern, text)
            found[i] += int(number.group(1).replace(",", "")) if number else 0
    if not found[0]:
        raise RuntimeError("%s %s: cachegrind counted nothing: %s" % (program.name, variant, line))
    out = done.stdout.decode(errors="replace").replace(os.path.join(measure.WORK, "build", variant), "")
    if program.noise:
        out = "\n".join(l for l in out.splitlines() if not re.search(program.noise, l))
    return found[0], found[1], hashlib.sha256(out.encode()).hexdigest()


def count(program, known, variants):
    for v in variants:
        if "instructions" in known.get(v, {}):
            continue
        small, trivial = cachegrind(program, v, "small"), cachegrind(program, v, "trivial")
        known.setdefault(v, {}).update(instructions=small[0] - trivial[0], mispredictions=small[1] - trivial[1], printed=small[2])
        print("%s %s: %d instructions, %d mispredictions" % (program.name, v, small[0] - trivial[0], small[1] - trivial[1]), file=sys.stderr)


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
    return "" if value is None else "%+.1f%%" % (100 * value)


def table(results):
    columns = [(key, v) for key in ("instructions", "mispredictions", "time") for v in VARIANTS[1:]]
    names = {"clang-use": "clang's", "use-weights": "by edges", "use": "by paths"}
    out = ["| program | " + " | ".join("%s%s" % (key + ": " if v == VARIANTS[1] else "", names[v]) for key, v in columns) + " |",
           "|---" * (len(columns) + 1) + "|"]
    all_values = {c: [] for c in columns}
    for name, known in results.items():
        values = [relative(known, v, key) for key, v in columns]
        for c, value in zip(columns, values):
            if value is not None:
                all_values[c].append(value)
        out.append("| %s | %s |" % (name, " | ".join(percent(v) for v in values)))
    out.append("| **geomean** | %s |" % " | ".join(
        "**%s**" % percent(measure.geomean(all_values[c])) if all_values[c] else "" for c in columns))
    return "\n".join(out)


def summary(results):
    """How the bars of the issue are met."""
    both = {n: k for n, k in results.items() if all("instructions" in k.get(v, {}) for v in VARIANTS)}
    gain = lambda k, v: -relative(k, v, "instructions")
    enough = [n for n, k in both.items() if gain(k, "use-weights") >= 0.95 * gain(k, "clang-use")]
    more = [n for n, k in both.items() if gain(k, "use") > gain(k, "clang-use")]
    fewer = [n for n, k in both.items() if k["use"]["mispredictions"] < k["clang-use"]["mispredictions"]]
    different = [n for n, k in both.items() if len({k[v]["printed"] for v in VARIANTS}) > 1]
    return ("By edges alone at least 95%% of clang's gain in instructions: %d of %d programs (%s). By paths more than clang's: %d (%s). "
            "Fewer mispredictions than clang's: %d (%s). Output differs: %s." % (
                len(enough), len(both), ", ".join(enough), len(more), ", ".join(more), len(fewer), ", ".join(fewer),
                ", ".join(different) or "none")), different


def machine():
    with open("/proc/cpuinfo") as f:
        models = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return "%s, %d cores" % (models[0] if models else platform.machine(), os.cpu_count())


def measured(results):
    """When and where: dates of each machine."""
    days = {}
    for known in results.values():
        at = known.get("measured", {})
        days.setdefault(at.get("machine", "unknown"), set()).add(at.get("date", "unknown"))
    return "Measured " + "; ".join("on %s (%s)" % (", ".join(sorted(dates)), where) for where, dates in sorted(days.items())) + "."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--what", default="cachegrind,time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("-o", "--output", help="put the table between the marks of this file")
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
    results = measure.load(args.results)
    for p in programs:
        if args.rebuild:
            results.pop(p.name, None)
            for folder in [os.path.join("build", v) for v in VARIANTS + ("path-train", "clang-pgo")] + ["train/path-train", "train/clang-pgo"]:
                shutil.rmtree(os.path.join(measure.WORK, folder, p.name), ignore_errors=True)
        known = results.setdefault(p.name, {})
        known["measured"] = {"date": time.strftime("%Y-%m-%d"), "machine": machine()}
        try:
            for v in VARIANTS:
                measure.build(p, v)
            if "cachegrind" in args.what:
                count(p, known, VARIANTS)
            if "time" in args.what:
                clock(p, known, VARIANTS, args.rounds)
        except Exception as error:
            print("%s: %s" % (p.name, str(error)[-600:]), file=sys.stderr)
        with open(args.results, "w") as f:
            json.dump(results, f, indent=1, sort_keys=True)
    ordered = {p.name: results[p.name] for p in corpus.names() if results.get(p.name)}
    said, different = summary(ordered)
    text = table(ordered) + "\n\n" + said + " " + measured(ordered)
    print(text)
    if args.output:
        with open(args.output) as f:
            body = f.read()
        begin, end = "<!-- gains -->", "<!-- end of gains -->"
        before, rest = body.split(begin)
        with open(args.output, "w") as f:
            f.write(before + begin + "\n" + text + "\n" + end + rest.split(end)[1])
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
