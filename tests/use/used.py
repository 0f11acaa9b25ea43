#!/usr/bin/env python3
"""--fp-use: programs built by their profile do what they did before.

    used.py --bin BUILD/bin --llvm 19

Each scenario program is counted early, run, and built by its profile: same output and
status, weights and a summary in the code. A profile of an edited source is used where
it fits, and what changed is named.
"""
import argparse
import json
import os
import re
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
# each caller of `sign` takes one way through it
CALLERS = """
#include <stdio.h>
static int sign(int n) { return n < 0 ? -1 : n > 0 ? 1 : 0; }
__attribute__((noinline)) static int up(int n) { return sign(n); }
__attribute__((noinline)) static int down(int n) { return sign(-n); }
int main(void) {
  int t = 0;
  for (int i = 1; i < 1000; i++) t += 2 * up(i) + down(i);
  printf("%d\\n", t);
  return 0;
}
"""
# 8 of 10 calls go to `often`, one out of the program; 9 of 10 copies are of 16 bytes
VALUES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long seen;
__attribute__((noinline)) static long often(long n) { seen += n; return n; }
__attribute__((noinline)) static long rarely(long n) { seen -= n; return -n; }
static long (*const all[])(long) = {often, rarely, labs};
__attribute__((noinline)) static long call(long (*f)(long), long n) { return f(n); }
__attribute__((noinline)) static void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
int main(void) {
  char from[64] = "abc", to[64];
  for (long i = 0; i < 10000; i++) {
    seen += call(all[i % 10 < 8 ? 0 : i % 10 - 7], i);
    copy(to, from, i % 10 ? 16 : (size_t)i % 50);
    seen += to[i & 3];
  }
  printf("%ld\\n", seen);
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
    return subprocess.run(command, capture_output=True, text=True, **more)


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


def same_program(args, folder, source, *how):
    counted, used, profile = (os.path.join(folder, n) for n in ("counted", "used", "use.prof"))
    build(args, source, counted, "--fp-at=early", *how)
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


def inlined_before(args, folder):
    """Counts of what is inlined first are each caller's own; the profile says that it was so."""
    source, exe, profile = (os.path.join(folder, n) for n in ("i.c", "i", "i.prof"))
    with open(source, "w") as f:
        f.write(CALLERS)
    build(args, source, exe, "--fp-at=early", "--fp-inline=small")
    expected = trained(exe, profile)
    shown = json.loads(run([os.path.join(args.bin, "footpath"), "show", "--json", profile]).stdout)
    executed = {f["name"]: f["executed_paths"] for f in shown["functions"] if "paths" in f}
    check("sign is in its callers", executed.get("up") == executed.get("down") == 1 and "sign" not in executed, executed)
    said = build(args, source, exe, "--fp-use=" + profile, "--fp-remarks")
    check("it is found so", "3 functions by the profile, 0 stale, 0 not in it" in said, said)
    done = run([exe])
    check("same output", (done.returncode, done.stdout) == expected, done.stdout)


def counted_again(args, folder):
    """A build by a profile that counts too: of the code as it then is."""
    source = os.path.join(PROGRAMS, "control_flow.c")
    exe, profile, again = (os.path.join(folder, n) for n in ("c", "c.prof", "again.prof"))
    build(args, source, exe, "--fp-at=early")
    expected = trained(exe, profile)
    said = build(args, source, exe, "--fp-use=" + profile, "--fp-mode=check", "--fp-at=early", "--fp-eager-copies")
    check("nothing is stale when it counts too", said == "", said)
    check("same output", trained(exe, again) == expected)
    done = run([os.path.join(args.bin, "footpath"), "verify", again])
    check("its paths are its edges", done.returncode == 0, done.stdout + done.stderr)


def copies(args, folder):
    """A switch gets copies for the ways to it; a branch that the path decides goes."""
    source = os.path.join(HERE, "interpreter.c")
    exe, profile = (os.path.join(folder, n) for n in ("copies", "copies.prof"))
    build(args, source, exe, "--fp-at=early", "--fp-inline=small", "--fp-cuts=few")
    expected = trained(exe, profile)
    said = build(args, source, exe, "--fp-use=" + profile, "--fp-remarks", "-gline-tables-only")
    ways = re.search(r": run: copied: the switch in line 13, .* for (\d+) ways to it; it goes 8 ways", said)
    check("the switch is copied", ways and int(ways.group(1)) >= 6, said)
    ways = re.search(r": step: copied: the switch in line \d+, .* for (\d+) ways to it; it goes 8 ways", said)
    check("the switch with a step is copied", ways and int(ways.group(1)) >= 6, said)
    folded = re.search(r": look: copied: .* up to line 68, depend on it \(.* (\d+) branches", said)
    check("the flag is followed", folded and int(folded.group(1)) > 20000, said)
    done = run([exe])
    check("same output with copies", (done.returncode, done.stdout) == expected, done.stdout)
    said = build(args, source, exe, "--fp-use=" + profile, "--fp-remarks", "--fp-paths=no")
    check("no copies by edges", " 0 copies" in said and "copied:" not in said, said)


def values(args, folder):
    """Frequent targets are called directly, frequent sizes fixed; the paths are counted as ever."""
    source, exe, text, profile, plain = (os.path.join(folder, n) for n in ("v.c", "v", "v.ll", "v.prof", "plain.prof"))
    with open(source, "w") as f:
        f.write(VALUES)
    show = lambda p: json.loads(run([os.path.join(args.bin, "footpath"), "show", "--json", "--top", "0", p]).stdout)["functions"]
    counts = lambda p: [(f["name"], f.get("executions"), [(q["id"], q["count"]) for q in f.get("paths", [])]) for f in show(p)]
    build(args, source, exe, "--fp-at=early")
    expected = trained(exe, plain)
    without = counts(plain)
    build(args, source, exe, "--fp-at=early", "--fp-values")
    check("same output when values are counted", trained(exe, profile) == expected)
    trained(exe, profile)
    run([exe], env=dict(os.environ, FOOTPATH_OUT=profile))  # elsewhere in memory, the same targets
    check("paths beside values", len(without) >= 5 and [(n, [(i, 2 * c) for i, c in p]) for n, _, p in without] ==
          [(n, p) for n, _, p in counts(profile)], counts(profile))
    said = build(args, source, text, "--fp-use=" + profile, "--fp-remarks", "-S", "-emit-llvm")
    check("both calls are known", " 2 calls by their values" in said, said)
    with open(text) as f:
        ir = f.read()
    check("the frequent target is asked for", re.search(r"icmp eq .* @often\b", ir) and not re.search(r"icmp eq .* @labs\b", ir))
    check("with its counts", re.search(r'"branch_weights", (i32 16000, i32 4000|i32 4000, i32 16000)\}', ir))
    check("the frequent size is fixed", re.search(r"memcpy.*i64 16, i1 false", ir) or "load <2 x i64>" in ir or "load i128" in ir)
    build(args, source, exe, "--fp-use=" + profile)
    done = run([exe])
    check("same output by values", (done.returncode, done.stdout) == expected, done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        for name in ("control_flow.c", "exceptions.cc", "many_paths.c"):
            same_program(args, folder, os.path.join(PROGRAMS, name))
            same_program(args, folder, os.path.join(PROGRAMS, name), "--fp-inline=small")
        metadata(args, folder)
        inlined_before(args, folder)
        counted_again(args, folder)
        copies(args, folder)
        values(args, folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
