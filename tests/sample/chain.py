#!/usr/bin/env python3
"""From samples to compilers: record, infer, show, compare, export, and builds that
use what was exported.

    chain.py --bin BIN [--llvm 19] [--pmu simulated-pmu.so] [--case NAME]...

Where a compiler, valgrind or qemu is missing, what needs it is said to be missing
and fails: tests are not skipped in silence.
"""
import os
import re
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import expect, likely  # noqa: E402

SOURCE = os.path.join(HERE, "shapes.cc")
# valgrind 3.19 cannot read clang's DWARF 5
DEBUG = ["-O2", "-g", "-gdwarf-4", "-fno-pie", "-no-pie"]
CALLGRIND = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no"]


class Chain(harness.Bench):
    def build(self, compiler, name, *flags):
        self.run(compiler, *DEBUG, *flags, SOURCE, "-o", self.path(name))
        return self.path(name)

    def exact(self, exe):
        self.run(*CALLGRIND, "--callgrind-out-file=" + exe + ".callgrind", exe, "20000")
        self.tool("import", "--format", "callgrind", "--binary", exe, "-o", exe + ".exact", exe + ".callgrind")
        return exe + ".exact"

    def sampled(self, exe, *how):
        """A profile inferred from samples of a run."""
        self.tool("record", "-e", "cpu-clock", "-c", "200000", "-o", exe + ".data", "--", exe, "6000000")
        self.tool("infer", exe + ".data", "--module", os.path.basename(exe), "-o", exe + ".prof", *how)
        return exe + ".prof"


def edges(chain, profile):
    return chain.json("export", "--format", "json", profile)["functions"]


def flow_is_conserved(chain, profile):
    bad = total = 0
    for f in edges(chain, profile):
        into, out = {0: f["calls"]}, {}
        for e in f["edges"]:
            out[e["from"]] = out.get(e["from"], 0) + e["count"]
            into[e["to"]] = into.get(e["to"], 0) + e["count"]
        total += len(out)
        bad += sum(out[b] != into.get(b, 0) for b in out)
    expect(bad == 0 and total > 20, "%s is a flow" % os.path.basename(profile), "%d of %d blocks are not" % (bad, total))


def overlap(chain, a, b):
    return float(chain.tool("compare", "--metric", "overlap", a, b).stdout.split()[1])


# ---- what clang's own tool makes of the same counts ----

def parse_profile(path):
    """(functions inlined into each other, position) -> count"""
    found, stack = {}, []
    with open(path) as f:
        for line in f:
            text = line.strip()
            depth = len(line.rstrip("\n")) - len(line.rstrip("\n").lstrip(" "))
            if not text or text.startswith("!"):
                continue
            if depth == 0:
                stack = [text.rsplit(":", 2)[0]]
                continue
            position, rest = text.split(": ", 1)
            stack = stack[:depth]
            if re.match(r"^\S+:\d+$", rest):
                stack.append((position, rest.rsplit(":", 1)[0]))
            elif int(rest.split(" ")[0]):
                found[(tuple(stack), position)] = int(rest.split(" ")[0])
    return found


def callgrind_counts(path, exe):
    """Executions per address of the program's own code."""
    counts, names, address, here, skip = {}, {}, 0, False, False

    def place(text, last):
        if text == "*":
            return last
        return last + int(text, 0) if text[0] in "+-" else int(text, 0)

    with open(path) as f:
        for line in f:
            m = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
            if m:
                if m.group(3):
                    names[m.group(2)] = m.group(3).endswith("/" + os.path.basename(exe))
                here = here if m.group(1) else names[m.group(2)]
            elif line.startswith(("calls=", "jump=", "jcnd=")):
                skip = True
            elif re.match(r"[0-9+*-]", line):
                parts = line.split()
                address = place(parts[0], address)
                if here and not skip:
                    counts[address] = counts.get(address, 0) + int(parts[2])
                skip = False
    return counts


