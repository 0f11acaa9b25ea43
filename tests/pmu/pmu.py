#!/usr/bin/env python3
"""The simulated PMU shows what paper 003 found of real ones (section 3): samples in step with a loop,
skid onto instructions that stall, shadow behind them, groups that retire together, precise events
that miss bursts.

    pmu.py --bin BIN --pmu simulated-pmu.so [--case NAME]...
"""
import collections
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect, needs, run  # noqa: E402

EVENTS = ("INST_RETIRED", "CPU_CLK_UNHALTED", "INST_RETIRED_0", "INST_RETIRED_4", "INST_RETIRED_PEBS", "L1I_MISS", "DTLB_MISS",
          "L2_MISS", "BR_MISP", "MISPREDICTED_PEBS",
          "LONG_STALL")

# the loop of Figure 1: sixteen instructions that wait for each other, and three that do not
CHAIN = ["%s $%d, %%rdx" % ("or" if k % 2 else "add", k + 1) for k in range(16)] + ["add $1, %esi", "cmp %rcx, %rdx"]
FIGURE_1 = """
        .globl _start
_start: xor %%edx, %%edx
        mov $%d, %%ecx
        .p2align 5
%s
last:   jbe at0
        mov $60, %%eax
        xor %%edi, %%edi
        syscall
""" % (40000000, "\n".join("at%d: %s" % (k, line) for k, line in enumerate(CHAIN)))

# the loop of Figure 2: a load that misses, and additions around it
FIGURE_2 = """
        .bss
        .p2align 12
table:  .skip 1 << 24
        .text
        .globl _start
_start: mov $60000, %%ecx
        mov $1, %%edx
        .p2align 5
loop:   imul $1664525, %%edx, %%edx
        add $1013904223, %%edx
        mov %%edx, %%eax
        shr $8, %%eax
at0:    movzbl table(%%rax), %%ebx
        mov %%ebx, %%edi
%s
        dec %%ecx
        jnz loop
        mov $60, %%eax
        xor %%edi, %%edi
        syscall
""" % "\n".join("at%d: add %%ecx, %%edi" % k for k in range(1, 121))


def samples(b, source, *settings):
    """Per event: samples by label."""
    needs("qemu-x86_64")
    b.write("loop.s", source)
    b.run("cc", "-nostdlib", "-static", "-no-pie", "loop.s", "-o", "loop")
    b.run("qemu-x86_64", "-plugin", ",".join((b.args.pmu, "out=" + b.path("pmu.data")) + settings), "./loop")
    labels = {}
    for line in run("nm", b.path("loop")).stdout.splitlines():
        address, _, name = line.split()
        labels[int(address, 16)] = name
    found = {event: collections.Counter() for event in EVENTS}
    data = b.read("pmu.data")
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            event, address = struct.unpack_from("<QQ", data, at + 8)
            found[EVENTS[event - 1]][labels.get(address, "other")] += 1
        at += length
    return found


def spread(counter, names):
    """The deviation from the mean, as a part of it."""
    values = [counter[name] for name in names]
    mean = sum(values) / len(values)
    return (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5 / mean


LOOP_1 = ["at%d" % k for k in range(len(CHAIN))] + ["last"]


def case_synchronization(b):
    """Section 3.1: with a period that is a multiple of the loop's length one instruction gets all samples."""
    fixed = samples(b, FIGURE_1, "period=%d" % (len(LOOP_1) * 211), "mask=0", "rare=101")["INST_RETIRED"]
    most = max(fixed.values())
    expect(sum(fixed.values()) > 500 and most > 0.95 * sum(fixed.values()), "one instruction has all", fixed)
    chance = samples(b, FIGURE_1, "period=%d" % (len(LOOP_1) * 211), "mask=0xfff", "rare=101")["INST_RETIRED"]
    expect(spread(chance, LOOP_1) < 1, "random periods reach all", chance)


def case_groups(b):
    """Section 3.3: of instructions that retire together the first has the samples of all."""
    found = samples(b, FIGURE_1, "period=2003", "mask=0x3ff", "rare=101")["INST_RETIRED"]
    mean = sum(found.values()) / len(LOOP_1)
    expect(sum(1 for name in LOOP_1 if found[name] == 0) >= 1, "an instruction has none", found)
    expect(max(found.values()) > 1.5 * mean, "another has theirs", found)


def case_precise(b):
    """Section 3.2: precise samples are less even, and there is no instruction of the loop that all miss."""
    found = samples(b, FIGURE_1, "period=2003", "mask=0x3ff", "rare=101")
    even, precise = (spread(found[name], LOOP_1) for name in ("CPU_CLK_UNHALTED", "INST_RETIRED_PEBS"))
    expect(precise > even, "cycles are more even than precise events", (even, precise))


def case_aggregation(b):
    """Figure 2: a load that misses has many times its samples, what retires in its shadow hardly any."""
    found = samples(b, FIGURE_2, "period=211", "mask=0x3f", "rare=101")
    instructions, cycles = found["INST_RETIRED"], found["CPU_CLK_UNHALTED"]
    mean = sum(instructions.values()) / 128
    shadow = sum(instructions["at%d" % k] for k in range(2, 25)) / 23
    behind = sum(instructions["at%d" % k] for k in range(60, 100)) / 40
    print("samples of the load: %d; of 23 instructions in its shadow: %d; behind that, each: %.0f" % (
        instructions["at0"], 23 * shadow, behind))
    expect(instructions["at0"] > 10 * mean, "the load has more than its samples", (instructions["at0"], mean))
    expect(shadow < mean / 50, "its shadow has less", (shadow, mean))
    expect(behind > mean / 2, "what is behind the shadow has its own", (behind, mean))
    early, late = (sum(cycles["at%d" % k] for k in range(*ends)) / 20 for ends in ((4, 24), (80, 100)))
    expect(0.7 < early / late < 1.4, "cycles have no shadow", (early, late))
    expect(cycles["at0"] > 20 * late, "and see the stall", (cycles["at0"], late))
    expect(found["DTLB_MISS"]["at0"] == sum(found["DTLB_MISS"].values()) > 100, "the load is named", found["DTLB_MISS"])
    none = found["INST_RETIRED_0"]
    expect(none["at0"] > 0.5 * sum(none.values()), "no instruction retires meanwhile", none)
    stalled = found["LONG_STALL"]
    expect(stalled["at0"] > 0.9 * sum(stalled.values()) > 0.5 * cycles["at0"], "and that is a long stall", stalled)


if __name__ == "__main__":
    harness.main(__doc__, ("--pmu", {"help": "the plugin simulated-pmu.so of qemu"}))
