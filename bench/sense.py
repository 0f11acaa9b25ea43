"""Do branches say what the source says? footpath's true and false beside llvm-cov's.

    python3 bench/sense.py [--programs bzip2,lua] [--levels=-O2] [--work FOLDER] [--verbose]

Builds every program with clang's coverage (-fprofile-instr-generate -fcoverage-mapping) and with
footpath-cc at each level, runs all on the same input and compares, on the lines that have one
condition by llvm-cov, how often it was true and false. Conditions of several lines that are
tested at once are compared as wholes, where they have only && or only ||. A side of && or || has
a column, and is compared with llvm-cov's branch around that column.

  branches    conditional branches that were executed, and the share that has a label
  of one way  those of them that have a label on one of their two ways only
  weighted    the share with a label by how often they were executed
  own         further branches, on lines where llvm-cov has no condition: the compiler's own, as
              of `delete p` or of complex numbers
  bare        further branches, which have no line: a library function that the compiler wrote out
  copies      further branches that choose between copies of a loop's body: of kind loop, without sense
  lines       lines with one condition that have a label and were executed
  opposite    lines that say the opposite: mostly true here, mostly false there
  too many    lines whose true or false count is above llvm-cov's. A copy whose condition was known
              is gone, so counts may be lower; no copy can make them higher
  exact       lines where both counts are equal
  sides       sides of && and || that have a label and were executed; in brackets: those that are
              opposite or too many

The level `rolled` is -O2 without unrolling and vector loops. There are no copies there: if some branch
is called one, that is wrong. Ends with status 1 where that happens, where more than --most percent of
the lines or sides are opposite or too many, or where fewer than --least percent of the branches have a
label.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass

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
LEVELS = {"-O0": ("-O0", ""), "-O2": ("-O2", ""), "early": ("-O2", "--fp-at=early"), "-O2 -g": ("-O2 -g", ""),
          "rolled": ("-O2 -fno-unroll-loops -fno-vectorize", "")}


def run(program, exe, folder, where, env):
    line = corpus.command(program, "compare" if program.compare else "small", exe, where, os.path.join(folder, program.name))
    done = subprocess.run(line, shell=True, cwd=folder, env=dict(os.environ, **env), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode not in program.ends:
        raise RuntimeError("%s ended with %d: %s" % (line, done.returncode, done.stdout[-500:]))


class Whole:
    """A condition of several lines, such as `a && b`, by llvm-cov."""

    def __init__(self, file, begin, end, sides):
        self.file, self.begin, self.end = file, begin, end
        self.sides = [sides[place] for place in sorted(sides) if begin <= place <= end]

    def counts(self):
        """(true, false) where all its operators are the same; None where that is not so."""
        with open(self.file, encoding="utf-8", errors="replace") as source:
            text = source.read().split("\n")[self.begin[0] - 1:self.end[0]]
        before, text[-1] = text[0][:self.begin[1] - 1], text[-1][:self.end[1] - 1]
        text[0] = text[0][self.begin[1] - 1:]
        operators = re.findall(r"&&|\|\||\?|!\s*\(", "\n".join(text))
        if len(set(operators)) != 1 or len(operators) != len(self.sides) - 1 or re.search(r"!\s*\(+$", before):
            return None
        total = sum(self.sides[0])
        if operators[0] == "&&":
            return self.sides[-1][0], total - self.sides[-1][0]
        return total - self.sides[-1][1], self.sides[-1][1]


def wholes_of(functions):
    """file -> conditions of several lines. Those of templates and inline functions are there once for each copy."""
    sides, places = defaultdict(dict), set()
    for function in functions:
        files = [os.path.normpath(name) for name in function["filenames"]]
        for line, column, _, _, yes, no, file, _, _ in function["branches"]:
            before = sides[files[file]].get((line, column), (0, 0))
            sides[files[file]][line, column] = (before[0] + yes, before[1] + no)
        places.update((files[file], (a, b), (c, d)) for a, b, c, d, file, _, _ in function.get("mcdc_records", []) if a != c)
    found = defaultdict(list)
    for file, begin, end in sorted(places):
        found[file].append(Whole(file, begin, end, sides[file]))
    return found


class Regions:
    """Branches by llvm-cov, found by a place inside them: file -> {(begin, end): (true, false)}."""

    def __init__(self, functions):
        self.found, self.expansions = defaultdict(dict), defaultdict(set)
        for function in functions:
            files = [os.path.normpath(name) for name in function["filenames"]]
            for a, b, c, d, yes, no, file, _, _ in function["branches"]:
                before = self.found[files[file]].get(((a, b), (c, d)), (0, 0))
                self.found[files[file]][(a, b), (c, d)] = (before[0] + yes, before[1] + no)
            for a, b, c, d, _, file, _, kind in function["regions"]:
                if kind == 1:
                    self.expansions[files[file]].add(((a, b), (c, d)))
        self.by_line = {file: self.sorted_by_line(found) for file, found in self.found.items()}

    @staticmethod
    def sorted_by_line(found):
        lines = defaultdict(list)
        for begin, end in found:
            for line in range(begin[0], end[0] + 1):
                lines[line].append((begin, end))
        return lines

    def around(self, file, place):
        """(where, (true, false)) of the one branch around a place that is not in a macro; else None."""
        inside = [r for r in self.by_line.get(file, {}).get(place[0], []) if r[0] <= place < r[1]]
        if len(inside) != 1 or any(a <= place < b for a, b in self.expansions[file]):
            return None
        return "%s:%d:%d" % (file, *inside[0][0]), self.found[file][inside[0]]


def coverage(program, folder, where):
    """file -> line -> {column: (true, false)}, by llvm-cov; file -> conditions of several lines; and branches by place."""
    kept = os.path.join(folder, program.name + ".coverage.json")
    if not os.path.exists(kept):
        measure_coverage(program, folder, where, kept)
    lines = defaultdict(lambda: defaultdict(dict))
    with open(kept, encoding="utf-8") as shown:
        functions = json.load(shown)["data"][0]["functions"]
    for function in functions:
        files = [os.path.normpath(name) for name in function["filenames"]]
        for line, column, _, _, yes, no, file, _, _ in function["branches"]:
            place = lines[files[file]][line]
            before = place.get(column, (0, 0))
            place[column] = (before[0] + yes, before[1] + no)
        # what a macro tests is not written on the line that uses it
        for line, column, _, _, _, file, _, kind in function["regions"]:
            if kind == 1:
                lines[files[file]][line][("expansion", column)] = (0, 0)
    return lines, wholes_of(functions), Regions(functions)


def measure_coverage(program, folder, where, kept, form="--format=text"):
    flags = "-O1 -w -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc " + program.compare_flags
    exe = corpus.build(program, folder, "clang-" + LLVM, "clang++-" + LLVM, flags)
    raw, data = exe + ".profraw", exe + ".profdata"
    for name in os.listdir(folder):
        if name.endswith(".profraw"):
            os.remove(os.path.join(folder, name))
    run(program, exe, folder, where, {"LLVM_PROFILE_FILE": raw})
    subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", data, raw], check=True)
    with open(kept, "wb") as out:
        subprocess.run(["llvm-cov-" + LLVM, "export", form, "-instr-profile", data, exe], stdout=out, check=True)


@dataclass
class Branch:
    file: str
    line: int
    column: int   # 0: not known
    count: int
    says: dict    # sense -> count
    cases: bool   # it has some label
    part: bool    # one side of && or ||
    name: str
    block: int


def measure(program, folder, where, level):
    """The profile of one run."""
    flags, ours = LEVELS[level]
    env = {"FOOTPATH_CC_FLAGS": "--fp-llvm=%s %s" % (LLVM, ours)}
    exe = corpus.build(program, folder, os.path.join(BIN, "footpath-cc"), os.path.join(BIN, "footpath-c++"),
                       flags + " -w " + program.compare_flags, env)
    profile = exe + ".prof"
    if os.path.exists(profile):
        os.remove(profile)
    run(program, exe, folder, where, {"FOOTPATH_OUT": profile})
    return profile


def branches(program, folder, where, level):
    """All executed conditional branches (see Branch); how many have no line; how many choose between copies."""
    profile = measure(program, folder, where, level)
    shown = subprocess.run([os.path.join(BIN, "footpath"), "show", "--json", profile], stdout=subprocess.PIPE, check=True).stdout
    found, bare, copies = [], 0, 0
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
            if not cases and ways[0].get("kind") == "loop":
                copies += 1
                continue
            part = any("part" in way for way in ways)
            found.append(Branch(os.path.normpath(ways[0]["file"]), ways[0]["line"], ways[0].get("column", 0), count, says, cases, part,
                                function["name"], block))
    return found, bare, copies


def expected(lines, wholes, file, line, part):
    """(where, (true, false)) that llvm-cov has for a label; None where it does not have one condition there."""
    whole = [w for w in wholes.get(file, []) if w.begin[0] <= line <= w.end[0]] if not part else []
    if whole:
        return ("%s:%d to %d" % (file, whole[0].begin[0], whole[0].end[0]), whole[0].counts()) if len(whole) == 1 else None
    places = lines.get(file, {}).get(line, {})
    if len(places) != 1 or not isinstance(next(iter(places)), int):
        return None
    return "%s:%d" % (file, line), next(iter(places.values()))


class Sums:
    """What labels say of each place, beside what llvm-cov counts there."""

    def __init__(self):
        self.sums, self.known = defaultdict(lambda: [0, 0, []]), {}

    def add(self, one, branch):
        self.known[one[0]] = one[1]
        self.sums[one[0]][0] += branch.says.get(True, 0)
        self.sums[one[0]][1] += branch.says.get(False, 0)
        self.sums[one[0]][2].append("%s:%d" % (branch.name, branch.block))

    def judge(self, verbose):
        """(places, opposite, too many, exact)"""
        opposite = many = exact = 0
        for place, (yes, no, names) in sorted(self.sums.items()):
            cov_yes, cov_no = self.known[place]
            slack = SLACK * (cov_yes + cov_no)
            above = yes > cov_yes + slack or no > cov_no + slack
            turned = above and ((yes > no and cov_no > cov_yes) or (no > yes and cov_yes > cov_no))
            opposite, many, exact = opposite + turned, many + above, exact + ((yes, no) == (cov_yes, cov_no))
            if verbose and above:
                print("  %s in %s: true %d false %d; llvm-cov %d %d" % (place, " ".join(names), yes, no, cov_yes, cov_no))
        return len(self.sums), opposite, many, exact


def compare(lines, wholes, regions, found, verbose):
    row = dict(branches=0, own=0, labelled=0, executed=0, executed_labelled=0, one=0)
    whole, sides, silent = Sums(), Sums(), defaultdict(int)
    for b in found:
        if not b.says and not b.cases and b.file in lines and not lines[b.file].get(b.line):
            row["own"] += 1
            continue
        row["branches"] += 1
        row["executed"] += b.count
        if b.says or b.cases:
            row["labelled"] += 1
            row["executed_labelled"] += b.count
        else:
            silent[(b.file, b.line, b.name, b.block)] += b.count
        row["one"] += len(b.says) == 1
        one = expected(lines, wholes, b.file, b.line, b.part) if b.says else None
        if one and one[1]:
            whole.add(one, b)
        side = regions.around(b.file, (b.line, b.column)) if b.says and b.part and b.column else None
        if side:
            sides.add(side, b)
    row["lines"], row["opposite"], row["many"], row["exact"] = whole.judge(verbose)
    row["sides"], _, row["wrong_sides"], _ = sides.judge(verbose)
    if verbose:
        for (file, line, name, block), count in sorted(silent.items(), key=lambda item: -item[1])[:verbose]:
            print("  no label: %s:%s in %s:%d, %d times" % (file, line, name, block, count))
    return row


def choose(names):
    unseen = [p for p in UNSEEN if p.name in names.split(",")]
    seen = [name for name in names.split(",") if name not in [p.name for p in unseen]]
    return (corpus.names(",".join(seen)) if seen else []) + unseen


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
    programs = choose(args.programs)
    corpus.fetch(programs)
    folder = args.work or tempfile.mkdtemp(prefix="footpath-sense-")
    os.makedirs(folder, exist_ok=True)
    where = os.path.join(folder, "inputs")
    where = inputs.make(where) or where
    bad = 0
    print("| program | level | branches | with label | of one way | weighted | own | bare | copies | lines | opposite | too many | exact | sides |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for program in programs:
        covered = coverage(program, folder, where)
        for level in args.levels.split(","):
            found, bare, copies = branches(program, folder, where, level)
            row = compare(*covered, found, args.verbose)
            labelled = percent(row["labelled"], row["branches"])
            wrong = max(percent(max(row["opposite"], row["many"]), row["lines"]), percent(row["wrong_sides"], row["sides"]))
            bad += labelled < args.least or wrong > args.most or (level == "rolled" and copies > 0)
            print("| %s | %s | %d | %.1f%% | %.1f%% | %.1f%% | %d | %d | %d | %d | %d | %d | %.1f%% | %d (%d) |" % (
                program.name, level, row["branches"], labelled, percent(row["one"], row["branches"]),
                percent(row["executed_labelled"], row["executed"]), row["own"], bare, copies, row["lines"], row["opposite"], row["many"],
                percent(row["exact"], row["lines"]), row["sides"], row["wrong_sides"]), flush=True)
    if not args.work:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