def agrees_with_profgen(chain, exe, exact):
    counts = callgrind_counts(exe + ".callgrind", exe)
    ranges = "".join("%x-%x:%d\n" % (a, a, c) for a, c in sorted(counts.items()))
    chain.write("unsymbolized", "%d\n%s0\n" % (len(counts), ranges))
    chain.run("llvm-profgen-" + chain.args.llvm, "--unsymbolized-profile=unsymbolized", "--binary=" + exe, "--use-offset=0",
              "--format=text", "--output=theirs")
    chain.tool("export", "--format", "llvm-sample", exact, "-o", "ours")
    ours, theirs = parse_profile(chain.path("ours")), parse_profile(chain.path("theirs"))
    differs = [(k, v, theirs.get(k)) for k, v in ours.items() if theirs.get(k) != v]
    expect(len(ours) > 80 and not differs, "positions and counts are those of llvm-profgen", differs[:3])
    # code without a line is at line 0 there, a large offset; we leave it out
    beyond = [k for k in theirs if k not in ours and int(k[1].split(".")[0]) < 0x8000]
    expect(not beyond, "nothing is left out", beyond[:3])


# ---- the parts ----

def clang_build(chain):
    return chain.build("clang++-" + chain.args.llvm, "shapes" + chain.args.llvm, "-fdebug-info-for-profiling")


def case_clang(chain):
    """clang takes an inferred profile and uses it."""
    exe = clang_build(chain)
    chain.tool("export", "--format", "llvm-sample", chain.sampled(exe), "-o", exe + ".llvm")
    made = chain.clang(*DEBUG, "-fdebug-info-for-profiling", "-fprofile-sample-use=" + exe + ".llvm", "-S", "-emit-llvm",
                       SOURCE, "-o", "-").stdout
    expect(made.count("!\"branch_weights\"") > 5 and "!\"function_entry_count\"" in made, "clang uses it")


def case_most_samples(chain):
    """Of all modules that have samples, commands show the one with most: the program, not the loader."""
    exe = clang_build(chain)
    chain.tool("record", "-e", "cpu-clock", "-c", "200000", "-o", "all.data", "--", exe, "6000000")
    chain.tool("infer", "all.data", "-o", "all.prof")
    chain.tool("infer", "all.data", "--module", os.path.basename(exe), "-o", "alone.prof")
    said = [chain.json("show", "--json", "--top", "0", name)["functions"] for name in ("all.prof", "alone.prof")]
    likely(said[0] == said[1], "the program that was recorded is shown", said[0][:1])


def case_exact(chain):
    """An inferred profile is near the exact one, which llvm-profgen agrees with."""
    exe = clang_build(chain)
    profile, exact = chain.sampled(exe), chain.exact(exe)
    flow_is_conserved(chain, profile)
    flow_is_conserved(chain, exact)
    value = overlap(chain, exact, profile)
    likely(value > 0.5, "the inferred profile is near the exact one", value)
    expect(overlap(chain, exact, exact) > 0.999999, "an exact profile overlaps itself")
    expect("main" in chain.tool("show", profile).stdout, "show")
    agrees_with_profgen(chain, exe, exact)


def case_exact_gcc(chain):
    """So is that of gcc's code, and nearer than by the literature's costs."""
    exe = chain.build("g++", "shapes.by-gcc")
    profile, exact = chain.sampled(exe), chain.exact(exe)
    flow_is_conserved(chain, profile)
    values = {"footpath": overlap(chain, exact, profile)}
    chain.tool("infer", exe + ".data", "--module", os.path.basename(exe), "--costs", "levin", "-o", exe + ".levin")
    values["levin"] = overlap(chain, exact, exe + ".levin")
    likely(values["footpath"] > 0.5, "the inferred profile is near the exact one", values)
    likely(values["footpath"] > values["levin"], "nearer than by the costs of the literature", values)


def case_followed(chain):
    """Registers of samples tell where a branch goes whose sides take different times; without them time is taken for executions."""
    exe = chain.path("lopsided")
    chain.run("gcc", *DEBUG, os.path.join(HERE, "lopsided.c"), "-o", exe)
    # as many rounds as samples are of, since filling the memory counts as well
    chain.run(*CALLGRIND, "--callgrind-out-file=" + exe + ".callgrind", exe, "30000000")
    chain.tool("import", "--format", "callgrind", "--binary", exe, "-o", exe + ".exact", exe + ".callgrind")
    chain.tool("record", "-e", "cpu-clock", "-c", "100000", "-o", exe + ".data", "--", exe, "30000000")
    values = {}
    for name, how in (("with", ()), ("without", ("--no-registers",))):
        said = chain.tool("infer", exe + ".data", "--module", "lopsided", "-o", exe + "." + name, *how).stdout
        expect(("by their registers" in said) == (name == "with"), "%s registers" % name, said)
        values[name] = overlap(chain, exe + ".exact", exe + "." + name)
    likely(values["with"] > 0.85, "the profile is near the exact one", values)
    likely(values["with"] > values["without"] + 0.05, "nearer than by time alone", values)
    chain.tool("record", "-e", "cpu-clock", "-c", "100000", "--no-registers", "-o", exe + ".plain", "--", exe, "3000000")
    said = chain.tool("infer", exe + ".plain", "--module", "lopsided", "-o", exe + ".without").stdout
    expect("registers" not in said, "a recording without registers", said)
    expect(os.path.getsize(exe + ".plain") < os.path.getsize(exe + ".data") / 4, "is smaller")


