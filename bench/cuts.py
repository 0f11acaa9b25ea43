"""What the default cuts take away from paths: --fp-cuts=fit against few, on one and the same run.

    python3 bench/cuts.py [--programs bzip2,lua] [--into docs/performance.md] [--rebuild]

Builds each program with both (`path` and `path-few` of measure.py), runs both on the small input, and prints:

- Wall: of the flow of the paths that are hot with few, the part that fit has as the same paths, among as many hottest
  ones (paper 002, section 6.3; `footpath compare --any-ends --metric wall FEW FIT`);
- at how many edges paths are cut, and at how many of those that lead into a loop (doors); of the paths taken with fit,
  those that end at one of them (`footpath info FIT`);
- different paths taken with few, and with fit.

Ends with status 1 where the geometric mean of Wall is below --least.
"""
import argparse
import json
import os
import subprocess
import sys

import corpus
import marks
import measure

COLUMNS = ["program", "Wall", "functions", "cuts", "doors", "paths that end at one", "paths, few", "paths, fit"]


def tool(*words):
    return subprocess.run([os.path.join(measure.BIN, "footpath"), *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def profile_of(program, variant):
    """Of one run that takes the same way in both builds."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "cuts", variant, program.name)
    os.makedirs(folder, exist_ok=True)
    profile = os.path.join(folder, "run.prof")
    if os.path.exists(profile):
        os.unlink(profile)
    line = measure.run_command(program, variant, "compare" if program.compare else "small", exe)
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=dict(os.environ, LC_ALL="C", FOOTPATH_OUT=profile),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode not in program.ends:
        raise RuntimeError("%s %s: status %d" % (program.name, variant, done.returncode))
    return profile


def row_of(program):
    few, fit = profile_of(program, "path-few"), profile_of(program, "path")
    wall = float(tool("compare", "--any-ends", "--metric", "wall", few, fit).split()[1])
    module, = json.loads(tool("info", "--json", fit))["modules"]
    taken = [json.loads(tool("stats", "--json", profile))["paths"] for profile in (few, fit)]
    ended = module["paths_ended_at_cuts"] + module["paths_ended_at_doors"]
    return ["%.4f" % wall, "%d" % module["with_path_counters"], "%d" % module["cuts"], "%d" % module["doors"],
            "%.2f%%" % (100 * ended / max(module["paths_taken"], 1)), "%d" % taken[0], "%d" % taken[1]]


def geomean(column):
    """Of Wall alone: the other columns are counts."""
    values = [float(cell) for cell in column if "." in cell and "%" not in cell]
    if len(values) != len(column):
        return ""
    product = 1.0
    for value in values:
        product *= value
    return "**%.4f**" % product ** (1 / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--into", help="the document with the table")
    parser.add_argument("--rebuild", action="store_true", help="build anew what was built before")
    parser.add_argument("--least", type=float, default=0.9)
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    rows, at = {}, {}
    for program in programs:
        commits = [measure.build(program, variant, args.rebuild)[1].get("commit") for variant in ("path", "path-few")]
        rows[program.name], at[program.name] = row_of(program), marks.stamp(commit=commits[0])
        print(program.name, ", ".join("%s %s" % (c, v) for c, v in zip(COLUMNS[1:], rows[program.name])), flush=True)
    mean = geomean([row[0] for row in rows.values()]).strip("*")
    print("geomean of Wall: %s" % mean)
    if args.into:
        marks.write(args.into, "cuts", COLUMNS, rows, at, geomean, [p.name for p in corpus.PROGRAMS])
    return 1 if float(mean) < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
