#!/usr/bin/env python3
"""Frames that are left again and again, by exceptions and by longjmp, with --fp-exits.

    left.py --bin BUILD/bin [--llvm 19]

Each time may cost at most 1.3 times the instructions of plain clang's program, counted by
cachegrind: the time that a machine takes depends on what else it does. However often a
path is left, it is one row of `show`, and neither the profile nor memory grows.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MANY = 2000, 12000
MOST_TIMES = 1.3


class Failure(Exception):
    pass


def call(command, **env):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env))
    if done.returncode:
        raise Failure("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done


def instructions(exe, rounds, profile):
    done = call(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", exe, str(rounds)],
                FOOTPATH_OUT=profile)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", "")), done.stdout


def per_round(exe, folder):
    """Instructions of one round more, and the profiles of few and of many."""
    profiles = [os.path.join(folder, "%d.prof" % rounds) for rounds in (FEW, MANY)]
    (few, said_few), (many, said_many) = (instructions(exe, n, p) for n, p in zip((FEW, MANY), profiles))
    if (said_few, said_many) != ("%d\n" % FEW, "%d\n" % MANY):
        raise Failure("%s said %r and %r" % (exe, said_few, said_many))
    return (many - few) / (MANY - FEW), profiles


def rows(args, profile):
    shown = json.loads(call([os.path.join(args.bin, "footpath"), "show", "--json", "--function", "request", profile]).stdout)
    return [path["count"] for f in shown["functions"] if f["name"] == "request" for path in f["paths"]]


def check(args, source, opt, folder):
    plus = source.endswith(".cc")
    plain, counted = os.path.join(folder, "plain"), os.path.join(folder, "counted")
    flags = [opt, "-w", os.path.join(HERE, source), "-o"]
    call(["clang%s-%s" % ("++" if plus else "", args.llvm), *flags, plain])
    call([os.path.join(args.bin, "footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-exits",
          *flags, counted])
    wanted, _ = per_round(plain, folder)
    got, (few, many) = per_round(counted, folder)
    print("%s %s: %.0f instructions each time, %.0f with --fp-exits: x%.3f" % (source, opt, wanted, got, got / wanted))
    if got > MOST_TIMES * wanted:
        raise Failure("%s %s costs more than x%.1f" % (source, opt, MOST_TIMES))
    if rows(args, few) != [FEW] or rows(args, many) != [MANY]:
        raise Failure("%s %s: rows of %s and %s" % (source, opt, rows(args, few)[:9], rows(args, many)[:9]))
    if os.path.getsize(many) > os.path.getsize(few) + 100:
        raise Failure("%s %s: the profile grows: %d, %d bytes" % (source, opt, os.path.getsize(few), os.path.getsize(many)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    failed = 0
    for source in ("jumps.c", "throws.cc"):
        with tempfile.TemporaryDirectory(prefix="footpath-left-") as folder:
            try:
                check(args, source, "-O2", folder)
            except Failure as failure:
                print(failure)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