def case_outside(chain):
    """Constants that the loader puts where the file has zeros decide nothing."""
    chain.run("gcc", "-O1", "-shared", "-fPIC", os.path.join(HERE, "outside_lib.c"), "-o", "liboutside.so")
    for name, flags in (("copies", ["-fno-pie", "-no-pie"]), ("pointers", ["-fPIE", "-pie", "-DPOINTERS"])):
        exe = chain.path(name)
        chain.run("gcc", "-O1", "-g", *flags, os.path.join(HERE, "outside.c"), "-o", exe, "-L" + chain.folder, "-loutside",
                  "-Wl,-rpath," + chain.folder)
        chain.tool("record", "-e", "cpu-clock", "-c", "100000", "-o", exe + ".data", "--", exe, "30000000")
        chain.tool("infer", exe + ".data", "--module", name, "-o", exe + ".prof")
        look = [f for f in edges(chain, exe + ".prof") if f["name"] == "look"][0]
        ways = [[e["count"] for e in look["edges"] if e["from"] == b] for b in {e["from"] for e in look["edges"]}]
        branch = [sorted(counts) for counts in ways if len(counts) == 2]
        expect(len(branch) == 1, name + ": one branch", look)
        likely(branch[0][0] < branch[0][1] / 10, name + ": goes one way", branch)


def case_periods(chain):
    """A file that says that its samples stand for nothing: they count all the same."""
    exe = clang_build(chain)
    chain.sampled(exe)
    data = bytearray(open(exe + ".data", "rb").read())
    first, size = struct.unpack_from("<QQ", data, 40)
    at = first
    while at < first + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:  # identifier, ip, pid and tid, time, cpu, period
            struct.pack_into("<Q", data, at + 8 + 40, 0)
        at += length
    open(chain.path("nothing.data"), "wb").write(data)
    for how in ((), ("--no-registers",)):
        chain.tool("infer", "nothing.data", "--module", os.path.basename(exe), "-o", "nothing.prof", *how)


def read_afdo(path):
    """Every node of a gcc-afdo file: its name and its counts by line."""
    with open(path, "rb") as f:
        data = f.read()
    at, nodes = 12, []

    def take(form):
        nonlocal at
        value = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def node():
        nonlocal at
        name, positions, inlined = take("<III")
        lines = {}
        nodes.append((names[name], lines))
        for _ in range(positions):
            position, targets, count = take("<IIQ")
            lines[position >> 16] = count
            at += targets * 20
        for _ in range(inlined):
            take("<I")
            node()

    _, _, count = take("<III")
    names = []
    for _ in range(count):
        size, = take("<I")
        names.append(data[at:at + size - 1].decode())
        at += size
    _, _, count = take("<III")
    for _ in range(count):
        take("<Q")
        node()
    return nodes


def case_gcc(chain):
    gcc = "g++-12" if shutil.which("g++-12") else "g++"
    exe = chain.build(gcc, "shapes.gcc")
    exported = exe + ".afdo"
    chain.tool("export", "--format", "gcc-afdo", chain.sampled(exe), "-o", exported)
    # gcc 12 takes what has no count for never executed, and divides by that
    nodes = read_afdo(exported)
    inside = [[l for l in lines if l < 0x8000] for _, lines in nodes]
    expect(len(nodes) > 5 and all(sorted(l) == list(range(len(l))) for l in inside), "every line has a count",
           [n for n, l in zip(nodes, inside) if sorted(l) != list(range(len(l)))][:1])
    counts = [c for _, lines in nodes for c in lines.values()]
    expect(min(counts) >= max(counts) >> 20 > 0, "no count is near 0", (min(counts), max(counts)))
    chain.run(gcc, *DEBUG, "-fauto-profile=" + exported, "-fdump-tree-optimized-all", "-c", SOURCE, "-o", "used.o")
    dumps = [f for f in os.listdir(chain.folder) if f.endswith(".optimized")]
    text = "".join(open(chain.path(f), errors="replace").read() for f in dumps)
    expect(text.count("(auto FDO)") > 20, "gcc uses it", "%d times" % text.count("(auto FDO)"))


