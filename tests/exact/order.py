#!/usr/bin/env python3
"""A process of a program with --fp-exits does not read all marks when it ends: footpath-cc has
noted in the program that they are in the order of the code.

    order.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect, needs  # noqa: E402

FUNCTIONS = 400
MARK, SLOT = "<iIQ", "<iIQ16s"


def source():
    """Functions that the linker puts into several sections, and an end with frames in flight."""
    text = "#include <stdlib.h>\nstatic volatile int s;\n"
    for i in range(FUNCTIONS):
        kind = ("", "__attribute__((cold)) ", "__attribute__((hot)) ")[i % 3]
        text += "%s__attribute__((noinline)) int f%d(int x)\n{\n" % (kind, i)
        text += "".join("    if (x >> %d & 1) s = %d;\n" % (k, k) for k in range(4))
        text += "    if (x == 77) exit(3);\n    return %s;\n}\n" % ("f%d(x - 1)" % (i - 1) if i % 10 else "s")
    calls = "".join("    f%d(argc);\n" % i for i in range(0, FUNCTIONS, 7))
    return text + "int main(int argc, char **argv)\n{\n    (void)argv;\n%s    return f9(argc > 1 ? 80 : 3) && 0;\n}\n" % calls


def section(b, program, name):
    """(offset in the file, bytes)"""
    listed = b.run("readelf", "-SW", program).stdout
    found = re.search(r"\] %s +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)" % name, listed)
    expect(found, "no section " + name)
    at, size = (int(word, 16) for word in found.groups())
    return at, b.read(program)[at:at + size]


def addresses(b, program, name, record):
    size = struct.calcsize(record)
    data = section(b, program, name)[1]
    return [i + struct.unpack_from(record, data, i)[0] for i in range(0, len(data), size)]


def in_order(b, program):
    both = addresses(b, program, "footpath_mark", MARK), addresses(b, program, "footpath_slot", SLOT)
    expect(len(both[0]) > 4 * FUNCTIONS, "marks:", len(both[0]))
    return all(each == sorted(each) for each in both), len(both[0])


def noted(b, program):
    return struct.unpack("<I", section(b, program, "footpath_order")[1])[0]


def compiled(b, *flags):
    b.write("many.c", source())
    b.cc("-O1", "--fp-exits", *flags, "-c", "many.c", "-o", "many.o")


def linked(b, linker, *flags):
    b.cc("--fp-exits", "-fuse-ld=" + linker, *flags, "many.o", "-o", linker)
    return in_order(b, linker)


def case_noted(b):
    """What is noted is so, with every linker."""
    needs("ld.lld", llvm=b.args.llvm)
    for sections, flag in (("-fno-function-sections", "-pie"), ("-ffunction-sections", "-Wl,--gc-sections")):
        compiled(b, sections)
        for linker in ("bfd", "gold", "lld"):
            for form in (flag, "-static"):
                ordered, count = linked(b, linker, form)
                print("%s %s %s: %d marks, in order: %s" % (linker, sections, form, count, ordered))
                equal(noted(b, linker), int(ordered), "what %s %s %s has noted" % (linker, sections, form))
                expect(linker == "gold" or ordered, "not in order with", linker)


def instructions(b, program, *words):
    done = b.run("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                 b.path(program), *words, status=None)
    return int(re.search(r"refs: +([0-9,]+)", done.stderr).group(1).replace(",", ""))


def paths(b, program, *words):
    b.profile(program, "out.prof", *words, status=3 if words else 0)
    return [f["paths"] for f in b.json("show", "--json", "out.prof")["functions"]]


def case_not_read(b):
    needs("valgrind")
    compiled(b)
    ordered, count = linked(b, "bfd")
    expect(ordered, "marks are not in order")
    data, at = bytearray(b.read("bfd")), section(b, "bfd", "footpath_order")[0]
    data[at:at + 4] = bytes(4)
    os.chmod(b.write("unknown", bytes(data)), 0o755)
    for words in ((), ("x",)):
        equal(paths(b, "bfd", *words), paths(b, "unknown", *words), "paths")
        # the first run of a build writes its map, too
        known, unknown = ([instructions(b, name, *words) for _ in range(2)][1] for name in ("bfd", "unknown"))
        print("%d marks: %d instructions, %d where the order is not known" % (count, known, unknown))
        expect(unknown - known >= 3 * count, "instructions that were saved:", unknown - known)


if __name__ == "__main__":
    harness.main(__doc__)
