#!/usr/bin/env python3
"""Combined profiles of a real C++ program: every statistic, computed a second time.

    combined.py --bin BUILD/bin [--llvm 19] [--runs 40] [--program FILE]

exiv2 and its shared library are built by footpath-c++ and run on the pictures of its own tests, one
process for each. Of each run the counts are read by `show --json`; frequencies, means, variances,
extremes and histograms of all calls, edges and paths are computed here from the definitions of
docs/formats/combined.md, by other code, and compared with what `combine` made of the same runs.
exiv2 has inline functions that lie in the program and in the library: one function, one trial a run.
--program: exiv2 as built before, to save the time.
"""
import collections
import functools
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]
import corpus  # noqa: E402
import harness  # noqa: E402

BINS = 100


def build(args, folder):
    """The program; its library lies beside it."""
    subprocess.run([os.path.join(ROOT, "bench", "fetch"), corpus.CACHE, "exiv2"], check=True)
    env = dict(os.environ, FOOTPATH_CC_FLAGS="--fp-llvm=" + args.llvm, FOOTPATH_OUT=os.path.join(folder, "building.prof"))
    compilers = ["-DCMAKE_C%s_COMPILER=%s" % (plus, os.path.join(args.bin, "footpath-c" + end))
                 for plus, end in (("", "c"), ("XX", "++"))]
    configure = ["cmake", "-G", "Ninja", "-S", os.path.join(corpus.CACHE, "exiv2"), "-B", folder, *compilers,
                 "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-w", "-DEXIV2_BUILD_SAMPLES=OFF", "-DEXIV2_ENABLE_NLS=OFF"]
    for command in (configure, ["ninja", "-C", folder, "exiv2"]):
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise SystemExit("exiv2 does not build:\n" + (done.stdout + done.stderr)[-3000:])
    return os.path.join(folder, "bin", "exiv2")


