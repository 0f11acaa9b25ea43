#!/usr/bin/env python3
"""Counts through a legacy file and back, and programs whose maps lie.

    import.py --bin BUILD/bin [--llvm 19] [--case NAME]...

A profile that is exported and imported again has the same counts, whatever the
counters look like: arrays, pairs of count and cycles, hash tables with laps. A program
that claims counters outside of its sections is refused with a message, in little
memory.
"""
import os
import resource
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402

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

KINDS = {
    "array": [],
    "cycles": ["--fp-metric=cycles"],
    "table": ["--fp-array-paths=4"],
    "exits": ["--fp-exits"],
    "optimised": ["-O2"],
    "optimised-cycles": ["-O2", "--fp-metric=cycles"],
    "optimised-table": ["-O2", "--fp-array-paths=4"],
}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def limit_for(tool):
    """A sanitized tool reserves terabytes of addresses for itself: it gets no limit."""
    with open(tool, "rb") as f:
        return None if b"__asan_init" in f.read() else limited


class Test(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.limit = limit_for(self.bin("footpath"))

    def build(self, name):
        self.write("t.c", SOURCE)
        # plain: the records are patched below
        self.cc("--fp-map=plain", *KINDS[name], "t.c", "-o", name)
        self.run("./" + name, env={"FOOTPATH_OUT": name + ".prof"})

    def counts(self, profile):
        """What every function's paths were counted."""
        shown = self.json("show", "--json", profile)
        return sorted((f["linkage_name"], p["id"], p["count"]) for f in shown["functions"] for p in f.get("paths", []))

    def round_trip(self, name):
        self.build(name)
        before = self.counts(name + ".prof")
        self.tool("export", "--format", "legacy", "--what", "paths", name + ".prof", "-o", "paths.out")
        self.tool("import", "--format", "legacy", "--binary", name, "paths.out", "-o", "back.prof")
        after = self.counts("back.prof")
        expect(before and before == after, "%d counts became others: %s" % (len(before), sorted(set(before) ^ set(after))[:6]))

    # ---- programs that lie ----

    def patched(self, name, change):
        data = bytearray(self.read(name))
        change(data)
        return self.write(name + ".lying", data)

    def refused(self, name, what, change, expected):
        message = self.tool("import", "--format", "legacy", "--binary", self.patched(name, change), name + ".out",
                            "-o", "no.prof", status=1, preexec_fn=self.limit).stderr
        expect(expected in message, "%s: expected %r, got %r" % (what, expected, message))
        expect(not os.path.exists(self.path("no.prof")), "%s: a profile was written" % what)

    def hostile(self, name="table"):
        self.build(name)
        self.tool("export", "--format", "legacy", "--what", "paths", name + ".prof", "-o", name + ".out")
        outside = "outside of"
        for field, what in ((16, "path counters"), (24, "edge counters")):
            for address in (1, 0x10000, (1 << 64) - 8, (1 << 63), (1 << 64) - 1):
                self.refused(name, "%s at %x" % (what, address), set_record(field, address), outside)
        for section in (b"footpath_cnt\0", b"footpath_hash\0"):
            self.refused(name, "no room", set_section(section, 32, 0), outside)
            self.refused(name, "elsewhere", set_section(section, 16, 1 << 63), outside)
        self.refused(name, "a large section", set_section(b"footpath_cnt\0", 32, 1 << 40), "at most 4 GB")

    def large(self, name="table"):
        """A section just below the limit: memory depends on what is counted."""
        self.build(name)
        self.tool("export", "--format", "legacy", "--what", "paths", name + ".prof", "-o", name + ".out")
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


CASES = {name.replace("-", "_"): lambda t, name=name: t.round_trip(name) for name in KINDS}
CASES.update({"hostile": Test.hostile, "large": Test.large})

if __name__ == "__main__":
    harness.main(__doc__, bench=Test, cases=CASES)
