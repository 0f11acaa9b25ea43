#!/usr/bin/env python3
"""perf.data files with every field that a sample can have, with precise events, branch records, IBS
and SPE, in the form of the real tool (perffile.py). What is known is read, what is not is passed
over, what is damaged is refused. Where perf is installed, perf script must read the same.

    perffields.py --bin BIN --dump DUMP [--case NAME]...
"""
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import harness  # noqa: E402
import perffile as pf  # noqa: E402
from harness import equal, expect, needs  # noqa: E402

BASE = pf.IP | pf.TID | pf.TIME | pf.PERIOD
STACK = ((0x401050, 0x401100, 2), (0x401020, 0x401040, 1), (0x401090, 0x401000, 2))
FIELDS = {name: getattr(pf, name) for name in (
    "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC",
    "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT")}
# perf 6.1 cannot make up the trace that a sample with AUX belongs to; WEIGHT_STRUCT stands in WEIGHT's place
ALL = BASE | sum(v for k, v in FIELDS.items() if k not in ("AUX", "WEIGHT_STRUCT", "TRANSACTION"))
IBS, SPE = 11, 12


def dump(b, file, status=0):
    path = b.write("perf.data", file if isinstance(file, bytes) else file.bytes())
    done = subprocess.run([b.args.dump, "-b", path], capture_output=True, text=True)
    equal(done.returncode, status, "status of the reader: " + done.stderr)
    return [line.split() for line in done.stdout.splitlines()], done.stderr


def three(event, branches=(), raw=b"", misc=pf.USER, **more):
    """Three samples of one event, of a program that is mapped."""
    file = pf.File([event])
    file.command("prog")
    file.mapping("/bin/true", 0x400000, 0x10000)
    for k in range(3):
        file.sample(0, ip=0x401000 + k, time=100 + k, period=1000 + k, branches=branches, raw=raw, misc=misc, **more)
    return file


def expect_three(found, what, exact="near", branches=()):
    tail = ["%x/%x/%x" % branch for branch in branches]
    for k in range(3):
        equal(found[k][1:7], ["1", "1", str(100 + k), "%x" % (0x401000 + k), str(1000 + k), exact], what)
        equal(found[k][8:], tail, "branches with " + what)
    equal(len(found), 3, "samples with " + what)


def perf_script(b, file, fields, *more):
    path = b.write("perf.data", file.bytes())
    return subprocess.run(["perf", "script", "-i", path, "-F", fields, "--ns", *more], capture_output=True, text=True)


# ---- fields ----

def case_one_field(b):
    """Each field alone: those behind it, and the next sample, are at their places."""
    for name, field in FIELDS.items():
        branches = STACK if field == pf.BRANCH_STACK else ()
        found, _ = dump(b, three(pf.Event("cycles:u", BASE | field, branches=pf.BRANCH_ANY), branches, b"raw bytes"))
        expect_three(found, name, branches=branches)


def case_two_fields(b):
    """Each pair of fields, of which one may lie before what is read."""
    for first in FIELDS.values():
        for second in FIELDS.values():
            branches = STACK if (first | second) & pf.BRANCH_STACK else ()
            event = pf.Event("cycles:u", BASE | first | second, branches=pf.BRANCH_ANY, read_format=7)
            found, _ = dump(b, three(event, branches, b"123"))
            expect_three(found, "fields %x" % (first | second), branches=branches)


def case_all_fields(b):
    for read_format in (0, 1, 2, 4, 7, 8, 15):
        found, _ = dump(b, three(pf.Event("cycles:u", ALL, branches=pf.BRANCH_ANY, read_format=read_format), STACK, b"raw"))
        expect_three(found, "all fields, read format %d" % read_format, branches=STACK)


