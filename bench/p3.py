#!/usr/bin/env python3
"""What it saves to profile by K copies (paper 004, Figures 5 to 7), on real programs.

    bench/p3.py [--programs LIST] [--what plans,runs] [--copies 2,4,8]

plans: the largest load of a copy relative to one copy that profiles all, by the counts
       of a run on the large input; plans with a guide have seen the small input only.
runs:  builds and runs the copies with footpath p3 --check --hits: the profile must be
       that of the ordinary build, path by path; executed operations and wall times.

Results accumulate in .cache/p3/results.json, so that programs can be done one by one; the
tables of docs/p3.md get everything that is there.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

import corpus
import inputs
import marks

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "p3")
INPUTS = os.environ.get("FOOTPATH_INPUTS", os.path.join(ROOT, ".cache", "inputs"))
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
FOOTPATH = os.path.join(BIN, "footpath")

# Name in the table, options of footpath divide; `guided` ones get --guide.
METHODS = [
    ("PBL", ["--strategy", "procedures", "--labels", "plain"], False),
    ("P3", ["--strategy", "p3", "--labels", "plain"], False),
    ("procedures", ["--strategy", "procedures"], True),
    ("cuts", ["--strategy", "cuts"], True),
    ("invocations", ["--strategy", "invocations"], True),
]
ORDER = [p.name for p in corpus.PROGRAMS]
STRATEGIES = ["procedures", "p3", "cuts", "invocations"]


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def reference(p):
    """The ordinary path build, with the calls that strategy p3 asks about."""
    folder = os.path.join(WORK, "reference")
    exe = os.path.join(folder, p.name, p.exe)
    if os.path.exists(exe):
        return exe
    say("building", p.name)
    env = {"FOOTPATH_CC_FLAGS": "--fp-callees"}
    return corpus.build(p, folder, os.path.join(BIN, "footpath-cc"), os.path.join(BIN, "footpath-c++"),
                        "-O2", env=env)


def profile(p, exe, which, limit):
    """The profile of one run; None where it takes longer than limit seconds."""
    out = os.path.join(WORK, "%s-%s.prof" % (p.name, which))
    if os.path.exists(out):
        return out
    command = corpus.command(p, which, exe, INPUTS, os.path.join(WORK, "reference", p.name))
    new = out + ".new"
    if os.path.exists(new):
        os.unlink(new)
    try:
        subprocess.run(["sh", "-c", command], env=dict(os.environ, FOOTPATH_OUT=new, LC_ALL="C"), timeout=limit,
                       cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    os.rename(new, out)
    return out


def plan(exe, copies, options, guide, measure):
    command = [FOOTPATH, "divide", exe, "-k", str(copies), "--json", "-o", os.path.join(WORK, "plan"), "--measure", measure]
    command += options + (["--guide", guide] if guide else [])
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        raise RuntimeError(" ".join(command) + "\n" + done.stderr)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return dict(json.loads(done.stdout), seconds=cpu)


def measure_plans(p, copies, results, limit):
    exe = reference(p)
    guide = profile(p, exe, "small", 600)
    measure = profile(p, exe, "large", limit)
    entry = results.setdefault("plans", {}).setdefault(p.name, {})
    entry["measured_on"] = "large" if measure else "small"
    entry["at"] = marks.stamp()
    for k in copies:
        for name, options, guided in METHODS:
            entry["%s %d" % (name, k)] = plan(exe, k, options, guide if guided else None, measure or guide)


def split_command(p, which):
    """Words of the program's command line, and the file for its standard input."""
    line = corpus.command(p, which, "PROGRAM", INPUTS, os.path.join(corpus.CACHE, p.packages[0]))
    words = shlex.split(line)
    stdin = None
    if "<" in words:
        stdin = words[words.index("<") + 1]
        words = words[:words.index("<")]
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        os.environ[name] = value
    return words[1:], stdin


def fixed_heap():
    """A heap with the same addresses in every build, for programs that hash or order by them."""
    out = os.path.join(WORK, "fixed_heap.so")
    if not os.path.exists(out):
        subprocess.run(["clang-19", "-O2", "-shared", "-fPIC", "-fno-builtin", "-o", out,
                        os.path.join(ROOT, "tests", "real", "fixed_heap.c")], check=True)
    return out


