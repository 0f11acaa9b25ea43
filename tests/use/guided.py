#!/usr/bin/env python3
"""--fp-guide: a build guided by an earlier profile counts the same edges, exactly.

    guided.py --bin BUILD/bin --llvm 19

Each scenario program is built, run, and built again in check mode with its own
profile as a guide: the output is the same, and paths and edges agree. A profile of
another version of the source is used for the functions that did not change, and the
others are named.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "programs")

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static int changed(int n) { int s = 0; for (int i = 0; i < n; i++) { %s } return s; }
__attribute__((noinline)) static int same(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & n) s++; return s; }
int main(void) { int t = 0; for (int i = 0; i < 100; i++) t += changed(i) + same(i); printf("%%d\\n", t); return 0; }
"""
passed = failed = 0


def check(what, condition, detail=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("failed: %s %s" % (what, detail))


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def build(args, source, out, *flags):
    compiler = os.path.join(args.bin, "footpath-c++" if source.endswith(".cc") else "footpath-cc")
    done = run([compiler, "--fp-llvm=" + args.llvm, *flags, "-O2", "-w", source, "-o", out])
    check("build " + " ".join(flags), done.returncode == 0, done.stderr)
    return done.stderr


def profile_of(exe, profile):
    return run([exe], env=dict(os.environ, FOOTPATH_OUT=profile)).stdout


def guided_twice(args, folder, source, at):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    train, checked = os.path.join(folder, "train.prof"), os.path.join(folder, "check.prof")
    for old in (train, checked, train + ".guide"):
        if os.path.exists(old):
            os.unlink(old)
    build(args, source, first, "--fp-at=" + at)
    expected = profile_of(first, train)
    said = build(args, source, second, "--fp-at=" + at, "--fp-mode=check", "--fp-guide=" + train)
    check("nothing is stale", said == "", said)
    check("the guide is kept", os.path.exists(train + ".guide"))
    check("same output", profile_of(second, checked) == expected)
    verified = run([os.path.join(args.bin, "footpath"), "verify", checked])
    check("verify %s %s" % (os.path.basename(source), at), "identical" in verified.stdout, verified.stdout + verified.stderr)


def stale(args, folder):
    source, exe, profile = (os.path.join(folder, n) for n in ("edited.c", "edited", "edited.prof"))
    with open(source, "w") as f:
        f.write(SOURCE % "s += i;")
    build(args, source, exe)
    profile_of(exe, profile)
    with open(source, "w") as f:
        f.write(SOURCE % "if (i % 3) putchar('x'); s += i;")
    said = build(args, source, exe, "--fp-guide=" + profile)
    check("the changed function is named", "1 of 3 functions changed" in said and " changed\n" in said, said)
    os.unlink(profile + ".guide")
    with open(profile, "r+b") as f:
        f.truncate(20)
    done = run([os.path.join(args.bin, "footpath-cc"), "--fp-guide=" + profile, source, "-o", exe])
    check("a bad profile is an error", done.returncode == 2 and "footpath-cc: " in done.stderr, done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        for name in ("control_flow.c", "exceptions.cc", "many_paths.c"):
            for at in ("late", "early"):
                guided_twice(args, folder, os.path.join(PROGRAMS, name), at)
        stale(args, folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