def case_branch_records(b):
    """The index of the hardware, and counters of the records (Linux 6.8)."""
    for more in (0, pf.BRANCH_HW_INDEX, pf.BRANCH_COUNTERS, pf.BRANCH_HW_INDEX | pf.BRANCH_COUNTERS):
        found, _ = dump(b, three(pf.Event("cycles:u", ALL, branches=pf.BRANCH_ANY | more), STACK))
        expect_three(found, "branch type %x" % more, branches=STACK)


def case_as_perf_reads(b):
    """perf script finds the same addresses, times, periods and branches."""
    needs("perf")
    # of a counter's value perf takes what it grew by since the sample before
    for name, fields, branches in (("all fields", ALL & ~pf.READ, pf.BRANCH_ANY), ("index", BASE | pf.BRANCH_STACK, pf.BRANCH_ANY | pf.BRANCH_HW_INDEX)):
        done = perf_script(b, three(pf.Event("cycles:u", fields, branches=branches), STACK, b"raw"), "pid,time,period,ip,brstack", "-G")
        lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
        equal(len(lines), 3, "samples of perf with %s: %s" % (name, done.stdout + done.stderr))
        for k, words in enumerate(lines):
            equal(words[:4], ["1", "0.%09d:" % (100 + k), str(1000 + k), "%x" % (0x401000 + k)], name)
            ways = ["/".join(w.split("/")[:2]) for w in words[4:]]
            equal(ways, ["0x%x/0x%x" % branch[:2] for branch in STACK], "branches of " + name)


def case_precise(b):
    """precise_ip of the event, and of each sample whether its address is exact."""
    for level in range(4):
        event = pf.Event("instructions:" + "p" * level, BASE, precise=level)
        found, _ = dump(b, three(event, misc=pf.USER | (pf.EXACT_IP if level > 1 else 0)))
        expect_three(found, "precise %d" % level, exact="exact" if level > 1 else "near")
        expect(all(s[7] == "precise=%d" % level for s in found), "the level", found)


# ---- registers and stacks ----

def machine_numbers(mask, values):
    """The kernel's registers of a mask, as the dump names them."""
    order = {0: 0, 2: 1, 3: 2, 1: 3, 7: 4, 6: 5, 4: 6, 5: 7, **{16 + k: 8 + k for k in range(8)}}
    numbers = [k for k in range(64) if mask >> k & 1]
    found = sorted((order[k], v) for k, v in zip(numbers, values) if k in order)
    return ["%d=%x" % pair for pair in found] + ["flags=%x" % v for k, v in zip(numbers, values) if k == 9]


def registers(b, file, status=0):
    path = b.write("perf.data", file.bytes())
    done = subprocess.run([b.args.dump, "-r", path], capture_output=True, text=True)
    equal(done.returncode, status, "status of the reader: " + done.stderr)
    return [line.split()[6:] for line in done.stdout.splitlines()], done.stderr


def some_values(mask):
    return [0x1234567890000000 + k * 0x1001 for k in range(bin(mask).count("1"))]


def case_registers(b):
    """Masks of any registers, the kinds of programs, and stacks: whole, filled in part, larger than what is kept, none."""
    both = BASE | pf.REGS_USER | pf.STACK_USER
    room = bytes(k & 255 for k in range(4096))
    for fields in (both, both | pf.CALLCHAIN | pf.RAW | pf.BRANCH_STACK, ALL, BASE | pf.REGS_USER):
        for mask in (0, 1, 1 << 7, 1 << 9, 0xff0fff, 0xff03ff, 0xff0080, 0xffffff, 0xff0fff | 0xff << 32, 2**64 - 1):
            for more in (0, pf.BRANCH_HW_INDEX | pf.BRANCH_COUNTERS):
                values = some_values(mask)
                for kind, filled in ((2, 32), (2, 0), (2, 64), (2, 900), (1, 32), (0, 32)):
                    event = pf.Event("cycles:u", fields, branches=pf.BRANCH_ANY | more, registers=mask)
                    found, _ = registers(b, three(event, STACK, b"raw", registers=(kind, values if kind else ()), stack=(room[:64], filled)))
                    stack = "stack=" + (room[:min(filled, 64)].hex() if fields & pf.STACK_USER else "")
                    wanted = machine_numbers(mask, values) + [stack] if kind == 2 else ["none"]
                    equal(found, [wanted] * 3, "fields %x, mask %x, kind %d, filled %d" % (fields, mask, kind, filled))


