#!/usr/bin/env python3
"""--fp-use: programs built by their profile do what they did before.

    used.py --bin BUILD/bin --llvm 19

Each scenario program is counted early, run, and built by its profile: same output and
status, weights and a summary in the code. A profile of an edited source is used where
it fits, and it is said how much changed (stale.py has more of that).
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import PROGRAMS, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))

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
# prints how often the loop goes round, in calls of its own and in those of a handler that interrupts them
HANDLER = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
enum { LONG = 100000, SHORT = 100, TICKS = 200 };
static volatile long ticks;
static volatile unsigned result;
__attribute__((noinline)) static unsigned work(unsigned rounds, unsigned x) {
  unsigned sum = 0;
  for (unsigned i = 0; i < rounds; i++) {
    x = x * 1103515245u + 12345u; /* each round */
    if (x >> 16 & 1) sum += x; else sum ^= x >> 3;
  }
  return sum;
}
static void on_tick(int number) { ticks += number > 0; result = work(SHORT, 1); }
int main(void) {
  struct itimerval timer = {{0, 300}, {0, 300}};
  long calls = 0;
  signal(SIGALRM, on_tick);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (; ticks < TICKS; calls++) result = work(LONG, (unsigned)calls);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  printf("%ld\\n", calls * LONG + ticks * SHORT);
  return 0;
}
"""


def build(b, source, out, *flags):
    """What the compiler said."""
    return b.cc(*flags, "-O2", "-w", source, "-o", out).stderr


def trained(b, exe, profile):
    """Status and output of a run, with a fresh profile."""
    if os.path.exists(profile):
        os.unlink(profile)
    done = b.run(exe, env={"FOOTPATH_OUT": profile}, status=None)
    return done.returncode, done.stdout


def same(b, exe, expected, what):
    done = b.run(exe, status=None)
    expect((done.returncode, done.stdout) == expected, what, done.stdout)


def same_program(b, source, *how):
    counted, used, profile = map(b.path, ("counted", "used", "use.prof"))
    build(b, source, counted, "--fp-at=early", *how)
    expected = trained(b, counted, profile)
    said = build(b, source, used, "--fp-use=" + profile)
    expect(said == "", "nothing is stale in " + os.path.basename(source), said)
    same(b, used, expected, "same output of " + os.path.basename(source))
    expect(b"footpath_cnt" not in open(used, "rb").read(), "it does not count")


def case_metadata(b):
    source, exe, profile, text = map(b.path, ("e.c", "e", "e.prof", "e.ll"))
    with open(source, "w") as f:
        f.write(SOURCE % "s += i;")
    build(b, source, exe, "--fp-at=early")
    trained(b, exe, profile)
    build(b, source, text, "--fp-use=" + profile, "-S", "-emit-llvm")
    with open(text) as f:
        ir = f.read()
    expect('"ProfileSummary"' in ir and '"InstrProf"' in ir, "summary")
    expect('!"function_entry_count", i64 1000}' in ir, "entry count")
    expect('!"function_entry_count", i64 0}' in ir and " cold " in ir, "never is cold")
    expect('!"branch_weights"' in ir, "branch weights")
    with open(source, "w") as f:
        f.write(SOURCE % "if (i % 3) putchar('x'); s += i;")
    said = build(b, source, exe, "--fp-use=" + profile)
    expect("1 of 4 functions changed" in said and "of their counts found a place" in said, "that it changed is said", said)
    b.run(exe)


def case_inlined_before(b):
    """Counts of what is inlined first are each caller's own; the profile says that it was so."""
    source, exe, profile = map(b.path, ("i.c", "i", "i.prof"))
    with open(source, "w") as f:
        f.write(CALLERS)
    build(b, source, exe, "--fp-at=early", "--fp-inline=small")
    expected = trained(b, exe, profile)
    shown = b.json("show", "--json", profile)
    executed = {f["name"]: f["executed_paths"] for f in shown["functions"] if "paths" in f}
    expect(executed.get("up") == executed.get("down") == 1 and "sign" not in executed, "sign is in its callers", executed)
    said = build(b, source, exe, "--fp-use=" + profile, "--fp-remarks")
    expect("3 functions by the profile, 0 stale, 0 not in it" in said, "it is found so", said)
    same(b, exe, expected, "same output")


