#!/usr/bin/env python3
"""export --format llvm-profdata: what clang -fprofile-generate would have counted.

    profdata.py --bin BUILD/bin --llvm 19

Programs are built twice, by footpath-cc --fp-at=pgo and by clang -fprofile-generate, and run. llvm-profdata must see the same
functions, hashes, counters and values in both profiles, and clang must make the same program from both.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import PROGRAMS, equal, expect  # noqa: E402

# selects, parallel ways of a switch, a loop, calls through pointers, copies of several sizes
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int pick(int a, int b) { return a > b ? a : b; }
static int add(int a, int b) { return a + b; }
static int (*const both[2])(int, int) = {pick, add};
int choose(int x)
{
    switch (x) {
    case 1: case 5: return 3;
    case 2: return 4;
    case 7: case 9: case 11: return 3;
    default: return x;
    }
}
int main(int argc, char **argv)
{
    long s = 0;
    int n = argc > 1 ? atoi(argv[1]) : 5000;
    char from[100], to[100] = "";
    memset(from, 1, sizeof from);
    for (int i = 0; i < n; i++) {
        s += pick(i & 7, i % 5) + choose(i % 13);
        for (int k = 0; k < (i & 3); k++) s ^= k;
        s += both[i % 3 == 0](i, 3);
        memcpy(to, from, (size_t)(i % 4) * 13);
        s += to[0];
    }
    printf("%ld\\n", s);
    return 0;
}
"""
CXX = """
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct A { virtual int f(int x) { return x; } virtual ~A() {} };
struct B : A { ~B() override; int f(int x) override { if (x % 7 == 0) throw std::runtime_error("seven"); return x * 2; } };
B::~B() { std::puts("~B"); } // two names, by one of which it is called
int main()
{
    long s = 0;
    std::vector<A *> v{new A, new B, new B};
    std::map<int, std::string> m;
    for (int i = 0; i < 5000; i++) {
        try { s += v[i % 3]->f(i); m[i % 17] += 'x'; }
        catch (const std::exception &e) { s ^= 5; }
    }
    for (A *a : v) a->~A();
    for (auto &p : m) s += (long)p.second.size();
    std::printf("%ld\\n", s);
}
"""
THREADS = """
#include <pthread.h>
static long kept[8];
static void *work(void *at)
{
    long s = 0;
    for (int i = 0; i < 100000; i++) if (i % 3) s += i; else s ^= i;
    *(long *)at = s;
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&threads[i], NULL, work, &kept[i]);
        if (argc > 1) pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 8 && argc == 1; i++) pthread_join(threads[i], NULL);
    return kept[0] != kept[7];
}
"""

# targets of a computed goto that other ways lead to as well
GOTO = """
#include <stdio.h>
static const unsigned char code[] = {0, 1, 2, 1, 0, 3, 1, 2, 4};
int main(void)
{
    static void *const to[] = {&&add, &&twice, &&back, &&skip, &&end};
    long s = 1, rounds = 0;
    const unsigned char *at = code;
next:
    if (s % 5 == 3) goto twice;
    goto *to[*at];
add: s += 7; at++; goto next;
twice: s *= 2; at++; if (s > 1000) s %= 91; if (at - code > 7) goto end; goto *to[*at];
back: if (rounds++ < 2000) { at = code; goto add; } at++; goto next;
skip: at++; if (s & 1) goto add; goto *to[*at];
end:
    if (rounds++ < 4000) { at = code; goto next; }
    printf("%ld\\n", s);
    return 0;
}
"""


def read_profile(text):
    """{function: lines about it, sorted}, and the totals, of what `llvm-profdata show` prints."""
    functions, totals, name = {}, [], None
    for line in text.splitlines():
        if re.match(r"  \S.*:$", line):
            name = line.strip()[:-1]
            functions.setdefault(name, [])  # there may be copies of other shapes, each with a hash
        elif name and (line.startswith("    ") or line.startswith("\t")):
            functions[name].append(line.strip())
        elif line.strip():
            name = None
            totals.append(line.strip())
    return {n: sorted(lines) for n, lines in functions.items() if any(l.startswith("Hash") for l in lines)}, totals


