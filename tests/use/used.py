#!/usr/bin/env python3
"""--fp-use: programs built by their profile do what they did before.

    used.py --bin BUILD/bin --llvm 19

Each scenario program is counted early, run, and built by its profile: same output and
status, weights and a summary in the code. A profile of an edited source is used where
it fits, and what changed is named.
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
__attribute__((noinline)) static int same(int n) { int s = 0; for (int i = 0; i < n; i++) if (i %% 7 == 0) s += n; return s; }
__attribute__((noinline)) static void never(int n) { printf("never %%d\\n", n); }
int main(int argc, char **argv) {
  int t = 0;
  for (int i = 0; i < 1000; i++) t += changed(i) + same(i);
  if (argc > 5) never(t);
  printf("%%d\\n", t);
  return 0;
}
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
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


def build(args, source, out, *flags):
    compiler = os.path.join(args.bin, "footpath-c++" if source.endswith(".cc") else "footpath-cc")
    done = run([compiler, "--fp-llvm=" + args.llvm, *flags, "-O2", "-w", source, "-o", out])
    check("build " + " ".join(flags), done.returncode == 0, done.stderr)
    return done.stderr


def trained(exe, profile):
    if os.path.exists(profile):
        os.unlink(profile)
    done = run([exe], env=dict(os.environ, FOOTPATH_OUT=profile))
    return done.returncode, done.stdout


def same_program(args, folder, source):
    counted, used, profile = (os.path.join(folder, n) for n in ("counted", "used", "use.prof"))
    build(args, source, counted, "--fp-at=early")
    expected = trained(counted, profile)
    said = build(args, source, used, "--fp-use=" + profile)
    check("nothing is stale in " + os.path.basename(source), said == "", said)
    done = run([used])
    check("same output of " + os.path.basename(source), (done.returncode, done.stdout) == expected, done.stdout)
    check("it does not count", b"footpath_cnt" not in open(used, "rb").read())


def metadata(args, folder):
    source, exe, profile, text = (os.path.join(folder, n) for n in ("e.c", "e", "e.prof", "e.ll"))
    with open(source, "w") as f:
        f.write(SOURCE % "s += i;")
    build(args, source, exe, "--fp-at=early")
    trained(exe, profile)
    build(args, source, text, "--fp-use=" + profile, "-S", "-emit-llvm")
    with open(text) as f:
        ir = f.read()
    check("summary", '"ProfileSummary"' in ir and '"InstrProf"' in ir)
    check("entry count", '!"function_entry_count", i64 1000}' in ir)
    check("never is cold", '!"function_entry_count", i64 0}' in ir and " cold " in ir)
    check("branch weights", '!"branch_weights"' in ir)
    with open(source, "w") as f:
        f.write(SOURCE % "if (i % 3) putchar('x'); s += i;")
    said = build(args, source, exe, "--fp-use=" + profile)
    check("what changed is named", "1 of 4 functions changed" in said and " changed\n" in said, said)
    check("it runs", run([exe]).returncode == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        for name in ("control_flow.c", "exceptions.cc", "many_paths.c"):
            same_program(args, folder, os.path.join(PROGRAMS, name))
        metadata(args, folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
