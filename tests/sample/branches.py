#!/usr/bin/env python3
"""Branch records: counts of edges by them are those of the records.

    branches.py --bin BIN [--pmu simulated-pmu.so] [--case NAME]...

No machine at hand has branch records. What is read here is a MOCK: a perf.data file
that this script writes, for a small program whose addresses it knows, with branches
of a made-up run. With --pmu, records of a simulation of a real run are compared with
exact counts as well.
"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import Failure, expect, run  # noqa: E402

PROGRAM = """
        .text
        .globl  main
        .type   main, @function
main:   xorl    %eax, %eax
head:   incl    %eax
        testl   $3, %eax
        je      even
odd:    addl    $2, %eax
        call    leaf
back:   subl    $2, %eax
skip:   jmp     join
even:   nop
join:   cmpl    $1000, %eax
again:  jl      head
        xorl    %eax, %eax
last:   ret
        .size   main, .-main
        .type   leaf, @function
leaf:   nop
leave:  ret
        .size   leaf, .-leaf
        .section .note.GNU-stack,"",@progbits
"""
RECORDS, SAMPLES = 16, 4000
SHAPES = os.path.join(HERE, "shapes.cc")


# ---- the mock ----

def made_up_run(at, steps, chance):
    """The branches of a run, oldest first, and how often each way was taken."""
    dice = random.Random(7)
    branches, ways = [], {"even": 0, "odd": 0, "again": 0}
    for _ in range(steps):
        if dice.random() < chance:
            ways["even"] += 1
            branches.append((at["je"], at["even"]))
        else:
            ways["odd"] += 1
            branches += [(at["call"], at["leaf"]), (at["leave"], at["back"]), (at["skip"], at["join"])]
        ways["again"] += 1
        branches.append((at["again"], at["head"]))
    return branches, ways


def attribute(sample_type, branch_type):
    """struct perf_event_attr, 112 bytes: cpu-clock, period 1000."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, sample_type, 0, 0)
    attr += struct.pack("<IIQQQ", 0, 0, 0, 0, branch_type)
    return attr.ljust(112, b"\0")


def write_mock(path, exe, load, branches):
    """IP, TID, TIME and BRANCH_STACK; a mapping of the program, then the samples."""
    attr = attribute(0x1 | 0x2 | 0x4 | 0x800, 0x1 | 0x8)
    name = exe.encode() + b"\0"
    name = name.ljust((len(name) + 7) // 8 * 8, b"\0")
    start, length, offset = load
    body = struct.pack("<IIQQQ", 1, 1, start, length, offset) + name
    data = struct.pack("<IHH", 1, 2, 8 + len(body)) + body
    step = max(1, len(branches) // SAMPLES)
    for i in range(RECORDS, len(branches), step):
        stack = branches[i - RECORDS:i][::-1]
        body = struct.pack("<QIIQQ", stack[0][1], 1, 1, i, len(stack))
        body += b"".join(struct.pack("<QQQ", f, t, 0) for f, t in stack)
        data += struct.pack("<IHH", 9, 2, 8 + len(body)) + body
    entry = attr + struct.pack("<QQ", 0, 0)
    head = b"PERFILE2" + struct.pack("<12Q", 104, len(entry), 104, len(entry), 104 + len(entry), len(data), 0, 0, 0, 0,
                                     0, 0)
    with open(path, "wb") as out:
        out.write(head + entry + data)


def load_of(exe):
    for line in run("readelf", "-lW", exe).stdout.splitlines():
        parts = line.split()
        if parts and parts[0] == "LOAD" and "E" in parts[6:8]:
            offset, address, size = (int(parts[k], 16) for k in (1, 2, 4))
            return address & ~4095, (size + 8191) & ~4095, offset & ~4095
    raise Failure("%s has no code" % exe)


def build_mock(b):
    source, exe = b.write("mock.s", PROGRAM), b.path("mock")
    b.run("cc", "-no-pie", source, "-o", exe)
    at = {}
    for line in run("nm", exe).stdout.splitlines():
        parts = line.split()
        if len(parts) == 3:
            at[parts[2]] = int(parts[0], 16)
    at["je"] = at["odd"] - 2    # short forms: two bytes
    at["call"] = at["back"] - 5
    return exe, at


def case_mock(b):
    exe, at = build_mock(b)
    branches, ways = made_up_run(at, 50000, 0.85)
    data, profile = b.path("mock.data"), b.path("mock.prof")
    write_mock(data, exe, load_of(exe), branches)
    done = b.tool("infer", data, "-o", profile)
    expect("branch records" in done.stdout, "infer", done.stdout)
    main = [f for f in b.json("export", "--format", "json", profile)["functions"] if f["name"] == "main"]
    expect(len(main) == 1, "main is in the profile")
    into, edges = {}, {}
    for e in main[0]["edges"]:
        edges[(e["from"], e["to"])] = e["count"]
        into[e["to"]] = into.get(e["to"], 0) + e["count"]
    # blocks by address: main, head, odd, even, join, behind the loop
    total = edges.get((1, 3), 0) + edges.get((1, 2), 0)
    share = edges.get((1, 3), 0) / total if total else 0
    expected = ways["even"] / (ways["even"] + ways["odd"])
    expect(abs(share - expected) < 0.01, "the ways of the branch are those of the records", (share, expected, edges))
    expect(edges.get((4, 1), 0) > 0.98 * into.get(4, 0) > 0, "the loop goes round", edges)
    # a sample has several records
    expect(total > 2 * SAMPLES, "counts are of records", total)
    plain = b.tool("infer", "--no-branches", data, "-o", profile)
    expect("branch records" not in plain.stdout, "without records, samples are used", plain.stdout)


# ---- a simulated run ----

def case_simulated(b):
    exe, data = b.path("shapes"), b.path("pmu.data")
    b.run("c++", "-O2", "-g", "-gdwarf-4", "-fno-pie", "-no-pie", SHAPES, "-o", exe)
    b.run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
          "--callgrind-out-file=" + exe + ".callgrind", exe, "20000")
    b.tool("import", "--format", "callgrind", "--binary", exe, "-o", exe + ".exact", exe + ".callgrind")
    b.run("qemu-x86_64", "-plugin", b.args.pmu + ",out=" + data + ",period=503,mask=0x7f,rare=1000003,branches=1", exe, "20000")
    values = {}
    for how in ("records", "samples"):
        flags = ["--no-branches"] if how == "samples" else []
        b.tool("infer", data, "--event", "INST_RETIRED", "-o", exe + "." + how, *flags)
        values[how] = float(b.tool("compare", "--metric", "overlap", exe + ".exact", exe + "." + how).stdout.split()[1])
    expect(values["records"] > 0.9, "records are near the exact counts", values)
    expect(values["records"] > values["samples"], "and nearer than samples", values)
    print("overlap with exact counts, simulated: %.3f by records, %.3f by samples" % (values["records"], values["samples"]))


if __name__ == "__main__":
    harness.main(__doc__, ("--pmu", {"help": "the plugin simulated-pmu.so of qemu"}))
