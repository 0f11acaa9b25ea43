#!/usr/bin/env python3
"""--fp-guide: a build guided by an earlier profile counts the same edges, exactly.

    guided.py --bin BUILD/bin --llvm 19

Each scenario program is built, run, and built again in check mode with its own
profile as a guide: the output is the same, and paths and edges agree. A profile of
another version of the source is used for the functions that did not change, and the
others are named.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import PROGRAMS, expect  # noqa: E402

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static int changed(int n) { int s = 0; for (int i = 0; i < n; i++) { %s } return s; }
__attribute__((noinline)) static int same(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & n) s++; return s; }
int main(void) { int t = 0; for (int i = 0; i < 100; i++) t += changed(i) + same(i); printf("%%d\\n", t); return 0; }
"""


def build(b, source, out, *flags):
    """What the compiler said."""
    return b.cc(*flags, "-O2", "-w", source, "-o", out).stderr


def guided_twice(b, source, at):
    first, second, checked = b.path("first"), b.path("second"), b.path("check.prof")
    build(b, source, first, "--fp-at=" + at)
    train = b.path("train.prof")
    expected = b.run(first, env={"FOOTPATH_OUT": train}).stdout
    said = build(b, source, second, "--fp-at=" + at, "--fp-mode=check", "--fp-guide=" + train)
    expect(said == "", "nothing is stale", said)
    expect(os.path.exists(train + ".guide"), "the guide is kept")
    expect(b.run(second, env={"FOOTPATH_OUT": checked}).stdout == expected, "same output")
    b.verify(checked)


def case_stale(b):
    """The changed function is named."""
    source, exe = b.write("edited.c", SOURCE % "s += i;"), b.path("edited")
    build(b, source, exe)
    profile = b.profile(exe, "edited.prof")
    b.write("edited.c", SOURCE % "if (i % 3) putchar('x'); s += i;")
    said = build(b, source, exe, "--fp-guide=" + profile)
    expect("1 of 3 functions changed" in said and " changed\n" in said, "the changed function is named", said)
    os.unlink(profile + ".guide")
    with open(profile, "r+b") as f:
        f.truncate(20)
    done = b.cc("--fp-guide=" + profile, source, "-o", exe, status=2)
    expect("footpath-cc: " in done.stderr, "a bad profile is an error", done.stderr)


for name in ("control_flow.c", "exceptions.cc", "many_paths.c"):
    for at in ("late", "early"):
        globals()["case_%s_%s" % (name.split(".")[0], at)] = \
            lambda b, name=name, at=at: guided_twice(b, os.path.join(PROGRAMS, name), at)

if __name__ == "__main__":
    harness.main(__doc__)
