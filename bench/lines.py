"""Are line counts true? footpath's beside llvm-cov's.

    python3 bench/lines.py [--programs bzip2,lua] [--levels=-O2] [--work FOLDER] [--verbose N]

Builds every program with clang's coverage (-fprofile-instr-generate -fcoverage-mapping) and with
footpath-cc at each level, runs all on the same input and compares the counts of source lines: those
of `footpath export --format lcov` with those of `llvm-cov export --format lcov`. Which lines have code
is taken from a build with footpath-cc at -O0. Lines of which that build and llvm-cov do not both say
that they ran, or that they did not, are left out: llvm-cov also counts what follows on the line.

  ran          lines that ran
  counted      of them: lines that have a count above 0
  not told     of them: lines that have no count
  false zeros  of them: lines whose count is 0
  did not run  lines that have code and did not run
  zeros        of them: lines whose count is 0
  false counts of them: lines that have a count above 0
  exact        of the counted lines: those whose counts are equal
  too many     of the counted lines: those whose count is above llvm-cov's by more than 1%
  map          bytes of the packed map in the program

Ends with status 1 where more than --most false zeros are found in one program.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import corpus
import inputs
import sense
import sizes

PROGRAMS = "bzip2,lua,cmark,sqlite"
COLUMNS = ("ran", "counted", "not told", "false zeros", "did not run", "zeros", "false counts", "exact", "too many", "map")


def read_lcov(text):
    """(file, line) -> count"""
    counts, file = {}, None
    for line in text.splitlines():
        if line.startswith("SF:"):
            file = line[3:]
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            counts[(file, int(number))] = int(count)
    return counts


def by_clang(program, folder, where):
    kept = os.path.join(folder, program.name + ".coverage.lcov")
    if not os.path.exists(kept):
        sense.measure_coverage(program, folder, where, kept, "--format=lcov")
    with open(kept, encoding="utf-8") as shown:
        return read_lcov(shown.read())


def by_footpath(program, folder, where, level):
    profile = sense.measure(program, folder, where, level)
    footpath = os.path.join(sense.BIN, "footpath")
    shown = subprocess.run([footpath, "export", "--format", "lcov", profile], stdout=subprocess.PIPE, check=True, text=True)
    return read_lcov(shown.stdout)


def compare(truth, plain, ours, verbose):
    """`plain` is the build at -O0: its lines are those that have code."""
    row = dict.fromkeys(COLUMNS, 0)
    for place, count in sorted(truth.items()):
        mine, below = ours.get(place), plain.get(place)
        if below is None or bool(count) != bool(below):
            continue
        if not count:
            row["did not run"] += 1
            row["zeros"] += mine == 0
            row["false counts"] += bool(mine)
            if mine and verbose:
                print("  false count: %s:%d has %d" % (*place, mine))
            continue
        row["ran"] += 1
        row["not told"] += mine is None
        row["false zeros"] += mine == 0
        row["counted"] += bool(mine)
        row["exact"] += mine == count
        row["too many"] += bool(mine) and mine > count * (1 + sense.SLACK)
        if mine == 0 and verbose:
            print("  false zero: %s:%d ran %d times" % (*place, count))
        if mine and mine > count * (1 + sense.SLACK) and verbose > 1:
            print("  too many: %s:%d has %d, ran %d times" % (*place, mine, count))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--levels", default="-O2,early")
    parser.add_argument("--work")
    parser.add_argument("--verbose", type=int, default=0, help="1: show false zeros and false counts; 2: and those too high")
    parser.add_argument("--most", type=int, default=0)
    args = parser.parse_args()
    programs = sense.choose(args.programs)
    corpus.fetch(programs)
    folder = args.work or tempfile.mkdtemp(prefix="footpath-lines-")
    os.makedirs(folder, exist_ok=True)
    where = os.path.join(folder, "inputs")
    inputs.make(where)
    bad = False
    print("| program | level | %s |" % " | ".join(COLUMNS))
    print("|---" * (2 + len(COLUMNS)) + "|", flush=True)
    for program in programs:
        truth = by_clang(program, folder, where)
        plain = by_footpath(program, folder, where, "-O0")
        for level in args.levels.split(","):
            row = compare(truth, plain, by_footpath(program, folder, where, level), args.verbose)
            row["map"] = sizes.section(os.path.join(folder, program.name, program.exe), ".footpath_map")
            bad |= row["false zeros"] > args.most
            print("| %s | %s | %s |" % (program.name, level, " | ".join(str(row[c]) for c in COLUMNS)), flush=True)
    if not args.work:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
