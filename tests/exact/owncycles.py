#!/usr/bin/env python3
"""--fp-metric=cycles: each cycle of a thread is charged to one path.

    owncycles.py --bin BUILD/bin [--llvm 19] [--case NAME]...

A program reads the clock around a call that works by recursion, exceptions, longjmp and a library,
inside that call and outside of it, in a function without counters. The cycles of all paths of the
functions below must lie between the two, whatever else the machine does.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

LIBRARY = "extern \"C\" long work(int n) { long s = 0; for (int i = 0; i < n; i++) if (i * s % 3) s += i; else s ^= n; return s; }\n"
SOURCE = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <x86intrin.h>
extern "C" long work(int n);
#define APART __attribute__((noinline))
static thread_local unsigned long inner, outer;
static thread_local jmp_buf back;
static volatile long sink;
APART static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART static void thrower(int n) { if (n == 0) throw 1; thrower(n - 1); sink = work(n); }
APART static void jumper(int n) { sink = work(10 * n); if (n == 0) longjmp(back, 1); jumper(n - 1); sink++; }
APART static void middle(int n) { if (n & 1) sink = work(1000); else sink = work(900); }
APART static void catches(int n) { try { thrower(n); } catch (int) { sink++; } }
APART static void jumps(int n) { if (!setjmp(back)) jumper(n); else sink++; }
APART static void handler(int) { sink = work(50); }
APART static void root(void)
{
    unsigned long start = __rdtsc();
    for (int i = 0; i < 300; i++) {
        middle(i);
        if (i % 10 == 0) { catches(i / 10); jumps(i / 10); raise(SIGUSR1); }
    }
    sink = fib(15);
    inner += __rdtsc() - start;
}
APART void uncounted(void) { unsigned long start = __rdtsc(); root(); outer += __rdtsc() - start; }
static unsigned long all_inner, all_outer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *thread(void *) { uncounted(); uncounted(); pthread_mutex_lock(&lock); all_inner += inner, all_outer += outer; pthread_mutex_unlock(&lock); return 0; }
int main(int argc, char **)
{
    pthread_t other[3];
    signal(SIGUSR1, handler);
    for (int i = 1; i < argc; i++) pthread_create(&other[i - 1], 0, thread, 0);
    thread(0);
    for (int i = 1; i < argc; i++) pthread_join(other[i - 1], 0);
    printf("%lu %lu\n", all_inner, all_outer);
    return 0;
}
"""
BELOW = ("fib", "thrower", "jumper", "middle", "catches", "jumps", "handler", "root", "work")


def build(b, level, *words):
    b.write("lib.cc", LIBRARY)
    b.write("prog.cc", SOURCE)
    flags = (level, "-w", "--fp-deny=uncounted,thread", *words)
    b.cc("-fPIC", "-shared", "lib.cc", "-o", "libwork.so", *flags)
    b.cc("prog.cc", b.path("libwork.so"), "-o", "prog", "-pthread", *flags)


def measured(b, *words):
    """Cycles by function, and the bounds."""
    b.write("out.prof", "")
    os.unlink(b.path("out.prof"))
    least, most = map(int, b.run(b.path("prog"), *words, env={"FOOTPATH_OUT": b.path("out.prof")}).stdout.split())
    shown = b.json("show", "--json", "out.prof")
    took = {f["name"].split("(")[0]: sum(p.get("cycles", 0) for p in f.get("paths", [])) for f in shown["functions"]}
    return shown["cost_unit"], took, least, most


def check(b, level, *words):
    build(b, level, "--fp-metric=cycles", *words)
    for threads in ((), ("x", "y")):
        unit, took, least, most = measured(b, *threads)
        equal(unit, "cycles", "unit")
        expect(all(took.get(name) for name in BELOW), "every function took some: %s" % took)
        total = sum(cycles for name, cycles in took.items() if name != "main")
        expect(least <= total <= most, "%s: %d cycles below root, between %d and %d: %s" % (threads, total, least, most, took))


def case_inclusive(b):
    """With callees: root has everything, and the shares are of the greatest."""
    build(b, "-O2", "--fp-metric=inclusive-cycles")
    unit, took, least, most = measured(b)
    equal(unit, "inclusive-cycles", "unit")
    expect(least <= took["root"] <= most, "root with all its callees: %s" % took)
    expect(took["middle"] <= took["root"], "a callee is within its caller")
    first = b.tool("show", "--functions", "out.prof").stdout.splitlines()[3]
    expect(first.split()[0] == "100.0%", "the greatest is the whole: " + first)


def interpreter(ways, branches):
    """With computed gotos, and so many paths that some of them end on the edges out of the gotos."""
    text = ["unsigned g; void out(unsigned x) { g ^= x; }", "#define I(k) if (x & (1u << k)) out(k); else g += x * k;",
            "__attribute__((noinline)) unsigned run(const unsigned char *p, unsigned x)", "{",
            "    static void *const to[] = {%s, &&end};" % ", ".join("&&l%d" % i for i in range(ways)), "    goto *to[*p++];"]
    text += ["l%d: %s x += %d; goto *to[*p++];" % (i, " ".join("I(%d)" % k for k in range(branches)), i) for i in range(ways)]
    text += ["end: return x;", "}", "int main(void)", "{", "    unsigned char code[4000];",
             "    for (unsigned i = 0; i < sizeof code - 1; i++) code[i] = i * 7 %% %d;" % ways,
             "    code[sizeof code - 1] = %d;" % ways, "    return run(code, 5) == 1;", "}", ""]
    return "\n".join(text)


def case_interpreter(b):
    """Paths that end where a computed goto leads to have cycles, and are counted as often as they were taken."""
    b.write("interp.c", interpreter(16, 12))
    for name, words in (("edges", ["--fp-mode=edge"]), ("cycles", ["--fp-metric=cycles"]), ("inclusive", ["--fp-metric=inclusive-cycles"])):
        b.cc("-O1", "-w", *words, "interp.c", "-o", name)
        b.profile(name, name + ".prof")
    for name in ("cycles", "inclusive"):
        b.verify(name + ".prof", "edges.prof")
        shown = b.json("show", "--json", name + ".prof")
        paths = [p for f in shown["functions"] if f["name"] == "run" for p in f["paths"]]
        expect(paths and all(p["cycles"] for p in paths), name + ": every path took some")


CASES = {"O0": ("-O0",), "O2": ("-O2",), "early": ("-O2", "--fp-at=early"), "exits": ("-O1", "--fp-exits"), "atomic": ("-O2", "--fp-threads=atomic")}

if __name__ == "__main__":
    harness.main(__doc__, cases={"inclusive": case_inclusive, "interpreter": case_interpreter, **{n: lambda b, w=w: check(b, *w) for n, w in CASES.items()}})
