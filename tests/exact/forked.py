#!/usr/bin/env python3
"""A child that a signal ends right after fork leaves counts that are all its own, or none.

    forked.py --bin BUILD/bin [--llvm 19] [--count 64]

The child begins with counters that are 0. A signal that arrived while the runtime cleared
them wrote a profile in which a part was still the parent's.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "forked.c")
FLAGS = ("--fp-mode=check", "--fp-exits", "--fp-array-paths=1000000", "-O1")


def check(b, exe, *more):
    """Each child's run by itself: sums over runs could hide what is too much in one and too little in another."""
    folder = b.path("runs")
    os.makedirs(folder)
    b.run(exe, str(b.args.count), *more, env={"FOOTPATH_OUT": os.path.join(folder, "%p.prof"), "FOOTPATH_MAP": "1"})
    profiles = sorted(os.listdir(folder))
    expect(len(profiles) > 1, "no child left a profile")
    for name in profiles:
        b.tool("verify", os.path.join(folder, name))
    print("%d children, %d of them left a profile" % (b.args.count, len(profiles) - 1))


def case_program(b):
    exe = b.path("forked")
    b.cc(*FLAGS, SOURCE, "-o", exe)
    check(b, exe)


def case_library(b):
    """The counters of two modules are cleared one after the other."""
    exe, library = b.path("forked"), b.path("libother.so")
    b.cc(*FLAGS, "-fPIC", "-shared", "-DONLY_OTHER", SOURCE, "-o", library)
    b.cc(*FLAGS, "-DONLY_MAIN", SOURCE, library, "-Wl,-rpath," + b.folder, "-o", exe)
    check(b, exe)


def case_reset(b):
    exe = b.path("forked")
    b.cc(*FLAGS, SOURCE, "-o", exe)
    check(b, exe, "reset")


def case_hash(b):
    """A signal while the runtime puts a path that is new into a hash table."""
    exe = b.path("forked")
    b.cc("--fp-mode=check", "--fp-exits", "--fp-array-paths=16", "-O1", SOURCE, "-o", exe)
    check(b, exe, "new")


if __name__ == "__main__":
    harness.main(__doc__, ("--count", {"type": int, "default": 64}))