def case_stacks(b):
    """The sizes of stacks, and a stack without registers."""
    room = bytes(k & 255 for k in range(60000))
    for size, filled in ((0, 0), (8, 8), (8, 0), (512, 512), (512, 40), (1024, 1024), (1032, 1032), (60000, 60000), (60000, 2**64 - 1)):
        event = pf.Event("cycles:u", BASE | pf.REGS_USER | pf.STACK_USER, stack=size)
        found, _ = registers(b, three(event, registers=(2, some_values(pf.REGISTERS)), stack=(room[:size], filled)))
        equal([s[-1] for s in found], ["stack=" + room[:min(size, filled, 1024)].hex()] * 3, "size %d, filled %d" % (size, filled))
    found, _ = registers(b, three(pf.Event("cycles:u", BASE | pf.STACK_USER)))
    equal(found, [["none"]] * 3, "a stack alone")


def case_registers_as_perf_reads(b):
    """perf script finds the same registers and as much stack."""
    needs("perf")
    names = dict(AX=0, CX=1, DX=2, BX=3, SP=4, BP=5, SI=6, DI=7, FLAGS="flags", **{"R%d" % k: k for k in range(8, 16)})
    for fields in (BASE | pf.REGS_USER | pf.STACK_USER, ALL & ~pf.READ):
        for mask in (0xff0fff, 0xff0080):
            for kind in (2, 0):
                event = pf.Event("cycles:u", fields, branches=pf.BRANCH_ANY, registers=mask)
                values = some_values(mask) if kind else ()
                file = three(event, STACK, b"raw", registers=(kind, values), stack=(bytes(range(64)), 24))
                found, _ = registers(b, file)
                said = perf_script(b, file, "time,uregs").stdout
                lines = [line for line in said.splitlines() if line.strip()]
                equal(len(lines), 3, "samples of perf: " + said)
                for line, sample in zip(lines, found):
                    theirs = {"%s=%s" % (names[n], v) for n, v in re.findall(r"([A-Z]+\d*):0x([0-9a-f]+)", line) if n in names}
                    equal(theirs, {w for w in sample if w[0] != "s" and w != "none"}, "registers %x of kind %d" % (mask, kind))
                said = subprocess.run(["perf", "script", "-D", "-i", b.path("perf.data")], capture_output=True, text=True).stdout
                equal(re.findall(r"ustack: size (\d+)", said), ["24"] * 3, "perf's stacks")


def case_damaged_registers(b):
    """A stack that says more than its sample holds, and samples cut anywhere within registers and stack."""
    event = pf.Event("cycles:u", BASE | pf.REGS_USER | pf.STACK_USER)
    for size in (65, 73, 1 << 16, 1 << 32, 1 << 63, 2**64 - 8, 2**64 - 1):
        file = three(event)
        at = file.records.rindex(struct.pack("<Q", 64) + b"s" * 64)
        file.records = file.records[:at] + struct.pack("<Q", size) + file.records[at + 8:]
        registers(b, file, status=1)
    whole = three(event)
    length = 8 + 32 + 8 * (1 + bin(pf.REGISTERS).count("1")) + 8 + 64 + 8
    for cut in range(8, length, 8):
        file = pf.File([event])
        file.add(9, whole.records[-length:][8:cut], pf.USER)
        _, said = registers(b, file, status=1)
        expect("expected" in said, "cut to %d: why" % cut, said)


# ---- IBS ----