class Profdata(harness.Bench):
    def clang(self, cxx):
        return ("clang++-" if cxx else "clang-") + self.args.llvm

    def show(self, name):
        return read_profile(self.run("llvm-profdata-" + self.args.llvm, "show", "--all-functions", "--counts", "--ic-targets",
                                     "--memop-sizes", name).stdout)

    def train(self, words, arguments=(), cxx=False, status=0, flags=()):
        """Both profiles: ours.profdata and clang.profdata."""
        for old in ("ours.prof", "clang.profraw"):
            if os.path.exists(self.path(old)):
                os.remove(self.path(old))
        harness.needs("llvm-profdata-" + self.args.llvm)
        driver = "footpath-c++" if cxx else "footpath-cc"
        self.run(self.bin(driver), "--fp-llvm=" + self.args.llvm, "--fp-at=pgo", "--fp-values", *flags, *words, "-o", "ours", silent=True)
        self.run(self.clang(cxx), "-fprofile-generate", *words, "-o", "clangs")
        ours = self.run(self.path("ours"), *arguments, status=status, env={"FOOTPATH_OUT": "ours.prof"})
        clangs = self.run(self.path("clangs"), *arguments, status=status, env={"LLVM_PROFILE_FILE": "clang.profraw"})
        equal(ours.stdout, clangs.stdout, "the program does the same")
        self.tool("export", "--format", "llvm-profdata", "ours.prof", "-o", "ours.profdata", silent=True)
        self.run("llvm-profdata-" + self.args.llvm, "merge", "clang.profraw", "-o", "clang.profdata")

    def same_profile(self):
        (ours, our_totals), (clangs, clang_totals) = self.show("ours.profdata"), self.show("clang.profdata")
        equal(sorted(ours), sorted(clangs), "functions")
        for name in sorted(ours):
            equal(ours[name], clangs[name], name)
        equal(our_totals, clang_totals, "totals")
        expect(len(ours) > 1, "functions in the profile", ours)

    def same_program(self, words, cxx=False):
        for name in ("ours", "clang"):
            self.run(self.clang(cxx), "-fprofile-use=%s.profdata" % name, "-Wprofile-instr-unprofiled", "-Wprofile-instr-out-of-date",
                     "-Wbackend-plugin", *words, "-o", "used", silent=True)
            os.rename(self.path("used"), self.path(name + ".used"))
        expect(self.read("ours.used") == self.read("clang.used"), "clang makes the same program of both profiles")


def check(b, words, cxx=False, **how):
    b.train(words, cxx=cxx, **how)
    b.same_profile()
    b.same_program(words, cxx)


def case_c(b):
    """At every level: where clang counts depends on it."""
    b.write("a.c", SOURCE)
    for level in ("-O2", "-O0", "-O1", "-Os"):
        check(b, [level, "a.c"])


def case_cxx(b):
    """Virtual calls, exceptions, templates that other libraries have."""
    b.write("a.cc", CXX)
    for level in ("-O2", "-O0"):
        check(b, [level, "a.cc"], cxx=True)


def case_goto(b):
    """LLVM splits the targets of computed gotos before it counts."""
    b.write("a.c", GOTO)
    b.write("b.c", "int unused(int a) { return a ? 3 : 4; }")
    for level in ("-O2", "-O0"):
        check(b, [level, "a.c", "b.c"])


def case_modules(b):
    """Static functions of one name in two files, and debug information."""
    b.write("a.c", SOURCE)
    b.write("b.c", SOURCE.replace("main", "other").replace("choose", "chosen"))
    check(b, ["-O2", "-g", "a.c", "b.c"])


def case_exit(b):
    """Frames that never return were entered all the same: with --fp-exits, or where each edge is counted."""
    source = os.path.join(PROGRAMS, "exit_deep.c")
    for flag in ("--fp-exits", "--fp-mode=edge"):
        check(b, ["-O2", source], status=3, flags=[flag])


def case_modes(b):
    """Whatever is counted, the counters are clang's."""
    b.write("a.c", SOURCE)
    for mode in ("edge", "edge-min", "check"):
        b.train(["-O2", "a.c"])
        b.run(b.bin("footpath-cc"), "--fp-llvm=" + b.args.llvm, "--fp-at=pgo", "--fp-mode=" + mode, "-O2", "a.c", "-o", "ours", silent=True)
        b.run(b.path("ours"), env={"FOOTPATH_OUT": mode + ".prof"})
        b.tool("export", "--format", "llvm-profdata", mode + ".prof", "-o", "ours.profdata", silent=True)
        ours, clangs = b.show("ours.profdata")[0], b.show("clang.profdata")[0]
        for name in clangs:
            counters = lambda lines: [l for l in lines if l.startswith(("Hash", "Counters", "Function count", "Block counts"))]
            equal(counters(ours[name]), counters(clangs[name]), "%s: %s" % (mode, name))


