#!/usr/bin/env python3
"""From samples to compilers: record, infer, show, compare, export, and builds that
use what was exported.

    chain.py --bin BIN [--clangs 14,19,22] [--pmu simulated-pmu.so]

Where a compiler, valgrind or qemu is missing, what needs it is said to be missing
and fails: tests are not skipped in silence.
"""
import argparse
import json
import os
import re
import shutil
import struct
import sys
import tempfile

from common import check, result, run

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "shapes.cc")
# valgrind 3.19 cannot read clang's DWARF 5
DEBUG = ["-O2", "-g", "-gdwarf-4", "-fno-pie", "-no-pie"]
CALLGRIND = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no"]


class Chain:
    def __init__(self, folder, footpath):
        self.folder, self.footpath = folder, footpath

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *args):
        return run(self.footpath, *args, cwd=self.folder)

    def build(self, compiler, name, *flags):
        done = run(compiler, *DEBUG, *flags, SOURCE, "-o", self.path(name))
        check("%s builds" % compiler, done.returncode == 0, done.stderr[-500:])
        return self.path(name)

    def exact(self, exe):
        run(*CALLGRIND, "--callgrind-out-file=" + exe + ".callgrind", exe, "20000")
        done = self.tool("import", "--format", "callgrind", "--binary", exe, "-o", exe + ".exact", exe + ".callgrind")
        check("callgrind is imported", done.returncode == 0, done.stderr)
        return exe + ".exact"

    def sampled(self, exe, *how):
        done = self.tool("record", "-e", "cpu-clock", "-c", "200000", "-o", exe + ".data", "--", exe, "6000000")
        check("record ends as the program does", done.returncode == 0, done.stderr)
        done = self.tool("infer", exe + ".data", "--module", os.path.basename(exe), "-o", exe + ".prof", *how)
        check("infer", done.returncode == 0, done.stderr)
        return exe + ".prof"


def edges(chain, profile):
    return json.loads(chain.tool("export", "--format", "json", profile).stdout)["functions"]


def flow_is_conserved(chain, profile):
    bad = total = 0
    for f in edges(chain, profile):
        into, out = {0: f["calls"]}, {}
        for e in f["edges"]:
            out[e["from"]] = out.get(e["from"], 0) + e["count"]
            into[e["to"]] = into.get(e["to"], 0) + e["count"]
        total += len(out)
        bad += sum(out[b] != into.get(b, 0) for b in out)
    check("%s is a flow" % os.path.basename(profile), bad == 0 and total > 20, "%d of %d blocks are not" % (bad, total))


def overlap(chain, a, b):
    out = chain.tool("compare", "--metric", "overlap", a, b).stdout
    return float(out.split()[1]) if out else -1


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


def agrees_with_profgen(chain, exe, exact, version):
    counts = callgrind_counts(exe + ".callgrind", exe)
    ranges = "".join("%x-%x:%d\n" % (a, a, c) for a, c in sorted(counts.items()))
    with open(chain.path("unsymbolized"), "w") as out:
        out.write("%d\n%s0\n" % (len(counts), ranges))
    done = run("llvm-profgen-" + version, "--unsymbolized-profile=" + chain.path("unsymbolized"), "--binary=" + exe,
               "--use-offset=0", "--format=text", "--output=" + chain.path("theirs"))
    check("llvm-profgen runs", done.returncode == 0, done.stderr[-300:])
    check("exact counts are exported", chain.tool("export", "--format", "llvm-sample", exact, "-o",
                                                  chain.path("ours")).returncode == 0)
    ours, theirs = parse_profile(chain.path("ours")), parse_profile(chain.path("theirs"))
    differs = [(k, v, theirs.get(k)) for k, v in ours.items() if theirs.get(k) != v]
    check("positions and counts are those of llvm-profgen", len(ours) > 80 and not differs, differs[:3])
    # code without a line is at line 0 there, a large offset; we leave it out
    beyond = [k for k in theirs if k not in ours and int(k[1].split(".")[0]) < 0x8000]
    check("nothing is left out", not beyond, beyond[:3])


# ---- the parts ----

def test_clang(chain, version, first):
    clang = "clang++-" + version
    exe = chain.build(clang, "shapes" + version, "-fdebug-info-for-profiling")
    profile = chain.sampled(exe)
    exported = exe + ".llvm"
    check("llvm-sample is exported", chain.tool("export", "--format", "llvm-sample", profile, "-o", exported).returncode == 0)
    done = run(clang, *DEBUG, "-fdebug-info-for-profiling", "-fprofile-sample-use=" + exported, "-S", "-emit-llvm", SOURCE,
               "-o", "-")
    check("clang %s takes it" % version, done.returncode == 0, done.stderr[-300:])
    check("clang %s uses it" % version, done.stdout.count("!\"branch_weights\"") > 5 and
          "!\"function_entry_count\"" in done.stdout)
    if first:
        flow_is_conserved(chain, profile)
        exact = chain.exact(exe)
        flow_is_conserved(chain, exact)
        value = overlap(chain, exact, profile)
        check("the inferred profile is near the exact one", value > 0.5, value)
        check("an exact profile overlaps itself", overlap(chain, exact, exact) > 0.999999)
        check("show", "main" in chain.tool("show", profile).stdout)
        agrees_with_profgen(chain, exe, exact, version)


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