def ibs_file(ops, named=True):
    event = pf.Event("ibs_op/cnt_ctl=1/", BASE | pf.RAW, kind=IBS, precise=2)
    file = pf.File([event], [(4, "cpu"), (IBS, "ibs_op"), (IBS + 1, "ibs_fetch")] if named else [], cpu="AuthenticAMD,25,1,1")
    file.mapping("/bin/true", 0x400000, 0x10000)
    for k, op in enumerate(ops):
        file.sample(0, ip=0x400ff0, time=100 + k, raw=op)
    return file


def case_ibs(b):
    ops = [pf.ibs_op(0x401010), pf.ibs_op(0x401020, 0x401100, branch=True, taken=True),
           pf.ibs_op(0x401030, 0x401038, branch=True, taken=True, missed=True), pf.ibs_op(0x401040, 0x401200, branch=True),
           pf.ibs_op(0x401050, invalid_rip=True), pf.ibs_op(0x401060, valid=False),
           pf.ibs_op(0x401070, 0x401100, branch=True, taken=True, caps=0x1df), b"short"]
    for named in (True, False):
        found, _ = dump(b, ibs_file(ops, named))
        equal([(s[4], s[6], s[8:]) for s in found],
              [("401010", "exact", []), ("401020", "exact", ["401020/401100/0"]), ("401030", "exact", ["401030/401038/1"]),
               ("401040", "exact", []), ("400ff0", "near", []), ("400ff0", "near", []), ("401070", "exact", []),
               ("400ff0", "near", [])], "operations")


def case_ibs_as_perf_reads(b):
    """perf names the same registers."""
    needs("perf")
    path = b.write("perf.data", ibs_file([pf.ibs_op(0x401030, 0x401038, branch=True, taken=True, missed=True)]).bytes())
    said = subprocess.run(["perf", "script", "-D", "-i", path], capture_output=True, text=True).stdout
    for wanted in (r"IbsOpRip:\s*0*401030\b", r"IbsBrTarget:\s*0*401038\b", "OpBrnTaken 1", "OpBrnMisp 1"):
        expect(re.search(wanted, said), "perf says " + wanted, said[-2000:])


# ---- SPE ----

def spe_file(stream, tid=7, clock=True, kind=4, process=7):
    file = pf.File([pf.Event("arm_spe_0/branch_filter=1/", BASE, kind=SPE, period=4096)], [(SPE, "arm_spe_0")], arch="aarch64", cpu="0x410fd0c0")
    # the type of the events and the number of buffers
    file.add(70, struct.pack("<IIQQ", kind, 0, SPE, 0), 0)
    if clock:  # 1 tick is 40 ns
        file.add(79, struct.pack("<QQQ", 1, 80, 1000), 0)
    file.command("prog", pid=process)
    file.mapping("/bin/true", 0x400000, 0x10000, pid=process)
    file.trace(stream, tid)
    return file


def case_spe(b):
    stream = pf.spe_op(0x401010, ticks=10) + pf.spe_op(0x401020, 0x401100, events=0x82, context=7, ticks=12)
    stream += pf.spe_op(0x401030, 0x401200, events=0x42, ticks=13) + pf.spe_op(0x401040, events=0, ticks=14)
    stream += pf.spe_op(0xffff800010000000, level=1, ticks=15) + pf.spe_op(0x401050)
    stream += b"\x22\0" + bytes(-len(stream) % 8 or 8)[2:] + pf.spe_op(0x401060, ticks=16)  # aligned to 8
    found, said = dump(b, spe_file(stream))
    wanted = [("1400", "401010", []), ("1480", "401020", ["401020/401100/1"]), ("1520", "401030", []),
              ("1600", "ffff800010000000", []), ("1640", "401060", []), (str(2**64 - 1), "401050", [])]
    equal([(s[3], s[4], s[8:]) for s in found], wanted, "operations, without the one that did not retire")
    expect(all(s[1] == "7" and s[5] == "4096" and s[6] == "exact" for s in found), "process, period and address", found)
    expect("damaged=0 trace=none" in said, "nothing is passed over", said)


