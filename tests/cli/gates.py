#!/usr/bin/env python3
"""Exit statuses that scripts rely on: an input that is missing is never passed over, and a gate
names what it measured and fails where that is not what was asked for.

    gates.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

SOURCE = "int main(int c, char **v) { for (int i = 0; i < 9; i++) if (i * c % 3) v[0]++; return c > 5 ? c % 7 == 3 ? 8 : 9 : 0; }\n"
LIBRARY = "int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i % 3; return s; }\n"
USER = "int f(int x); int main(void) { return f(4) == 5; }\n"

# everything that takes profiles, with one that is missing among good ones; %s is the missing one
WITH_MISSING = (
    "show a.prof %s", "show --json a.prof %s", "show %s a.prof", "report -o page a.prof %s", "annotate a.prof %s",
    "coverage a.prof %s", "coverage --fail-under 1 a.prof %s", "coverage --fail-under 1 --format lcov a.prof %s",
    "stats a.prof %s", "diff a.prof %s", "diff %s a.prof", "verify a.prof %s", "compare a.prof %s", "compare --least 0 %s a.prof",
    "merge -o out.prof a.prof %s", "merge -o out.prof %s a.prof a.prof", "combine -o out.cp a.prof %s", "dot --function main a.prof %s",
    "export --format lcov a.prof %s", "export --format guide -o out.guide a.prof %s", "info a.prof %s", "info prog %s",
)


def program(b, name, source=SOURCE, *words):
    b.write(name + ".c", source)
    b.cc("-O1", name + ".c", "-o", name, *words)
    return b.path(name)


def case_missing(b):
    """Every command exits with 1 and names the input, and writes nothing."""
    program(b, "prog")
    b.profile("prog", "a.prof")
    for line in WITH_MISSING:
        for missing in ("missing.prof", "prog.c"):
            done = b.tool(*(line % missing).split(), status=None)
            equal(done.returncode, 1, "%s with %s: status" % (line, missing))
            expect(missing in done.stderr, "%s names %s: %s" % (line, missing, done.stderr))
    expect(not [n for n in os.listdir(b.folder) if n.startswith("out.")], "nothing is written: %s" % os.listdir(b.folder))


def case_skip_bad(b):
    """With --skip-bad the others are used, and the bad one is told."""
    program(b, "prog")
    b.profile("prog", "a.prof")
    for line in ("show a.prof missing.prof", "coverage --fail-under 1 a.prof missing.prof", "merge -o out.prof a.prof missing.prof",
                 "combine -o out.cp a.prof missing.prof"):
        done = b.tool(*line.split(), "--skip-bad")
        expect("missing.prof" in done.stderr and "skipped 1 of 2" in done.stderr, "%s: %s" % (line, done.stderr))


def case_coverage_names(b):
    program(b, "prog")
    b.profile("prog", "a.prof")
    measured = r"in prog \(build [0-9a-f]{12}, 1 run\)"
    said = b.tool("coverage", "--fail-under", "10", "a.prof").stderr
    expect(re.search(r"edges is [0-9.]+%, not below 10.0%, " + measured, said), "passes: " + said)
    said = b.tool("coverage", "--fail-under", "100", "a.prof", status=3).stderr
    expect(re.search(r"edges is [0-9.]+%, below 100.0%, " + measured, said), "fails: " + said)


def case_nothing_to_measure(b):
    """0 of 0 is no coverage of 100%."""
    program(b, "prog")
    b.profile("prog", "a.prof")
    b.tool("coverage", "--fail-under", "0", "--function", "nosuch", "a.prof", status=1)
    b.write("flat.c", "int main(void) { return 0; }\n")
    b.cc("flat.c", "-o", "flat")
    b.profile("flat", "flat.prof")
    said = b.tool("coverage", "--fail-under", "10", "--function", "main", "flat.prof", status=1).stderr
    expect("no edges to measure" in said and "functions with main" in said, said)
    program(b, "edges", SOURCE, "--fp-mode=edge")
    b.profile("edges", "e.prof")
    for metric in ("paths", "basis"):
        said = b.tool("coverage", "--fail-under", "10", "--metric", metric, "e.prof", status=1).stderr
        expect("no %s to measure" % metric in said, said)


def case_other_programs(b):
    """A probe or a generator wrote to the same file."""
    for name in ("prog", "probe"):
        program(b, name)
    for name in ("prog", "probe"):
        b.run(b.path(name), env={"FOOTPATH_OUT": b.path("both.prof")})
    gate = ("coverage", "--fail-under", "10", "both.prof")
    said = b.tool(*gate, status=1).stderr
    expect("prog ran, too" in said and "--program" in said, said)
    expect("in prog (build" in b.tool(*gate, "--program", "prog").stderr, "the one that was asked for")
    expect("prog (build" in b.tool(*gate, "--program", "all").stderr, "all")
    b.tool(*gate, "--program", "nosuch", status=1)
    b.tool("compare", "--least", "0", "both.prof", "both.prof", status=1)
    b.tool("compare", "--least", "0", "--program", "prog", "both.prof", "both.prof")
    # the head of show does not give one program the runs of all
    expect("2 runs of prog and 1 other program: " in b.tool("show", "--program", "all", "both.prof").stdout, "all of a file")
    for name in ("prog", "probe"):
        b.run(b.path(name), env={"FOOTPATH_OUT": b.path("%s.prof" % name)})
    expect("2 runs of prog and 1 other program: " in b.tool("show", "prog.prof", "probe.prof").stdout, "two files")
    expect("1 run of probe: " in b.tool("show", "probe.prof").stdout, "one program")
    # an older build of the same program is no other program
    program(b, "again")
    b.run(b.path("again"), env={"FOOTPATH_OUT": b.path("builds.prof")})
    program(b, "again", SOURCE.replace("9", "11"))
    b.run(b.path("again"), env={"FOOTPATH_OUT": b.path("builds.prof")})
    expect("in again (build" in b.tool("coverage", "--fail-under", "10", "builds.prof").stderr, "the last build")
    expect("2 runs of again: " in b.tool("show", "--program", "all", "builds.prof").stdout, "builds of one program")


def case_part_not_measured(b):
    """A library whose map cannot be found: the rest must not stand for the whole."""
    b.write("lib.c", LIBRARY)
    b.cc("-O1", "-shared", "-fPIC", "--fp-mode=check", "lib.c", "-o", "libx.so")
    program(b, "prog", USER, b.path("libx.so"), "--fp-mode=check")
    b.run(b.path("prog"), env={"FOOTPATH_OUT": b.path("a.prof"), "FOOTPATH_MAP": "0"})
    b.tool("coverage", "--fail-under", "10", "a.prof")
    b.verify("a.prof")
    os.unlink(b.path("libx.so"))
    b.tool("coverage", "a.prof")
    said = b.tool("coverage", "--fail-under", "10", "a.prof", status=1).stderr
    expect("libx.so could not be measured" in said, said)
    expect("libx.so could not be measured" in b.tool("verify", "a.prof", status=1).stderr, "verify")


if __name__ == "__main__":
    harness.main(__doc__, cases={n[5:]: c for n, c in list(globals().items()) if n.startswith("case_")})
