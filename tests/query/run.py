#!/usr/bin/env python3
"""A program asks for its own paths while it runs: --fp-query and the queries of footpath/runtime.h.

    run.py --bin BUILD/bin --llvm 19

asks.c checks the answers itself. Here it is built in many ways, and compared with the profile that it writes.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect, likely  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ASKS = os.path.join(HERE, "asks.c")


class Tester(harness.Bench):
    def asks(self, name, *flags):
        self.cc("-O2", "--fp-query", *flags, ASKS, "-o", name, "-lpthread")
        return self.path(name)

    def ask(self, exe, how, **settings):
        return self.run(exe, how, env={"FOOTPATH_OUT": exe + ".prof", **settings})

    def ask_all(self, name, *flags):
        exe = self.asks(name, *flags)
        self.ask(exe, "exact")
        self.ask(exe, "threads")
        self.compare(exe)

    def compare(self, exe):
        """What the program was told is what its profile has."""
        profile = exe + ".print.prof"
        told = self.run(exe, "print", env={"FOOTPATH_OUT": profile}).stdout.split("\n")
        counts = {f["name"]: f.get("paths", []) for f in self.json("show", "--json", profile)["functions"]}
        functions = {name: {(p["id"], p["count"]) for p in paths if p["ends_at"] != "lap"} for name, paths in counts.items()}
        at = 0
        for name in ("three", "rounds", "many"):
            word, n = told[at].split()
            equal(word, name, "order of the answers")
            paths = {tuple(int(x) for x in line.split()) for line in told[at + 1:at + 1 + int(n)]}
            expect(paths, "%s: no paths" % name)
            equal(sorted(paths), sorted(functions[name]), "%s: answers and profile" % name)
            at += 1 + int(n)
        everything = {"%d:%d" % (p["id"], p["count"]) for p in counts["rounds"]}
        equal(set(told[at].split()[1:]), everything, "rounds: paths and laps, one by one")


def case_levels(b):
    """Arrays and tables, in one thread and in several, at all levels."""
    for level in ("-O0", "-O1", "-O3", "-Os"):
        b.ask_all("level" + level, level)


def case_layouts(b):
    """Wherever counters lie: tables alone, hash tables, arrays of counts and cycles."""
    b.ask_all("tables", "--fp-array-paths=0")
    b.ask_all("arrays", "--fp-array-paths=100000")
    b.ask_all("cycles", "--fp-metric=cycles", "--fp-array-paths=100000")
    b.ask_all("values", "--fp-at=early", "--fp-values")


def case_modes(b):
    b.ask_all("early", "--fp-at=early")
    b.ask_all("exits", "--fp-exits")
    b.ask_all("check", "--fp-mode=check")
    atomic = b.asks("atomic", "--fp-threads=atomic")
    b.ask(atomic, "threads")
    b.compare(atomic)
    b.ask_all("paper", "--fp-cuts=paper")
    b.ask_all("loops", "--fp-cuts=loops")
    b.ask_all("copies", "--fp-copies=all")


def case_no_space(b):
    """Where sparse arrays may not be made, levels of hash tables take their place."""
    exe = b.asks("asks")
    for how in ("exact", "threads"):
        b.run("sh", "-c", "ulimit -v 40000000; exec %s %s" % (exe, how), env={"FOOTPATH_OUT": exe + ".prof"})


def case_links(b):
    """The records go where the code goes, with each linker and each form of program."""
    sections = ["-ffunction-sections", "-Wl,--gc-sections"]
    ways = {"plain": [], "nopie": ["-fno-pie", "-no-pie"], "static": ["-static"], "staticpie": ["-static-pie"],
            "gc": sections, "lld": ["-fuse-ld=lld"] + sections, "gold": ["-fuse-ld=gold"] + sections,
            "lto": ["-flto", "-fuse-ld=lld"], "thin": ["-flto=thin", "-fuse-ld=lld"]}
    for name, flags in ways.items():
        if "lld" in " ".join(flags):
            harness.needs("ld.lld-" + b.args.llvm, llvm=b.args.llvm)
            flags = [("--ld-path=ld.lld-" + b.args.llvm) if f == "-fuse-ld=lld" else f for f in flags]
        b.ask_all("link-" + name, *flags)


def samples(b, *flags):
    exe = b.asks("asks", "--fp-mode=pep", *flags)
    done = b.run(exe, "samples", env={"FOOTPATH_OUT": exe + ".prof", "FOOTPATH_TICK_MS": "1"}, status=None)
    expect(done.returncode in (0, 1), "samples: status %d" % done.returncode, done.stderr)
    likely(done.returncode == 0, "the hottest path of each phase, by samples:", done.stdout + done.stderr)


def case_samples_body(b):
    samples(b)


def case_samples_trap(b):
    samples(b, "--fp-pep=trap")


def case_samples_flag(b):
    samples(b, "--fp-pep=flag", "--fp-array-paths=1")


def case_without(b):
    """Without --fp-query nothing of it is in the object or in the program, and the calls are null."""
    equal(b.run(b.bin("footpath-cc"), "--fp-llvm=" + b.args.llvm, "-O2", ASKS, "-o", b.path("none"), "-lpthread").returncode,
          0, "status")
    equal(b.ask(b.path("none"), "exact").stdout, "no queries\n", "with footpath-cc alone")
    defined = b.run("nm", "--defined-only", b.path("none")).stdout
    expect("footpath_query" not in defined, "there is something of queries in the program")
    b.run("clang-" + b.args.llvm, "-w", "-O2", "-idirafter", os.path.join(harness.ROOT, "include"), ASKS, "-o", b.path("plain"),
          "-lpthread")
    equal(b.run(b.path("plain"), "exact").stdout, "no queries\n", "without footpath")


LIBRARY = """
#include <footpath/runtime.h>
int library_step(int n) { if (n & 1) return 1; return n > 10 ? 2 : 3; }
int own(int n) { return n > 3 ? 1 : 2; }
long library_asks(void)
{
    struct footpath_query_mark all = FOOTPATH_QUERY_FROM_START(library_step);
    uint64_t total;
    return footpath_query_hottest(&all, 0, 0, &total) < 0 ? -1 : (long)total;
}
"""

LOADER = """
#include <dlfcn.h>
#include <footpath/runtime.h>
#include <stdio.h>
volatile int sink;
__attribute__((noinline)) int own(int n) { if (n & 1) return sink = 1; return sink = 2; }
static long total_of(const void *function)
{
    struct footpath_query_mark all = FOOTPATH_QUERY_FROM_START(function);
    uint64_t total;
    return footpath_query_hottest(&all, 0, 0, &total) < 0 ? -1 : (long)total;
}
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return puts(dlerror()), 9;
    int (*step)(int) = (int (*)(int))dlsym(library, "library_step");
    int (*theirs)(int) = (int (*)(int))dlsym(library, "own");
    long (*asks)(void) = (long (*)(void))dlsym(library, "library_asks");
    for (int i = 0; i < 100; i++) step(i);
    for (int i = 0; i < 10; i++) own(i + argc);
    for (int i = 0; i < 20; i++) theirs(i);
    printf("%ld %ld %ld %ld\\n", total_of((void *)step), asks(), total_of((void *)own), total_of((void *)theirs));
    dlclose(library);
    printf("%ld %ld\\n", total_of((void *)step), total_of((void *)own));
    return 0;
}
"""


def case_libraries(b):
    """A program asks about a library, and a library about itself; when it is unloaded nothing is known."""
    b.write("library.c", LIBRARY)
    b.write("loader.c", LOADER)
    b.cc("-O1", "--fp-query", "-fPIC", "-shared", b.path("library.c"), "-o", "library.so")
    b.cc("-O1", "--fp-query", b.path("loader.c"), "-o", "loader", "-ldl")
    equal(b.run(b.path("loader"), b.path("library.so"), env={"FOOTPATH_OUT": b.path("l.prof")}).stdout,
          "100 100 10 20\n-1 10\n", "answers")


INLINE = """
#include <footpath/runtime.h>
#include <stdint.h>
extern volatile int sink, other;
__attribute__((noinline)) inline int shared(int n)
{
    if (n % 2) return sink = 1;
    if (n > 5) other = n;
    return 2;
}
struct base { virtual ~base() {} virtual int step(int n) { return n & 1 ? 1 : shared(n); } };
int second(int n);
"""


def case_inline_functions(b):
    """A function that several objects have is one; the address is the same in all."""
    b.write("inline.h", INLINE)
    b.write("a.cc", """#include "inline.h"
