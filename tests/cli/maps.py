#!/usr/bin/env python3
"""Where the map of a program is, and in which form: all tell the same.

    maps.py --bin BUILD/bin [--llvm 19] [--case NAME]...

A program is linked with its map packed, plain and in a file of its own, in several
forms of linking. Each must run as before, be a sound ELF file, and have the same
profile, stripped too. What is damaged or of another build is refused with a message.
"""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

LIBRARY = "int twice(int n) { int s = 0; for (int i = 0; i < n; i++) if (i % 3) s += i; else s ^= n; return s; }\n"
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int twice(int n);
static int odd(int n) { return n & 1 ? twice(n) : n > 10 ? 1 : 2; }
static int never(int n) { return n < -5 ? twice(n) : 3; }
/* records of their own: a map of one function is hardly smaller packed */
__attribute__((noinline)) int third(int n) { return n % 3 ? n : twice(n); }
__attribute__((noinline)) int fourth(int n) { return n % 4 ? n : twice(n); }
__attribute__((noinline)) int fifth(int n) { return n % 5 ? n : twice(n); }
int main(int argc, char **argv)
{
    int sum = 0, n = argc > 1 ? atoi(argv[1]) : 7;
    for (int i = 0; i < n; i++) sum += odd(i) + third(i) + fourth(i) + fifth(i);
    if (sum < -1000000) sum += never(sum);
    printf("%d\\n", sum);
    return 0;
}
"""
HOW = ("plain", "packed", "separate")
FORMS = {
    "O2": ["-O2"],
    "debug": ["-O0", "-g"],
    "static": ["-O1", "-static"],
    "lld": ["-O2", "-fuse-ld=lld", "-Wl,--gc-sections", "-ffunction-sections"],
    "stripped at link": ["-O2", "-s"],
    "compressed debug": ["-O1", "-g", "-Wl,--compress-debug-sections=zlib"],
    "no-pie": ["-O1", "-no-pie", "-Wl,-z,noseparate-code"],
}


class Test(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.write("main.c", MAIN)
        self.write("lib.c", LIBRARY)
        for how in HOW:
            self.quiet_cc("--fp-map=" + how, "-O2", "-fPIC", "-shared", "lib.c", "-o", "lib-%s.so" % how)

    def quiet_cc(self, *words):
        self.cc(*words, silent=True)

    def program(self, name, *words, out):
        """What it prints. The profile has no map: that of the program must do."""
        return self.run("./" + name, *words, env={"FOOTPATH_OUT": out, "FOOTPATH_MAP": "0"}).stdout

    def counts(self, profile, *options):
        shown = self.json("show", "--json", *options, profile)
        return sorted((f["linkage_name"], p["id"], p["count"], p["lines"])
                      for f in shown["functions"] for p in f.get("paths", []))

    def size(self, name):
        return os.path.getsize(self.path(name))


def link(t, form, how):
    name = "%s-%s" % (form.replace(" ", "-"), how)
    library = [] if form == "static" else ["./lib-%s.so" % how]
    sources = ["main.c"] + (["lib.c"] if form == "static" else [])
    t.quiet_cc("--fp-map=" + how, *FORMS[form], *sources, "-o", name, *library)
    return name


def one_form(t, form):
    if form == "lld":
        harness.needs("ld.lld", llvm=t.args.llvm)
    expected = None
    sizes = {}
    for how in HOW:
        name = link(t, form, how)
        sizes[how] = t.size(name)
        out = t.program(name, "9", out=name + ".prof")
        elf = t.run("readelf", "-aW", name)
        expect("arning" not in elf.stderr and "rror" not in elf.stderr, "%s: readelf: %s" % (name, elf.stderr))
        t.run("strip", "-o", "stripped", name)
        expect(t.program("stripped", "9", out="/dev/null") == out, "%s: the stripped one does something else" % name)
        if how == "separate":
            shutil.copy(t.path(name + ".fpmap"), t.path("stripped.fpmap"))
        got = (out, t.counts(name + ".prof"))
        expect(got[1], "%s: no paths" % name)
        if expected is None:
            expected = got
        expect(got == expected, "%s: another profile" % name)
        expect(t.counts(name + ".prof", "--binary", "stripped") == expected[1], "%s: another profile when stripped" % name)
    expect(sizes["packed"] < sizes["plain"] and sizes["separate"] < sizes["packed"], "%s: sizes %s" % (form, sizes))


def fails(t, what, pattern, *words):
    done = t.tool(*words, status=1)
    expect(pattern in done.stderr, "%s: expected %r, got %r" % (what, pattern, done.stderr))


def case_damaged(t):
    for form, how in (("O2", "packed"), ("O2", "separate"), ("debug", "separate")):
        link(t, form, how)
    data = t.read("O2-packed")
    at = data.find(b"fpz1\0\0\0\0")
    expect(at >= 0, "no packed map")
    for what, offset, value in (("size", 8, 1 << 62), ("size", 8, 1 << 40), ("size", 8, 5), ("checksum", 16, 1), ("frame", 24, 0)):
        other = bytearray(data)
        struct.pack_into("<Q", other, at + offset, value)
        t.write("damaged", other)
        fails(t, what, "packed map", "import", "--binary", "damaged", "none.out")
    saved = t.read("O2-separate.fpmap")
    t.write("O2-separate.fpmap", t.read("debug-separate.fpmap"))
    fails(t, "another map", "another build", "import", "--binary", "O2-separate", "none.out")
    for length in (0, 3, 8, 20, len(saved) - 1):
        t.write("O2-separate.fpmap", saved[:length])
        t.tool("import", "--binary", "O2-separate", "none.out", status=1)
    os.unlink(t.path("O2-separate.fpmap"))
    fails(t, "no map", "O2-separate.fpmap", "import", "--binary", "O2-separate", "none.out")


def case_default(t):
    t.quiet_cc("-O1", "main.c", "lib.c")
    expect(t.read("a.out").find(b"fpz1\0\0\0\0") >= 0, "a.out is not packed")


for kind in FORMS:
    globals()["case_" + kind.replace(" ", "_").replace("-", "_")] = lambda t, kind=kind: one_form(t, kind)

if __name__ == "__main__":
    harness.main(__doc__, bench=Test)
