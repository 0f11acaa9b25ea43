#!/usr/bin/env python3
"""Functions with the same name and the same shape: each has its own counters.

    twins.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Two functions that are alike in name and cfg may still be counted at other places, since the compiler
expects other ways of them to be hot. So their counts must never go into the same counters.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

# the ends of rounds are expected to be where EXPECTED says; TAKEN and ADDED are no part of the cfg
LOOP = """
int other(int);
%(head)s
{
    int s = 0, i = 0;
    do {
        if (a[i] > TAKEN) s += other(i);
        else s ^= other(i + ADDED);
    } while (__builtin_expect(++i < n, EXPECTED));
    return s;
}
"""
MAIN = """
#include <stdio.h>
%(head)s
__attribute__((noinline)) int other(int x) { return x * 3; }
int main(void)
{
    int a[100];
    for (int i = 0; i < 100; i++) a[i] = i %% 7;
    printf("%%d\\n", %(call)s);
}
"""
MODES = ("path", "edge", "edge-min", "check")


def loop(head, expected=1, taken=4, added=2):
    text = LOOP % {"head": head}
    return text.replace("EXPECTED", str(expected)).replace("TAKEN", str(taken)).replace("ADDED", str(added))


def counted(b, *sources):
    """Programs of all modes, run; sources: words, or lists of words for an object of its own."""
    for mode in MODES:
        words = []
        for i, source in enumerate(sources):
            if isinstance(source, list):
                b.cc("--fp-mode=" + mode, "-O2", "-c", *source, "-o", "%d.o" % i)
            words.append("%d.o" % i if isinstance(source, list) else source)
        b.cc("--fp-mode=" + mode, "-O2", *words, "-o", mode)
        b.profile(mode, mode + ".prof")


def agree(b):
    """All modes count the same."""
    b.verify("check.prof")
    b.verify("path.prof", "edge.prof")
    b.verify("path.prof", "edge-min.prof")


def rounds(b, name):
    """Of each function of that name that ran: its file, and how often its paths were taken."""
    functions = b.json("show", "--json", "--top", "0", "path.prof")["functions"]
    found = [(os.path.basename(f["file"]), sum(p["count"] for p in f["paths"])) for f in functions if f["name"] == name]
    return sorted(one for one in found if one[1])


def case_weak(b):
    """a weak function, and the one of another file that replaces it"""
    b.write("weak.c", loop("__attribute__((weak)) int hook(const int *a, int n)", expected=0))
    b.write("strong.c", loop("int hook(const int *a, int n)", taken=5, added=3))
    b.write("main.c", MAIN % {"head": "int hook(const int *, int);", "call": "hook(a, 100)"})
    counted(b, "main.c", "weak.c", "strong.c")
    agree(b)
    equal(rounds(b, "hook"), [("strong.c", 100)], "the function that ran")


def case_one_source_twice(b):
    """a file that is compiled twice and gives the program a structure of pointers to its functions"""
    b.write("parts.c", "struct ops { int (*f)(const int *, int); };\n" + loop("static int work(const int *a, int n)", expected="LIKELY") +
            "const struct ops OPS = {work};\n")
    b.write("main.c", MAIN % {"head": "struct ops { int (*f)(const int *, int); };\nextern const struct ops ops_a, ops_b;",
                              "call": "ops_a.f(a, 100) + ops_b.f(a, 60)"})
    counted(b, ["parts.c", "-DOPS=ops_a", "-DLIKELY=0"], ["parts.c", "-DOPS=ops_b", "-DLIKELY=1"], "main.c")
    agree(b)
    equal(rounds(b, "work"), [("parts.c", 60), ("parts.c", 100)], "the two functions")


def case_header(b):
    """a static function of a header that two files have out of line"""
    b.write("work.h", loop("__attribute__((noinline)) static int work(const int *a, int n)"))
    b.write("part.c", '#include "work.h"\nint part(const int *a, int n) { return work(a, n); }\n')
    b.write("main.c", MAIN % {"head": '#include "work.h"\nint part(const int *, int);', "call": "part(a, 100) + work(a, 50)"})
    counted(b, "main.c", "part.c")
    agree(b)
    equal(rounds(b, "work"), [("work.h", 50), ("work.h", 100)], "the two functions")
    again = b.profile("path", "again.prof")
    said = b.tool("diff", "path.prof", again).stdout
    expect("; 0 changed" in said, "two runs of one build are the same:", said)


if __name__ == "__main__":
    harness.main(__doc__)
