#!/usr/bin/env python3
"""Where the map of a program is, and in which form: all tell the same.

    maps.py --bin BUILD/bin [--llvm 19]

A program is linked with its map packed, plain and in a file of its own, in several
forms of linking. Each must run as before, be a sound ELF file, and have the same
profile, stripped too. What is damaged or of another build is refused with a message.
"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

LIBRARY = "int twice(int n) { int s = 0; for (int i = 0; i < n; i++) if (i % 3) s += i; else s ^= n; return s; }\n"
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int twice(int n);
static int odd(int n) { return n & 1 ? twice(n) : n > 10 ? 1 : 2; }
static int never(int n) { return n < -5 ? twice(n) : 3; }
int main(int argc, char **argv)
{
    int sum = 0, n = argc > 1 ? atoi(argv[1]) : 7;
    for (int i = 0; i < n; i++) sum += odd(i);
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
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)
        print("failed: " + what)


class Test:
    def __init__(self, args, folder):
        self.bin, self.llvm, self.folder = args.bin, args.llvm, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, status=0, **env):
        done = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=900, env=dict(os.environ, **env))
        check(done.returncode == status, "%s: status %d: %s" % (" ".join(words), done.returncode, done.stderr))
        return done

    def cc(self, *words):
        done = self.run(os.path.join(self.bin, "footpath-cc"), "--fp-llvm=" + self.llvm, *words)
        check(not done.stderr, "%s said %s" % (" ".join(words), done.stderr))

    def tool(self, *words, **more):
        return self.run(os.path.join(self.bin, "footpath"), *words, **more)

    def counts(self, profile, *options):
        shown = json.loads(self.tool("show", "--json", *options, profile).stdout)
        return sorted((f["linkage_name"], p["id"], p["count"], p["lines"])
                      for f in shown["functions"] for p in f.get("paths", []))

    def size(self, name):
        return os.path.getsize(self.path(name))

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return bytearray(f.read())

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)


def link(t, form, how):
    name = "%s-%s" % (form.replace(" ", "-"), how)
    library = [] if form == "static" else ["./lib-%s.so" % how]
    sources = ["main.c"] + (["lib.c"] if form == "static" else [])
    t.cc("--fp-map=" + how, *FORMS[form], *sources, "-o", name, *library)
    return name


def one_form(t, form):
    expected = None
    sizes = {}
    for how in HOW:
        name = link(t, form, how)
        sizes[how] = t.size(name)
        out = t.run("./" + name, "9", FOOTPATH_OUT=name + ".prof").stdout
        elf = t.run("readelf", "-aW", name)
        check("arning" not in elf.stderr and "rror" not in elf.stderr, "%s: readelf: %s" % (name, elf.stderr))
        t.run("strip", "-o", "stripped", name)
        check(t.run("./stripped", "9", FOOTPATH_OUT="/dev/null").stdout == out, "%s: the stripped one does something else" % name)
        if how == "separate":
            shutil.copy(t.path(name + ".fpmap"), t.path("stripped.fpmap"))
        got = (out, t.counts(name + ".prof"))
        check(got[1], "%s: no paths" % name)
        if expected is None:
            expected = got
        check(got == expected, "%s: another profile" % name)
        check(t.counts(name + ".prof", "--binary", "stripped") == expected[1], "%s: another profile when stripped" % name)
    check(sizes["packed"] < sizes["plain"] and sizes["separate"] < sizes["packed"], "%s: sizes %s" % (form, sizes))


def fails(t, what, pattern, *words):
    done = t.tool(*words, status=1)
    check(pattern in done.stderr, "%s: expected %r, got %r" % (what, pattern, done.stderr))


def damaged(t):
    for name in ("O2-packed", "O2-separate"):
        t.run("./" + name, "9", FOOTPATH_OUT="d.prof")
        os.rename(t.path("d.prof"), t.path(name + ".prof"))
    data = t.read("O2-packed")
    at = data.find(b"fpz1\0\0\0\0")
    check(at >= 0, "no packed map")
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = tempfile.mkdtemp(prefix="footpath-maps-")
    t = Test(args, folder)
    try:
        t.write("main.c", MAIN.encode())
        t.write("lib.c", LIBRARY.encode())
        for how in HOW:
            t.cc("--fp-map=" + how, "-O2", "-fPIC", "-shared", "lib.c", "-o", "lib-%s.so" % how)
        for form in FORMS:
            one_form(t, form)
        t.cc("-O1", "main.c", "lib.c")
        check(t.read("a.out").find(b"fpz1\0\0\0\0") >= 0, "a.out is not packed")
        damaged(t)
    finally:
        shutil.rmtree(folder)
    print("%d forms of linking, %d failed" % (len(FORMS), len(failures)))
    return 1 if failures else 0


sys.exit(main())
