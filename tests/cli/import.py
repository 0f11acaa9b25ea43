#!/usr/bin/env python3
"""Counts through a legacy file and back, and programs whose maps lie.

    import.py --bin BUILD/bin [--llvm 19]

A profile that is exported and imported again has the same counts, whatever the
counters look like: arrays, pairs of count and cycles, hash tables with laps. A program
that claims counters outside of its sections is refused with a message, in little
memory.
"""
import argparse
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

MAGIC = struct.pack("<I", 0x316D7066)
LIMIT = 1 << 30  # of address space, for a tool that reads a small program

SOURCE = """
#include <stdlib.h>
#define BIT(i) if (n >> i & 1) sum += sum ^ i; else sum -= i;
static int many(unsigned n)
{
    int sum = 0;
    BIT(0) BIT(1) BIT(2) BIT(3) BIT(4) BIT(5) BIT(6) BIT(7) BIT(8) BIT(9) BIT(10) BIT(11) BIT(12)
    for (unsigned i = 0; i < n % 7; i++) sum += sum * 3 ^ (int)i;
    return sum;
}
static int few(unsigned n)
{
    if (n % 3 == 0) return many(n);
    if (n % 5 == 0) return 1;
    return n & 1 ? 2 : 3;
}
int main(void)
{
    int sum = 0;
    for (unsigned i = 0; i < 1000; i++) sum += few(i * 7919);
    return sum == 12345;
}
"""

CASES = {
    "array": [],
    "cycles": ["--fp-metric=cycles"],
    "table": ["--fp-array-paths=4"],
    "exits": ["--fp-exits"],
    "optimised": ["-O2"],
    "optimised-cycles": ["-O2", "--fp-metric=cycles"],
    "optimised-table": ["-O2", "--fp-array-paths=4"],
}


class Failure(Exception):
    pass


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def limit_for(tool):
    """A sanitized tool reserves terabytes of addresses for itself: it gets no limit."""
    with open(tool, "rb") as f:
        return None if b"__asan_init" in f.read() else limited


class Test:
    def __init__(self, args, folder):
        self.bin, self.llvm, self.folder = args.bin, args.llvm, folder
        self.limit = limit_for(os.path.join(args.bin, "footpath"))

    def run(self, *command, fails=False, **more):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=600, **more)
        if done.returncode != (1 if fails else 0):
            raise Failure("%s: exit status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
        return done.stderr if fails else done.stdout

    def tool(self, *arguments, **more):
        return self.run(os.path.join(self.bin, "footpath"), *arguments, **more)

    def build(self, name, flags):
        with open(os.path.join(self.folder, "t.c"), "w") as f:
            f.write(SOURCE)
        # plain: the records are patched below
        self.run(os.path.join(self.bin, "footpath-cc"), "--fp-llvm=" + self.llvm, "--fp-map=plain", *flags, "t.c", "-o", name)
        self.run("./" + name, env=dict(os.environ, FOOTPATH_OUT=name + ".prof"))

    def counts(self, profile):
        """What every function's paths were counted."""
        shown = json.loads(self.tool("show", "--json", profile))
        return sorted((f["linkage_name"], p["id"], p["count"]) for f in shown["functions"] for p in f.get("paths", []))

    def round_trip(self, name, flags):
        self.build(name, flags)
        before = self.counts(name + ".prof")
        self.tool("export", "--format", "legacy", "--what", "paths", name + ".prof", "-o", "paths.out")
        self.tool("import", "--format", "legacy", "--binary", name, "paths.out", "-o", "back.prof")
        after = self.counts("back.prof")
        if not before or before != after:
            raise Failure("%s: %d counts became others: %s" % (name, len(before), sorted(set(before) ^ set(after))[:6]))

    # ---- programs that lie ----

    def patched(self, name, change):
        with open(os.path.join(self.folder, name), "rb") as f:
            data = bytearray(f.read())
        change(data)
        lying = name + ".lying"
        with open(os.path.join(self.folder, lying), "wb") as f:
            f.write(data)
        return lying

    def refused(self, name, what, change, expected):
        message = self.tool("import", "--format", "legacy", "--binary", self.patched(name, change), name + ".out",
                            "-o", "no.prof", fails=True, preexec_fn=self.limit)
        if expected not in message or os.path.exists(os.path.join(self.folder, "no.prof")):
            raise Failure("%s: %s: expected %r, got %r" % (name, what, expected, message))

    def hostile(self, name):
        self.tool("export", "--format", "legacy", "--what", "paths", name + ".prof", "-o", name + ".out")
        outside = "outside of"
        for field, what in ((16, "path counters"), (24, "edge counters")):
            for address in (1, 0x10000, (1 << 64) - 8, (1 << 63), (1 << 64) - 1):
                self.refused(name, "%s at %x" % (what, address), set_record(field, address), outside)
        for section in (b"footpath_cnt\0", b"footpath_hash\0"):
            self.refused(name, "no room", set_section(section, 32, 0), outside)
            self.refused(name, "elsewhere", set_section(section, 16, 1 << 63), outside)
        self.refused(name, "a large section", set_section(b"footpath_cnt\0", 32, 1 << 40), "at most 4 GB")

    def large(self, name):
        """A section just below the limit: memory depends on what is counted."""
        lying = self.patched(name, set_section(b"footpath_cnt\0", 32, (1 << 32) - 8))
        self.tool("import", "--format", "legacy", "--binary", lying, name + ".out", "-o", "large.prof", preexec_fn=self.limit)


def set_record(field, value):
    """In every map record that has the field: an address that the linker filled in."""
    def change(data):
        at = data.find(MAGIC)
        while at >= 0:
            if struct.unpack_from("<Q", data, at + field)[0]:
                struct.pack_into("<Q", data, at + field, value)
            at = data.find(MAGIC, at + 4)
    return change


def set_section(name, field, value):
    """A field of a section header, by its offset in Elf64_Shdr."""
    def change(data):
        headers, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        text, = struct.unpack_from("<Q", data, headers + names * size + 24)
        for i in range(count):
            at = headers + i * size
            offset, = struct.unpack_from("<I", data, at)
            if data.startswith(name, text + offset):
                struct.pack_into("<Q", data, at + field, value)
                return
        raise Failure("no section %r" % name)
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = tempfile.mkdtemp(prefix="footpath-import-")
    test = Test(args, folder)
    try:
        for name, flags in CASES.items():
            test.round_trip(name, flags)
        test.hostile("table")
        test.large("table")
    except Failure as failure:
        print(failure)
        return 1
    finally:
        shutil.rmtree(folder)
    print("%d kinds of counters out and back in; lying programs are refused" % len(CASES))
    return 0


sys.exit(main())