def case_instrumented(chain):
    """The exports take instrumented profiles as well."""
    chain.cc("-O2", "-g", SOURCE, "-o", "instrumented")
    profile = chain.profile("instrumented", "instrumented.prof", "20000")
    for kind in ("llvm-sample", "gcc-afdo"):
        chain.tool("export", "--format", kind, profile, "-o", kind)
    counts = parse_profile(chain.path("llvm-sample"))
    expect(20000 in counts.values(), "with its exact counts", sorted(set(counts.values()))[-5:])


def case_pmu(chain):
    """Several events of the simulated PMU: classification and learning."""
    exe = clang_build(chain)
    exact = chain.exact(exe)
    data = chain.path("pmu.data")
    chain.run("qemu-x86_64", "-plugin", chain.args.pmu + ",out=" + data + ",period=503,mask=0x7f,rare=31", exe, "20000")
    values = {}
    for name, how in (("plain", ("--costs", "levin")), ("classified", ("--classify",))):
        chain.tool("infer", data, "--event", "INST_RETIRED", "-o", chain.path(name), *how)
        values[name] = overlap(chain, exact, chain.path(name))
    expect(values["classified"] > values["plain"], "classification is better than plain minimum cost flow", values)
    learnt = chain.json("learn", "--truth", exact, data, "--json")
    expect(len(learnt["weights"]) == 11, "a weight per event", learnt)
    two = chain.json("learn", "--truth", exact, data, "--truth", exact, data, "--json")
    expect(two["blocks"] == 2 * learnt["blocks"], "of both programs", two)
    chain.tool("learn", "--truth", exact, data, data, status=2)
    some = chain.json("learn", "--truth", exact, data, "--event", "DTLB_MISS", "--event", "INST_RETIRED", "--json")
    expect(list(some["weights"]) == ["DTLB_MISS", "INST_RETIRED"], "of the events that are named", some)
    chain.tool("learn", "--truth", exact, data, "--event", "NO_SUCH", status=1)


def case_errors(chain):
    """Nothing to infer from is an error that says why."""
    chain.tool("record", "--quiet", "-e", "cpu-clock", "-c", "4000000000", "-o", "none.data", "--", "true")
    said = chain.tool("infer", "none.data", "-o", "none.prof", status=1).stderr
    expect("no samples" in said, "no samples", said)
    said = chain.tool("infer", SOURCE, status=1).stderr
    expect("expected samples" in said, "not samples", said)
    chain.tool("record", "-e", "no-such-event", "--", "true", status=2)
    chain.tool("record", "-e", "cpu-clock", "--", "sh", "-c", "exit 7", status=7)


def case_record_asked(chain):
    """What was asked for is recorded, or nothing; the closing line tells event, period and lost samples."""
    said = chain.tool("record", "-o", "i.data", "--", "true").stderr
    expect("instructions every 202001" in said or "sampled cpu-clock every 250000 ns" in said, "the event and its period", said)
    has_counter = "sampled cpu-clock" not in said
    said = chain.tool("record", "-c", "1000003", "-o", "i.data", "--", "true").stderr
    expect("every 1000003" in said and " lost;" in said, "the period that was asked for", said)
    said = chain.tool("record", "-e", "cpu-clock:u,task-clock", "-c", "300000", "-o", "i.data", "--", "true").stderr
    expect("cpu-clock:u every 300000 ns, task-clock every 300000 ns" in said, "each event", said)
    for name in ("cpu-clock:p", "cpu-clock:pppp", "cpu-clock:x", "cpu-clock:", "no-such-event:p"):
        said = chain.tool("record", "-e", name, "--", "true", status=2).stderr
        expect("unknown event " + name in said, "no such form", said)
    if not has_counter:
        for name in ("instructions", "instructions:p", "r00c0:ppp"):
            said = chain.tool("record", "-e", name, "-o", "n.data", "--", "true", status=1).stderr
            expect(name + ": this machine has no counter" in said and "-e cpu-clock" in said, "not silently another event", said)
    expect(not os.path.exists(chain.path("n.data")), "no file without samples", "n.data")


if __name__ == "__main__":
    harness.main(__doc__, ("--pmu", {"help": "the plugin simulated-pmu.so of qemu"}), bench=Chain)
