"""Do branches say what the source says? footpath's true and false beside llvm-cov's.

    python3 bench/sense.py [--programs bzip2,lua] [--levels=-O2] [--work FOLDER] [--verbose]

Builds every program with clang's coverage (-fprofile-instr-generate -fcoverage-mapping) and with
footpath-cc at each level, runs all on the same input and compares, on the lines that have one
condition by llvm-cov, how often it was true and false.

  branches   conditional branches that were executed, and the share that has a label
  weighted   the same by how often they were executed
  bare       further branches, which have no line: a library function that the compiler wrote out
  lines      lines with one condition that have a label and were executed
  opposite   lines that say the opposite: mostly true here, mostly false there
  too many   lines whose true or false count is above llvm-cov's. A copy whose condition was known
             is gone, so counts may be lower; no copy can make them higher
  exact      lines where both counts are equal

Ends with status 1 where more than --most percent of the lines are opposite or too many, or fewer
than --least percent of the branches have a label.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict

import corpus
import inputs

BIN = os.environ.get("FOOTPATH_BIN", os.path.join(corpus.ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
PROGRAMS = "bzip2,lua,mawk,sqlite,cppcheck,cmark,tinyxml2"
# Programs that are measured here alone: the rules for labels were made without them.
UNSEEN = [
    corpus.Program(
        "cmark", ["cmark"],
        'cmake -B out -DCMAKE_C_COMPILER=$CC -DCMAKE_CXX_COMPILER=$CXX -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$CFLAGS" '
        '-DCMARK_TESTS=OFF -DCMARK_SHARED=OFF . >/dev/null && make -s -C out >/dev/null 2>&1',
        "out/src/cmark", "{exe} --version", "{exe} {src}/README.md {src}/changelog.txt {src}/test/spec.txt >/dev/null", ""),
    corpus.Program(
        "tinyxml2", ["tinyxml2"], '$CXX $CFLAGS -o prog tinyxml2.cpp xmltest.cpp',
        "prog", "", "cd {src} && mkdir -p resources/out && {exe} >/dev/null", "", cxx=True),
]
SLACK = 0.01  # two builds of a program that hashes addresses differ a little
LEVELS = {"-O0": ("-O0", ""), "-O2": ("-O2", ""), "early": ("-O2", "--fp-at=early"), "-O2 -g": ("-O2 -g", "")}


def run(program, exe, folder, where, env):
    line = corpus.command(program, "compare" if program.compare else "small", exe, where, os.path.join(folder, program.name))
    done = subprocess.run(line, shell=True, cwd=folder, env=dict(os.environ, **env), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode not in program.ends:
        raise RuntimeError("%s ended with %d: %s" % (line, done.returncode, done.stdout[-500:]))


def coverage(program, folder, where):
    """file -> line -> {column: (true, false)}, by llvm-cov."""
    kept = os.path.join(folder, program.name + ".coverage.json")
    if not os.path.exists(kept):
        measure_coverage(program, folder, where, kept)
    lines = defaultdict(lambda: defaultdict(dict))
    with open(kept, encoding="utf-8") as shown:
        functions = json.load(shown)["data"][0]["functions"]
    for function in functions:
        for line, column, _, _, yes, no, file, _, _ in function["branches"]:
            place = lines[function["filenames"][file]][line]
            before = place.get(column, (0, 0))
            place[column] = (before[0] + yes, before[1] + no)
        # what a macro tests is not written on the line that uses it
        for line, column, _, _, _, file, _, kind in function["regions"]:
            if kind == 1:
                lines[function["filenames"][file]][line][("expansion", column)] = (0, 0)
    return lines


def measure_coverage(program, folder, where, kept):
    flags = "-O1 -w -fprofile-instr-generate -fcoverage-mapping " + program.compare_flags
    exe = corpus.build(program, folder, "clang-" + LLVM, "clang++-" + LLVM, flags)
    raw, data = exe + ".profraw", exe + ".profdata"
    for name in os.listdir(folder):
        if name.endswith(".profraw"):
            os.remove(os.path.join(folder, name))
    run(program, exe, folder, where, {"LLVM_PROFILE_FILE": raw})
    subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", data, raw], check=True)
    with open(kept, "wb") as out:
        subprocess.run(["llvm-cov-" + LLVM, "export", "-instr-profile", data, exe], stdout=out, check=True)


def branches(program, folder, where, level):
    """All executed conditional branches: (file, line, {sense: count}) each."""
    flags, ours = LEVELS[level]
    env = {"FOOTPATH_CC_FLAGS": "--fp-llvm=%s %s" % (LLVM, ours)}
    exe = corpus.build(program, folder, os.path.join(BIN, "footpath-cc"), os.path.join(BIN, "footpath-c++"),
                       flags + " -w " + program.compare_flags, env)
    profile = exe + ".prof"
    if os.path.exists(profile):
        os.remove(profile)
    run(program, exe, folder, where, {"FOOTPATH_OUT": profile})
    shown = subprocess.run([os.path.join(BIN, "footpath"), "show", "--json", profile], stdout=subprocess.PIPE, check=True).stdout
    found, bare = [], 0
    for function in json.loads(shown)["functions"]:
        by_block = defaultdict(list)
        for edge in function.get("edges", []):
            by_block[edge["from"]].append(edge)
        for block, ways in by_block.items():
            count = sum(way["count"] for way in ways)
            if len(ways) != 2 or not count or "exception" in [way.get("branch") for way in ways]:
                continue
            if not ways[0].get("line"):  # the compiler's own: no condition of the source has it
                bare += 1
                continue
            says = {way["sense"]: way["count"] for way in ways if "sense" in way}
            cases = any(way.get("branch") for way in ways)
            found.append((ways[0].get("file"), ways[0].get("line"), count, says, cases, function["name"], block))
    return found, bare


def compare(lines, found, verbose):
    row = dict(branches=len(found), labelled=0, executed=0, executed_labelled=0, lines=0, opposite=0, many=0, exact=0)
    sums = defaultdict(lambda: [0, 0, []])
    silent = defaultdict(int)
    for file, line, count, says, cases, name, block in found:
        row["executed"] += count
        if says or cases:
            row["labelled"] += 1
            row["executed_labelled"] += count
        else:
            silent[(file, line, name, block)] += count
        if len(says) == 2:
            sums[(file, line)][0] += says[True]
            sums[(file, line)][1] += says[False]
            sums[(file, line)][2].append("%s:%d" % (name, block))
    for (file, line), (yes, no, names) in sorted(sums.items(), key=str):
        places = lines.get(file, {}).get(line, {})
        if len(places) != 1 or not isinstance(next(iter(places)), int):
            continue
        (cov_yes, cov_no), = places.values()
        row["lines"] += 1
        slack = SLACK * (cov_yes + cov_no)
        many = yes > cov_yes + slack or no > cov_no + slack
        opposite = many and ((yes > no and cov_no > cov_yes) or (no > yes and cov_yes > cov_no))
        row["opposite"] += opposite
        row["many"] += many
        row["exact"] += (yes, no) == (cov_yes, cov_no)
        if verbose and (opposite or many):
            print("  %s:%s in %s: true %d false %d; llvm-cov %d %d" % (file, line, " ".join(names), yes, no, cov_yes, cov_no))
    if verbose:
        for (file, line, name, block), count in sorted(silent.items(), key=lambda item: -item[1])[:verbose]:
            print("  no label: %s:%s in %s:%d, %d times" % (file, line, name, block, count))
    return row


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--levels", default="-O0,-O2,early")
    parser.add_argument("--work")
    parser.add_argument("--verbose", type=int, default=0, help="show contradictions, and as many branches without label")
    parser.add_argument("--most", type=float, default=0.5)
    parser.add_argument("--least", type=float, default=90)
    args = parser.parse_args()
    unseen = [p for p in UNSEEN if p.name in args.programs.split(",")]
    seen = [name for name in args.programs.split(",") if name not in [p.name for p in unseen]]
    programs = (corpus.names(",".join(seen)) if seen else []) + unseen
    corpus.fetch(programs)
    folder = args.work or tempfile.mkdtemp(prefix="footpath-sense-")
    os.makedirs(folder, exist_ok=True)
    where = os.path.join(folder, "inputs")
    where = inputs.make(where) or where
    bad = 0
    print("| program | level | branches | with label | weighted | bare | lines | opposite | too many | exact |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for program in programs:
        lines = coverage(program, folder, where)
        for level in args.levels.split(","):
            found, bare = branches(program, folder, where, level)
            row = compare(lines, found, args.verbose)
            labelled = percent(row["labelled"], row["branches"])
            wrong = percent(max(row["opposite"], row["many"]), row["lines"])
            bad += labelled < args.least or wrong > args.most
            print("| %s | %s | %d | %.1f%% | %.1f%% | %d | %d | %d | %d | %.1f%% |" % (
                program.name, level, row["branches"], labelled, percent(row["executed_labelled"], row["executed"]), bare,
                row["lines"], row["opposite"], row["many"], percent(row["exact"], row["lines"])), flush=True)
    if not args.work:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