def run_copies(p, copies, strategy, which, results):
    arguments, stdin = split_command(p, which)
    folder = os.path.join(WORK, "runs", p.name)
    os.makedirs(folder, exist_ok=True)
    guide = profile(p, reference(p), "small", 600)
    # addresses must not decide where a program goes
    command = ["setarch", "-R", FOOTPATH, "p3", "-k", str(copies), "--strategy", strategy, "--guide", guide, "--check", "--hits", "--json",
               "--launcher", "env LD_PRELOAD=" + fixed_heap(),
               "--source", os.path.join(corpus.CACHE, p.packages[0]), "--build", p.recipe, "--", p.exe] + arguments
    env = dict(os.environ, CFLAGS=("-O2 " + p.compare_flags).strip(), OTHERS=corpus.CACHE, LC_ALL="C",
               AM="ACLOCAL=true AUTOCONF=true AUTOMAKE=true AUTOHEADER=true MAKEINFO=true")
    with open(stdin or os.devnull) as source:
        done = subprocess.run(command, cwd=folder, env=env, stdin=source, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
    same = "the same as of the ordinary build" in done.stderr
    say(p.name, strategy, copies, "same" if same else done.stderr[-400:])
    outcome = {"same": same, "which": which, "at": marks.stamp()}
    if same:
        outcome.update(json.loads(done.stderr[done.stderr.rindex("\n{"):]))
    results.setdefault("runs", {}).setdefault(p.name, {})["%s %d" % (strategy, copies)] = outcome


def largest(entry):
    return max(entry["loads"])


def plan_table(plans, name, base, k, into):
    """Hits of the slowest of k copies, relative to one copy that profiles all with labels as `base` has them."""
    names = [n for n, _, _ in METHODS]
    rows = {}
    for program, entry in plans.items():
        one = entry["invocations %d" % k][base]
        rows[program] = ["%.2f" % (largest(entry["%s %d" % (n, k)]) / one) for n in names]
    marks.write(into, name, ["program"] + names, rows, {p: plans[p]["at"] for p in rows}, marks.average, ORDER)


def count_table(plans, into):
    rows = {}
    for program, entries in plans.items():
        entry = entries["P3 2"]
        slowest = max(e["seconds"] for e in entries.values() if isinstance(e, dict))
        share = 100 * entry["profitable"] / entry["functions"]
        rows[program] = ["%d" % entry["functions"], "%d" % entry["candidates"], "%d (%.0f%%)" % (entry["profitable"], share), "%.1f s" % slowest]
    columns = ["program", "functions", "at most one call site", "profitable (p3, 2 copies)", "planning, slowest, CPU"]
    marks.write(into, "p3-functions", columns, rows, {p: plans[p]["at"] for p in rows}, None, ORDER)


def run_cell(r):
    if not r:
        return "not run"
    if not r["same"]:
        return "**differs**"
    hits = max(c["hits"] for c in r["copies"]) / r["sequential"]["hits"]
    wall = max(c["milliseconds"] for c in r["copies"]) / 1000, r["sequential"]["milliseconds"] / 1000
    return "identical, %.2f (%.2f s / %.2f s)" % (hits, *wall)


def run_table(runs, copies, into):
    rows, stamps = {}, {}
    for program, found in runs.items():
        for strategy in STRATEGIES:
            cells = [found.get("%s %d" % (strategy, k)) for k in copies]
            if any(cells):
                rows["%s %s" % (program, strategy)] = [run_cell(c) for c in cells]
                stamps["%s %s" % (program, strategy)] = " and ".join(sorted({c["at"] for c in cells if c}))
    order = ["%s %s" % (program, strategy) for program in ORDER for strategy in STRATEGIES]
    marks.write(into, "p3-runs", ["program and strategy"] + ["%d copies" % k for k in copies], rows, stamps, None, order)


# row of the summary: column and labels of the tables it averages
AVERAGES = {
    "P3 as published, repaired, against plain labels": ("P3", "plain"),
    "PBL as published, against plain labels": ("PBL", "plain"),
    "`invocations`, guided, against plain labels": ("invocations", "plain"),
    "`invocations`, guided, against labels as good as its own": ("invocations", "weighted"),
    "`procedures`, guided (the best of PBL), against labels as good as its own": ("procedures", "weighted"),
}


def average_table(copies, into):
    """From the other tables, as they now are."""
    with open(into) as f:
        text = f.read()
    rows, stamps = {}, {}
    for name, (column, labels) in AVERAGES.items():
        found = [marks.read(marks.around(text, "p3-%s-%d" % (labels, k))[1]) for k in copies]
        rows[name] = ["%.2f" % (sum(marks.numbers([c[columns.index(column) - 1] for c in r.values()])) / len(r)) for columns, r, _ in found]
        stamps[name] = " and ".join(sorted({at for _, _, each in found for at in each.values()}))
    marks.write(into, "p3-averages", ["hits of the slowest copy"] + ["%d copies" % k for k in copies], rows, stamps)


def write_tables(results, copies, into):
    plans = results.get("plans", {})
    count_table(plans, into)
    for labels in ("plain", "weighted"):
        for k in copies:
            plan_table(plans, "p3-%s-%d" % (labels, k), "sequential_" + labels, k, into)
    run_table(results.get("runs", {}), copies, into)
    average_table(copies, into)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--what", default="plans,runs")
    parser.add_argument("--copies", default="2,4,8")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--input", default="small", help="for runs: small or large")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a run on the large input")
    parser.add_argument("--again", action="store_true", help="measure again what is in the results")
    parser.add_argument("--into", default=os.path.join(ROOT, "docs", "p3.md"), help="the document with the tables")
    args = parser.parse_args()
    copies = [int(k) for k in args.copies.split(",")]
    os.makedirs(WORK, exist_ok=True)
    if not os.path.isdir(INPUTS):
        inputs.make(INPUTS)
    path = os.path.join(WORK, "results.json")
    results = json.load(open(path)) if os.path.exists(path) else {}
    for p in corpus.names(args.programs) if args.what else []:
        try:
            if "plans" in args.what and (args.again or p.name not in results.get("plans", {})):
                measure_plans(p, copies, results, args.limit)
            for strategy in args.strategies.split(",") if "runs" in args.what else []:
                for k in copies:
                    if args.again or "%s %d" % (strategy, k) not in results.get("runs", {}).get(p.name, {}):
                        run_copies(p, k, strategy, args.input, results)
        except RuntimeError as error:
            results.get("plans", {}).pop(p.name, None)
            say(p.name, error)
        with open(path + ".new", "w") as out:
            json.dump(results, out, indent=1, sort_keys=True)
        os.rename(path + ".new", path)
    write_tables(results, copies, args.into)


if __name__ == "__main__":
    main()