def test_gcc(chain, gcc):
    exe = chain.build(gcc, "shapes.gcc")
    exported = exe + ".afdo"
    profile = chain.sampled(exe)
    check("gcc-afdo is exported", chain.tool("export", "--format", "gcc-afdo", profile, "-o", exported).returncode == 0)
    # gcc 12 takes what has no count for never executed, and divides by that
    nodes = read_afdo(exported)
    inside = [[l for l in lines if l < 0x8000] for _, lines in nodes]
    check("every line has a count", len(nodes) > 5 and all(sorted(l) == list(range(len(l))) for l in inside),
          [n for n, l in zip(nodes, inside) if sorted(l) != list(range(len(l)))][:1])
    counts = [c for _, lines in nodes for c in lines.values()]
    check("no count is near 0", min(counts) >= max(counts) >> 20 > 0, (min(counts), max(counts)))
    done = run(gcc, *DEBUG, "-fauto-profile=" + exported, "-fdump-tree-optimized-all", "-c", SOURCE, "-o",
               chain.path("used.o"), cwd=chain.folder)
    dumps = [f for f in os.listdir(chain.folder) if f.endswith(".optimized")]
    text = "".join(open(chain.path(f), errors="replace").read() for f in dumps)
    check("gcc takes it", done.returncode == 0, done.stderr[-300:])
    check("gcc uses it", text.count("(auto FDO)") > 20, "%d times" % text.count("(auto FDO)"))


def test_instrumented(chain, bin_folder):
    """The exports take instrumented profiles as well."""
    exe = chain.path("instrumented")
    done = run(os.path.join(bin_folder, "footpath-c++"), "-O2", "-g", SOURCE, "-o", exe)
    check("footpath-c++ builds", done.returncode == 0, done.stderr[-300:])
    run(exe, "20000", env=dict(os.environ, FOOTPATH_OUT=exe + ".prof"))
    for kind in ("llvm-sample", "gcc-afdo"):
        done = chain.tool("export", "--format", kind, exe + ".prof", "-o", exe + "." + kind)
        check("%s of an instrumented profile" % kind, done.returncode == 0, done.stderr)
    counts = parse_profile(exe + ".llvm-sample")
    check("with its exact counts", 20000 in counts.values(), sorted(set(counts.values()))[-5:])


def test_pmu(chain, plugin):
    """Several events of the simulated PMU: classification and learning."""
    exe = chain.path("shapes19") if os.path.exists(chain.path("shapes19")) else chain.build("c++", "shapes19")
    exact = chain.exact(exe)
    data = chain.path("pmu.data")
    done = run("qemu-x86_64", "-plugin", plugin + ",out=" + data + ",period=503,mask=0x7f,rare=31", exe, "20000")
    check("the simulated PMU", os.path.exists(data), done.stderr[-300:])
    values = {}
    for name, how in (("plain", ("--costs", "levin")), ("classified", ("--classify",))):
        done = chain.tool("infer", data, "--event", "INST_RETIRED", "-o", chain.path(name), *how)
        check("infer from it, " + name, done.returncode == 0, done.stderr)
        values[name] = overlap(chain, exact, chain.path(name))
    check("classification is better than plain minimum cost flow", values["classified"] > values["plain"], values)
    learnt = chain.tool("learn", "--truth", exact, data, "--json")
    check("learn", learnt.returncode == 0, learnt.stderr)
    check("a weight per event", len(json.loads(learnt.stdout)["weights"]) == 5, learnt.stdout)


def test_errors(chain):
    """Nothing to infer from is an error that says why."""
    done = chain.tool("record", "--quiet", "-e", "cpu-clock", "-c", "4000000000", "-o", "none.data", "--", "true")
    check("record of nothing", done.returncode == 0, done.stderr)
    done = chain.tool("infer", "none.data", "-o", "none.prof")
    check("no samples", done.returncode == 1 and "no samples" in done.stderr, done.stderr)
    done = chain.tool("infer", SOURCE)
    check("not samples", done.returncode == 1 and "expected samples" in done.stderr, done.stderr)
    check("unknown event", chain.tool("record", "-e", "no-such-event", "--", "true").returncode == 2)
    check("status of the program", chain.tool("record", "-e", "cpu-clock", "--", "sh", "-c", "exit 7").returncode == 7)
    done = chain.tool("record", "-e", "instructions", "-o", "i.data", "--", "true")
    check("instructions, or a fallback that is said", done.returncode == 0 and
          ("cpu-clock" in done.stderr or "samples" in done.stderr), done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--clangs", default="19")
    parser.add_argument("--pmu")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chain = Chain(folder, os.path.join(args.bin, "footpath"))
        for i, version in enumerate(args.clangs.split(",")):
            test_clang(chain, version, i == 0)
        test_gcc(chain, "g++-12" if shutil.which("g++-12") else "g++")
        test_instrumented(chain, args.bin)
        if args.pmu:
            test_pmu(chain, args.pmu)
        test_errors(chain)
    return result()


if __name__ == "__main__":
    sys.exit(main())