def case_spe_damaged(b):
    """Bytes that are no packets are passed over and counted."""
    stream = pf.spe_op(0x401010, ticks=10) + b"\xff\xff\xff" + pf.spe_op(0x401020, ticks=11) + pf.spe_op(0x401030, ticks=12)[:11]
    found, said = dump(b, spe_file(stream, clock=False))
    equal([s[4] for s in found], ["401010", "401020"], "operations")
    expect("damaged=3" in said, "three bytes", said)


def case_spe_threads(b):
    """A thread's process is found; where nothing tells, the program's is taken."""
    file = spe_file(pf.spe_op(0x401010, context=9), tid=0xffffffff)
    file.add(7, struct.pack("<IIIIQ", 7, 7, 9, 7, 5))
    file.trace(pf.spe_op(0x401020))
    found, _ = dump(b, file)
    equal(sorted((s[1], s[4]) for s in found), [("7", "401010"), ("7", "401020")], "processes")


def case_spe_as_perf_reads(b):
    needs("perf")
    stream = pf.spe_op(0x401010, ticks=10) + pf.spe_op(0x401020, 0x401100, events=0x82, ticks=12)
    path = b.write("perf.data", spe_file(stream).bytes())
    said = subprocess.run(["perf", "script", "-D", "-i", path], capture_output=True, text=True).stdout
    for wanted in ("PC 0x401010", "PC 0x401020", "TGT 0x401100", "MISPRED", r"TS 12\b"):
        expect(re.search(wanted, said), "perf says " + wanted, said[-2000:])


def case_other_traces(b):
    """A trace that is not read is named, and told where nothing else is in the file."""
    found, said = dump(b, spe_file(b"\x02\x82" * 8, kind=1))
    expect(not found and "trace=Intel PT" in said, "Intel PT", said)
    said = b.tool("infer", b.path("perf.data"), "-o", "none.prof", status=1).stderr
    expect("Intel PT" in said and "not read" in said, "infer says so", said)


# ---- records ----

def case_compressed(b):
    """The records of compressed data, and their later form, which says what is padding."""
    needs("zstd")
    plain = three(pf.Event("cycles:u", BASE))
    packed = subprocess.run(["zstd", "-qc"], input=plain.records, capture_output=True, check=True).stdout
    for kind, body in ((81, packed), (83, struct.pack("<Q", len(packed)) + packed + bytes(-len(packed) % 8))):
        file = pf.File(plain.events)
        file.add(kind, body, 0)
        found, said = dump(b, file)
        expect_three(found, "record %d" % kind)
        expect("compressed=1" in said, "compressed", said)
    file = pf.File(plain.events)
    file.add(83, struct.pack("<Q", 10**6) + packed + bytes(-len(packed) % 8), 0)
    _, said = dump(b, file, status=1)
    expect("expected a compressed record that holds its data" in said, "too long", said)


def case_damaged(b):
    """A field that says more than its sample holds is an error; what is read is never what comes behind."""
    event = pf.Event("cycles:u", BASE | pf.RAW | pf.BRANCH_STACK, branches=pf.BRANCH_ANY)
    file = three(event, STACK, b"raw")
    good = file.records
    at = good.rindex(b"raw") - 4
    file.records = good[:at] + struct.pack("<I", 0x7fffffff) + good[at + 4:]
    dump(b, file, status=1)
    at = good.rindex(struct.pack("<Q", 3))
    file.records = good[:at] + struct.pack("<Q", 1 << 60) + good[at + 8:]
    _, said = dump(b, file, status=1)
    expect("branch records in a sample" in said, "the number of branches", said)


def case_unknown(b):
    """Fields and records of later kernels: passed over."""
    file = three(pf.Event("cycles:u", BASE | 1 << 25 | 1 << 30))
    file.add(40, bytes(16))
    file.add(200, bytes(24))
    found, said = dump(b, file)
    expect_three(found, "unknown fields")
    expect("unknown=2" in said, "two records", said)


if __name__ == "__main__":
    harness.main(__doc__, ("--dump", {}))
