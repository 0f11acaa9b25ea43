#!/usr/bin/env python3
"""Branch records: counts of edges by them are those of the records.

    branches.py --bin BIN [--pmu simulated-pmu.so]

No machine at hand has branch records. What is read here is a MOCK: a perf.data file
that this script writes, for a small program whose addresses it knows, with branches
of a made-up run. With --pmu, records of a simulation of a real run are compared with
exact counts as well.
"""
import argparse
import json
import os
import random
import struct
import sys
import tempfile

from common import check, result, run

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
SHAPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shapes.cc")


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
    raise SystemExit("%s has no code" % exe)


def build_mock(folder):
    source, exe = os.path.join(folder, "mock.s"), os.path.join(folder, "mock")
    with open(source, "w") as out:
        out.write(PROGRAM)
    done = run("cc", "-no-pie", source, "-o", exe)
    if done.returncode:
        raise SystemExit("the mock does not build: " + done.stderr)
    at = {}
    for line in run("nm", exe).stdout.splitlines():
        parts = line.split()
        if len(parts) == 3:
            at[parts[2]] = int(parts[0], 16)
    at["je"] = at["odd"] - 2    # short forms: two bytes
    at["call"] = at["back"] - 5
    return exe, at


def test_mock(folder, footpath):
    exe, at = build_mock(folder)
    branches, ways = made_up_run(at, 50000, 0.85)
    data, profile = os.path.join(folder, "mock.data"), os.path.join(folder, "mock.prof")
    write_mock(data, exe, load_of(exe), branches)
    done = run(footpath, "infer", data, "-o", profile)
    check("infer", done.returncode == 0 and "branch records" in done.stdout, done.stdout + done.stderr)
    main = [f for f in json.loads(run(footpath, "export", "--format", "json", profile).stdout)["functions"]
            if f["name"] == "main"]
    check("main is in the profile", len(main) == 1)
    into, edges = {}, {}
    for e in main[0]["edges"] if main else []:
        edges[(e["from"], e["to"])] = e["count"]
        into[e["to"]] = into.get(e["to"], 0) + e["count"]
    # blocks by address: main, head, odd, even, join, behind the loop
    total = edges.get((1, 3), 0) + edges.get((1, 2), 0)
    share = edges.get((1, 3), 0) / total if total else 0
    expected = ways["even"] / (ways["even"] + ways["odd"])
    check("the ways of the branch are those of the records", abs(share - expected) < 0.01, (share, expected, edges))
    check("the loop goes round", edges.get((4, 1), 0) > 0.98 * into.get(4, 0) > 0, edges)
    # a sample has several records
    check("counts are of records", total > 2 * SAMPLES, total)
    plain = run(footpath, "infer", "--no-branches", data, "-o", profile)
    check("without records, samples are used", plain.returncode == 0 and "branch records" not in plain.stdout,
          plain.stdout + plain.stderr)


# ---- a simulated run ----

def test_simulated(folder, footpath, plugin):
    exe, data = os.path.join(folder, "shapes"), os.path.join(folder, "pmu.data")
    run("c++", "-O2", "-g", "-gdwarf-4", "-fno-pie", "-no-pie", SHAPES, "-o", exe)
    run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
        "--callgrind-out-file=" + exe + ".callgrind", exe, "20000")
    done = run(footpath, "import", "--format", "callgrind", "--binary", exe, "-o", exe + ".exact", exe + ".callgrind")
    check("exact counts", done.returncode == 0, done.stderr)
    run("qemu-x86_64", "-plugin", plugin + ",out=" + data + ",period=503,mask=0x7f,rare=1000003,branches=1", exe, "20000")
    values = {}
    for how in ("records", "samples"):
        flags = ["--no-branches"] if how == "samples" else []
        done = run(footpath, "infer", data, "--event", "INST_RETIRED", "-o", exe + "." + how, *flags)
        check("infer by " + how, done.returncode == 0, done.stderr)
        out = run(footpath, "compare", "--metric", "overlap", exe + ".exact", exe + "." + how).stdout.split()
        values[how] = float(out[1]) if len(out) > 1 else -1
    check("records are near the exact counts", values["records"] > 0.9, values)
    check("and nearer than samples", values["records"] > values["samples"], values)
    print("overlap with exact counts, simulated: %.3f by records, %.3f by samples" % (values["records"], values["samples"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--pmu")
    args = parser.parse_args()
    footpath = os.path.join(args.bin, "footpath")
    with tempfile.TemporaryDirectory() as folder:
        test_mock(folder, footpath)
        if args.pmu:
            test_simulated(folder, footpath, args.pmu)
    return result()


if __name__ == "__main__":
    sys.exit(main())