#include <stdio.h>
volatile int sink, other;
int main(int argc, char **)
{
    struct footpath_query_mark all = FOOTPATH_QUERY_FROM_START(shared);
    uint64_t total = 0;
    for (int i = 0; i < 30; i++) second(shared(i + argc - 1));
    long n = footpath_query_hottest(&all, 0, 0, &total);
    printf("%ld %lu\\n", n, (unsigned long)total);
}
""")
    b.write("b.cc", '#include "inline.h"\nint second(int n) { return shared(n) + shared(n + 4); }\n')
    for flags in ((), ("-O0",), ("-ffunction-sections", "-Wl,--gc-sections"), ("--fp-at=early",)):
        b.cc("-O1", "--fp-query", *flags, b.path("a.cc"), b.path("b.cc"), "-o", "inline", plus=True)
        equal(b.run(b.path("inline"), env={"FOOTPATH_OUT": b.path("i.prof")}).stdout, "3 90\n", "answers " + " ".join(flags))


def case_shown(b):
    """footpath show --path names the path that a program was told."""
    exe = b.asks("asks")
    profile = exe + ".print.prof"
    told = b.run(exe, "print", env={"FOOTPATH_OUT": profile}).stdout.split("\n")
    for line in told[1:4]:
        path, count = line.split()
        rows = b.tool("show", profile, "--function", "three", "--path", path, "--plain").stdout.splitlines()
        equal([row.split("\t")[1] for row in rows], [count], "path " + path)
        expect("three" in b.tool("show", profile, "--function", "three", "--path", path).stdout, "the text of path " + path)
    equal(b.tool("show", profile, "--function", "three", "--path", "999", "--plain").stdout, "", "no such path")
    b.tool("show", profile, "--path", "x", status=2)
    b.tool("show", profile, "--path", "1", "--json", status=2)


if __name__ == "__main__":
    harness.main(__doc__, bench=Tester)