def run_all(args, exe, folder):
    """One profile for each picture."""
    found = sorted(glob.glob(os.path.join(corpus.CACHE, "exiv2", "test", "data", "*.*")))
    pictures = [name for name in found if name.rsplit(".", 1)[1].lower() in ("jpg", "tif", "png", "webp", "jp2", "exv", "psd", "orf")]
    chosen = pictures[::max(1, len(pictures) // args.runs)][:args.runs]
    profiles = []
    for at, picture in enumerate(chosen):
        profiles.append(os.path.join(folder, "run-%d.prof" % at))
        subprocess.run([exe, "-pa", picture], env=dict(os.environ, FOOTPATH_OUT=profiles[-1]),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not os.path.exists(profiles[-1]):
            raise SystemExit("exiv2 left no profile of " + picture)
    return profiles


def read_json(args, *words):
    done = subprocess.run([os.path.join(args.bin, "footpath"), *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("footpath %s: %s" % (" ".join(words), done.stderr))
    return json.loads(done.stdout)


# ---- frequencies of one run, from the definitions ----

@functools.lru_cache(None)
def dominators(edges):
    """For each edge, the edges that every way from the entry (block 0) to it passes."""
    into = collections.defaultdict(list)
    for at, (_, to) in enumerate(edges):
        into[to].append(at)
    blocks = {block for edge in edges for block in edge} | {0}
    every = frozenset(range(len(edges)))
    passed = {block: frozenset() if block == 0 else every for block in blocks}
    moved = True
    while moved:
        moved = False
        for block in blocks - {0}:
            ways = [passed[edges[at][0]] | {at} for at in into[block]]
            now = frozenset.intersection(*ways) if ways else every
            moved |= now != passed[block]
            passed[block] = now
    return [passed[source] for source, _ in edges]


def frequencies(function):
    """{(kind, id): (frequency, count)} of one function in one run."""
    calls = function["calls"]
    found = {("calls", None): (calls, calls)}
    relative = calls or 1
    for path in function["paths"]:
        if path["ends_at"] != "left":
            found["path", path["id"]] = (path["count"] / relative, path["count"])
    edges = tuple((e["from"], e["to"]) for e in function["edges"])
    counts = [e["count"] for e in function["edges"]]
    above = dominators(edges)
    times = collections.Counter(edges)
    for at, edge in enumerate(edges):
        if times[edge] > 1:
            continue  # two edges between the same blocks: which is which, JSON does not say
        # the nearest one is dominated by all others
        nearest = max(above[at], key=lambda other: len(above[other]), default=None)
        base = calls if nearest is None else counts[nearest]
        found["edge", edge] = (counts[at] / base if base else counts[at], counts[at])
    return found


def summed(copies):
    """The copies of an inline function in several modules are one function."""
    first = dict(copies[0], paths=[dict(p) for p in copies[0]["paths"]], edges=[dict(e) for e in copies[0]["edges"]])
    for copy in copies[1:]:
        first["calls"] += copy["calls"]
        for mine, other in zip(first["edges"], copy["edges"]):
            mine["count"] += other["count"]
        by_id = {p["id"]: p for p in first["paths"]}
        for path in copy["paths"]:
            if path["id"] in by_id:
                by_id[path["id"]]["count"] += path["count"]
            else:
                first["paths"].append(dict(path))
    return first


def key_of(thing):
    return thing["linkage_name"], os.path.basename(thing["file"] or ""), thing["line"]


def of_run(shown, told):
    """{function: its frequencies}; functions of one name and several shapes are left out, and counted."""
    groups = collections.defaultdict(list)
    for function in shown["functions"]:
        groups[key_of(function)].append(function)
    told["copies"] = max(told["copies"], sum(len(copies) > 1 for copies in groups.values()))
    found = {}
    for key, copies in groups.items():
        shapes = {tuple((e["from"], e["to"]) for e in c["edges"]) for c in copies}
        if len(shapes) > 1:
            told["several"].add(key)
            continue
        found[key] = frequencies(summed(copies))
    return found


# ---- statistics over runs ----

def near(a, b):
    """JSON has nine digits. A variance computed as 1e-32 is 0."""
    return abs(a - b) <= 1e-8 * max(abs(a), abs(b)) + 1e-15


def histogram(values, lower, width, bins):
    weights = [0] * bins
    for value in values:
        at = math.floor((value - lower) / width + 1e-9)
        weights[min(max(at, 0), bins - 1)] += 1
    return weights


def differences(event, values, counts, runs):
    """What of the event is not as computed."""
    values, counts = values + [0.0] * (runs - len(values)), counts + [0] * (runs - len(counts))
    mean = math.fsum(values) / runs
    wanted = {"runs": runs, "seen": sum(c > 0 for c in counts), "count": sum(counts), "least": min(counts), "most": max(counts),
              "mean": mean, "variance": math.fsum((v - mean) ** 2 for v in values) / runs, "min": min(values), "max": max(values)}
    wrong = ["%s %r, computed %r" % (name, event[name], value) for name, value in wanted.items() if not near(event[name], value)]
    h = event["histogram"]
    if sum(h["weights"]) != runs or histogram(values, h["lower"], h["width"], len(h["weights"])) != h["weights"]:
        wrong.append("histogram %r" % h)
    return wrong


def compare(combined, runs, told):
    seen = collections.defaultdict(lambda: ([], []))
    for run in runs:
        for key, events in run.items():
            for name, (frequency, count) in events.items():
                seen[key, name][0].append(frequency)
                seen[key, name][1].append(count)
    wrong, compared = [], collections.Counter()
    for event in combined["events"]:
        kind, key = event["kind"], key_of(event)
        name = (kind, (event["from"], event["to"]) if kind == "edge" else event.get("id") if kind == "path" else None)
        if kind == "path left" or key in told["several"] or ((key, name) not in seen and kind == "edge"):
            compared["not compared"] += 1
            continue
        values, counts = seen.pop((key, name), ([], []))
        for problem in differences(event, list(values), list(counts), len(runs)):
            wrong.append("%s %s %s: %s" % (key[0], kind, name[1], problem))
        compared[kind] += 1
    for (key, name), (_, counts) in seen.items():
        if any(counts) and key not in told["several"]:
            wrong.append("%s %s: counted %d times, not in the combined profile" % (key[0], name, sum(counts)))
    return wrong, compared


def main():
    args = harness.parse(harness.arguments(
        __doc__,
        ("--runs", {"type": int, "default": 40}),
        ("--program", {})))
    with tempfile.TemporaryDirectory(prefix="footpath-combined-") as folder:
        exe = args.program or build(args, folder)
        profiles = run_all(args, exe, folder)
        result = os.path.join(folder, "all.cp")
        subprocess.run([os.path.join(args.bin, "footpath"), "combine", "--bins", str(BINS), "-o", result, *profiles], check=True)
        told = {"copies": 0, "several": set()}
        runs = [of_run(read_json(args, "show", "--json", profile), told) for profile in profiles]
        combined = read_json(args, "show", "--json", result)
    wrong, compared = compare(combined, runs, told)
    for line in wrong[:20]:
        print(line)
    print("exiv2, %d runs, %d functions with copies in several modules, %d left out as one name has several shapes" %
          (len(runs), told["copies"], len(told["several"])))
    print("events as computed: %s; different: %d" % (", ".join("%s %d" % item for item in sorted(compared.items())), len(wrong)))
    return 1 if wrong or not compared["path"] or not compared["edge"] or not told["copies"] else 0


if __name__ == "__main__":
    sys.exit(main())