VALUES = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static __thread volatile long sum;
#define TARGET(n) __attribute__((noinline)) static void add##n(void) { sum += n; }
TARGET(1) TARGET(2) TARGET(3) TARGET(4) TARGET(5)
static void (*const all[])(void) = {add1, add2, add3, add4, add5};
__attribute__((noinline)) static void call(void (*f)(void)) { f(); }
static void *work(void *unused) {
  for (int i = 0; i < 100000; i++) call(all[i % 5]);
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  if (fork() == 0) return work(0) != 0; /* with what its parent has counted up to here, once */
  return wait(0) < 0;
}
"""


def case_values_of_threads(b):
    """A call whose target changes each time, in four threads at once, then in a child: each of the five has its 100,000."""
    b.write("v.c", VALUES)
    for how in ([], ["--fp-threads=atomic"]):
        b.run(b.bin("footpath-cc"), "--fp-llvm=" + b.args.llvm, "--fp-at=pgo", "--fp-values", *how, "-O2", "-pthread", "v.c", "-o", "v",
              silent=True)
        if os.path.exists(b.path("v.prof")):
            os.remove(b.path("v.prof"))
        b.run(b.path("v"), env={"FOOTPATH_OUT": "v.prof"})
        b.tool("export", "--format", "llvm-profdata", "v.prof", "-o", "v.profdata", silent=True)
        said = b.run("llvm-profdata-" + b.args.llvm, "show", "--all-functions", "--ic-targets", "v.profdata").stdout
        found = sorted((n, int(c)) for n, c in re.findall(r"\[ *\d+, *(?:\S+[:;])?(add\d), *(\d+) ", said))
        equal(found, [("add%d" % n, 100000) for n in range(1, 6)], "targets %s" % how)


def case_threads(b):
    """Ours are exact with threads at once. clang's are where threads run one after the other: its counters lose updates, in LLVM 14
    with -fprofile-update=atomic, too."""
    b.write("a.c", THREADS)
    b.train(["-O2", "-pthread", "a.c"])
    b.run(b.path("clangs"), "one-by-one", env={"LLVM_PROFILE_FILE": "clang.profraw"})
    b.run("llvm-profdata-" + b.args.llvm, "merge", "clang.profraw", "-o", "clang.profdata")
    ours, clangs = b.show("ours.profdata")[0], b.show("clang.profdata")[0]
    name = [n for n in ours if n.endswith("work")][0]
    equal(ours[name], clangs[name], "counters of 8 threads")
    counts = [l for l in ours[name] if l.startswith("Block counts")][0]
    expect(" 8," in counts or "[8," in counts, "8 calls", counts)


def case_sum(b):
    """A profile of several runs has the sums."""
    b.write("a.c", SOURCE)
    b.train(["-O2", "a.c"])
    b.run(b.path("ours"), "777", env={"FOOTPATH_OUT": "ours.prof"})
    b.tool("export", "--format", "llvm-profdata", "ours.prof", "-o", "ours.profdata", silent=True)
    os.rename(b.path("clang.profraw"), b.path("first.profraw"))
    b.run(b.path("clangs"), "777", env={"LLVM_PROFILE_FILE": "clang.profraw"})
    b.run("llvm-profdata-" + b.args.llvm, "merge", "first.profraw", "clang.profraw", "-o", "clang.profdata")
    b.same_profile()


def case_refused(b):
    """A profile of another point of the pipeline has no such counters."""
    b.write("a.c", SOURCE)
    b.run(b.bin("footpath-cc"), "--fp-llvm=" + b.args.llvm, "-O2", "a.c", "-o", "late")
    b.run(b.path("late"))
    said = b.tool("export", "--format", "llvm-profdata", "-o", "none.profdata", status=1).stderr
    expect("--fp-at=pgo" in said, "what to do", said)
    expect(not os.path.exists(b.path("none.profdata")), "no file", "")


if __name__ == "__main__":
    harness.main(__doc__, bench=Profdata)