def case_counted_again(b):
    """A build by a profile that counts too: of the code as it then is."""
    source = os.path.join(PROGRAMS, "control_flow.c")
    exe, profile, again = map(b.path, ("c", "c.prof", "again.prof"))
    build(b, source, exe, "--fp-at=early")
    expected = trained(b, exe, profile)
    said = build(b, source, exe, "--fp-use=" + profile, "--fp-mode=check", "--fp-at=early", "--fp-eager-copies")
    expect(said == "", "nothing is stale when it counts too", said)
    expect(trained(b, exe, again) == expected, "same output")
    b.verify(again)


def case_copies(b):
    """A switch gets copies for the ways to it; a branch that the path decides goes."""
    source = os.path.join(HERE, "interpreter.c")
    exe, profile = map(b.path, ("copies", "copies.prof"))
    build(b, source, exe, "--fp-at=early", "--fp-inline=small", "--fp-cuts=few")
    expected = trained(b, exe, profile)
    said = build(b, source, exe, "--fp-use=" + profile, "--fp-remarks", "-gline-tables-only")
    ways = re.search(r": run: copied: the switch in line 13, .* for (\d+) ways to it; it goes 8 ways", said)
    expect(ways and int(ways.group(1)) >= 6, "the switch is copied", said)
    ways = re.search(r": step: copied: the switch in line \d+, .* for (\d+) ways to it; it goes 8 ways", said)
    expect(ways and int(ways.group(1)) >= 6, "the switch with a step is copied", said)
    folded = re.search(r": look: copied: .* up to line 68, depend on it \(.* (\d+) branches", said)
    expect(folded and int(folded.group(1)) > 20000, "the flag is followed", said)
    same(b, exe, expected, "same output with copies")
    said = build(b, source, exe, "--fp-use=" + profile, "--fp-remarks", "--fp-paths=no")
    expect(" 0 copies" in said and "copied:" not in said, "no copies by edges", said)


def case_values(b):
    """Frequent targets are called directly, frequent sizes fixed; the paths are counted as ever."""
    source, exe, text, profile, plain = map(b.path, ("v.c", "v", "v.ll", "v.prof", "plain.prof"))
    with open(source, "w") as f:
        f.write(VALUES)
    show = lambda p: b.json("show", "--json", "--top", "0", p)["functions"]
    counts = lambda p: [(f["name"], f.get("executions"), [(q["id"], q["count"]) for q in f.get("paths", [])]) for f in show(p)]
    build(b, source, exe, "--fp-at=early")
    expected = trained(b, exe, plain)
    without = counts(plain)
    build(b, source, exe, "--fp-at=early", "--fp-values")
    expect(trained(b, exe, profile) == expected, "same output when values are counted")
    trained(b, exe, profile)
    b.run(exe, env={"FOOTPATH_OUT": profile}, status=None)  # elsewhere in memory, the same targets
    expect(len(without) >= 5 and [(n, [(i, 2 * c) for i, c in p]) for n, _, p in without] ==
          [(n, p) for n, _, p in counts(profile)], "paths beside values", counts(profile))
    said = build(b, source, text, "--fp-use=" + profile, "--fp-remarks", "-S", "-emit-llvm")
    expect(" 2 calls by their values" in said, "both calls are known", said)
    with open(text) as f:
        ir = f.read()
    expect(re.search(r"icmp eq .* @often\b", ir) and not re.search(r"icmp eq .* @labs\b", ir), "the frequent target is asked for")
    expect(re.search(r'"branch_weights", (i32 16000, i32 4000|i32 4000, i32 16000)\}', ir), "with its counts")
    expect(re.search(r"memcpy.*i64 16, i1 false", ir) or "load <2 x i64>" in ir or "load i128" in ir, "the frequent size is fixed")
    build(b, source, exe, "--fp-use=" + profile)
    same(b, exe, expected, "same output by values")


