#!/usr/bin/env python3
"""Frames that are left again and again, by exceptions and by longjmp, with --fp-exits.

    left.py --bin BUILD/bin [--llvm 19]

Each time may cost at most 1.3 times the instructions of plain clang's program, counted by
cachegrind: the time that a machine takes depends on what else it does. However often a
path is left, it is one row of `show`, and neither the profile nor memory grows.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MANY = 2000, 12000
MOST_TIMES = 1.3


def instructions(b, exe, rounds, profile):
    done = b.run("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", b.path(exe), str(rounds),
                 env={"FOOTPATH_OUT": profile})
    equal(done.stdout, "%d\n" % rounds, exe)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def per_round(b, exe):
    """Instructions of one round more, and the profiles of few and of many."""
    profiles = [b.path("%s.%d.prof" % (exe, rounds)) for rounds in (FEW, MANY)]
    few, many = (instructions(b, exe, n, p) for n, p in zip((FEW, MANY), profiles))
    return (many - few) / (MANY - FEW), profiles


def rows(b, profile):
    shown = b.json("show", "--json", "--function", "request", profile)
    return [path["count"] for f in shown["functions"] if f["name"] == "request" for path in f["paths"]]


def check(b, source):
    words = ["-O2", "-w", os.path.join(HERE, source), "-o"]
    b.clang(*words, "plain")
    b.cc("--fp-exits", *words, "counted")
    wanted, _ = per_round(b, "plain")
    got, (few, many) = per_round(b, "counted")
    print("%s: %.0f instructions each time, %.0f with --fp-exits: x%.3f" % (source, wanted, got, got / wanted))
    expect(got <= MOST_TIMES * wanted, "%s costs more than x%.1f" % (source, MOST_TIMES))
    equal((rows(b, few), rows(b, many)), ([FEW], [MANY]), "rows")
    sizes = os.path.getsize(few), os.path.getsize(many)
    expect(sizes[1] <= sizes[0] + 100, "the profile grows: %d, %d bytes" % sizes)


if __name__ == "__main__":
    harness.main(__doc__, cases={source.split(".")[0]: lambda b, source=source: check(b, source)
                                 for source in ("jumps.c", "throws.cc")})