def case_values_of_destructors(b):
    """A destructor has two names: one by which it is called, and one by which the compiler knows its code."""
    source, exe, profile, text = map(b.path, ("d.cc", "d", "d.prof", "d.ll"))
    with open(source, "w") as f:
        f.write("""
            struct A { virtual ~A(); };
            struct B : A { ~B() override; };
            volatile int sink;
            A::~A() { sink += 1; }
            B::~B() { sink += 2; }
            __attribute__((noinline)) static void end(A *a) { a->~A(); }
            int main() {
                for (int i = 0; i < 1000; i++) { alignas(B) char room[sizeof(B)]; end(new ((void *)room) B); }
                return 0; }""".replace("struct A", "#include <new>\n            struct A", 1))
    build(b, source, exe, "--fp-at=early", "--fp-values")
    trained(b, exe, profile)
    said = build(b, source, text, "--fp-use=" + profile, "--fp-remarks", "-S", "-emit-llvm")
    expect(" 1 calls by their values" in said, "the call is known", said)
    with open(text) as f:
        expect(re.search(r"icmp eq .* @_ZN1BD2Ev\b", f.read()), "the frequent target is asked for")


def case_values_beside_edges(b):
    """Edges and values say as much of calls as paths and values do: the same code is made of both."""
    source, exe, profile = map(b.path, ("e.c", "e", "e.prof"))
    with open(source, "w") as f:
        f.write(VALUES)
    texts = []
    for mode in ("path", "edge", "edge-min"):
        build(b, source, exe, "--fp-at=early", "--fp-values", "--fp-mode=" + mode)
        if os.path.exists(profile):
            os.remove(profile)
        expected = trained(b, exe, profile)
        text = b.path(mode + ".ll")
        said = build(b, source, text, "--fp-use=" + profile, "--fp-remarks", "--fp-paths=no", "-S", "-emit-llvm")
        expect(" 2 calls by their values" in said, mode + ": both calls are known", said)
        with open(text) as f:
            texts.append(f.read())
    expect(texts[0] == texts[1] == texts[2] and "@often" in texts[0], "the same code")
    build(b, source, exe, "--fp-use=" + profile)
    same(b, exe, expected, "same output by edges and values")


def case_handler_in_a_loop(b):
    """The optimiser must not keep a loop's counter in a register: it would put back what was there before the handler counted."""
    source, exe, profile, lines = map(b.path, ("h.c", "h", "h.prof", "h.lcov"))
    with open(source, "w") as f:
        f.write(HANDLER)
    number = 1 + HANDLER.splitlines().index([l for l in HANDLER.splitlines() if "each round" in l][0])
    for how in ([], ["--fp-mode=edge-min"], ["--fp-mode=edge"], ["--fp-threads=shared"]):
        build(b, source, exe, "-g", "--fp-at=early", *how)
        rounds = trained(b, exe, profile)[1].strip()
        b.tool("export", "--format", "lcov", profile, "-o", lines)
        with open(lines) as f:
            expect("DA:%d,%s\n" % (number, rounds) in f.read(), "all rounds are counted %s" % how, rounds)


for name in ("control_flow.c", "exceptions.cc", "many_paths.c"):
    for kind, how in (("", []), ("_inlined", ["--fp-inline=small"])):
        globals()["case_%s%s" % (name.split(".")[0], kind)] = \
            lambda b, name=name, how=how: same_program(b, os.path.join(PROGRAMS, name), *how)

if __name__ == "__main__":
    harness.main(__doc__)
