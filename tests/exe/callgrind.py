"""Counts of a rewritten program against callgrind's counts of the program: every block and every branch."""
import collections
import json
import os
import re
import shutil
import struct

from harness import expect

# Where valgrind loads a program that has no fixed address.
LOADED = (0x108000, 0x109000, 0x400000)


def read_counts(path, program):
    """Executions of instructions and taken branches, by address, of one object in callgrind's file."""
    executed, taken = collections.Counter(), collections.Counter()
    names, ours, skip, jumps = {}, False, False, None
    with open(path, errors="replace") as f:
        for line in f:
            found = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?$", line)
            if found:
                if found.group(3):
                    names[found.group(2)] = found.group(3)
                if not found.group(1):
                    ours = names.get(found.group(2)) == program
            elif line.startswith("calls="):
                skip = True
            elif line.startswith("jcnd="):
                jumps = int(re.match(r"jcnd=(\d+)/", line).group(1))
            elif line.startswith("jump="):
                jumps = -1
            elif line.startswith("0x"):
                words = line.split()
                address = int(words[0], 16)
                if skip:
                    skip = False
                elif jumps is not None:
                    if jumps >= 0 and ours:
                        taken[address] += jumps
                    jumps = None
                elif ours and len(words) > 2:
                    executed[address] += int(words[2])
    return executed, taken


def read_graphs(path):
    """What --graph wrote: name -> function. Names that are there twice are left out."""
    functions, twice, one = {}, set(), None
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] == "F":
                one = {"address": int(words[1], 16), "blocks": {}, "edges": []}
                if words[2] in functions:
                    twice.add(words[2])
                functions[words[2]] = one
            elif words[0] == "B":
                one["blocks"][int(words[1])] = (int(words[2], 16), int(words[3]))
            else:
                one["edges"].append((int(words[1]), int(words[2]), words[3], int(words[4], 16)))
    return {name: f for name, f in functions.items() if name not in twice}


def read_profile(shown):
    """Executions of blocks and edges, by function, from show --json."""
    blocks, edges = collections.Counter(), collections.Counter()
    for f in json.loads(shown)["functions"]:
        if "not_measured" in f:
            continue
        name = f["linkage_name"]
        expect("problem" not in f, "%s: %s" % (name, f.get("problem")))
        blocks[name, 0] += f["calls"]
        for edge in f.get("edges", []):
            blocks[name, edge["to"]] += edge["count"]
            edges[name, edge["from"], edge["to"]] += edge["count"]
    return blocks, edges


def bias(program, functions, executed):
    with open(program, "rb") as f:
        fixed = struct.unpack_from("<H", f.read(18), 16)[0] == 2
    if fixed:
        return 0
    for at in (0,) + LOADED:
        if any(f["address"] + at in executed for f in functions.values()):
            return at
    return 0


def compare(b, program, *words, input=None, prepare=None, ignore=(), options=()):
    """Runs the program under callgrind and its copy that counts under valgrind, at one place and with one environment.
    Returns (blocks executed, blocks, branches, what differs). prepare: called before each run. options: of footpath exe."""
    folder = b.path("at")
    os.makedirs(folder, exist_ok=True)
    place, profile = os.path.join(folder, os.path.basename(program)), b.path("counts.prof")
    b.tool("exe", program, "-o", b.path("rewritten"), "--graph", b.path("graph"), *options, silent=True)
    outputs = []
    for file, tool in ((program, ["--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--compress-pos=no", "--skip-plt=no",
                                  "--callgrind-out-file=" + b.path("callgrind.out")]), (b.path("rewritten"), ["--tool=none"])):
        if prepare:
            prepare()
        if os.path.exists(place):
            os.unlink(place)
        shutil.copy(file, place)
        if os.path.exists(profile):
            os.unlink(profile)
        with open(input or os.devnull, "rb") as stdin:
            done = b.run("valgrind", "-q", *tool, place, *words, status=None, env={"FOOTPATH_OUT": profile}, stdin=stdin,
                         text=False)
        outputs.append((done.returncode, done.stdout))
    expect(outputs[0] == outputs[1], "output of %s %s" % (program, " ".join(words)))
    functions = read_graphs(b.path("graph"))
    executed, taken = read_counts(b.path("callgrind.out"), place)
    blocks, edges = read_profile(b.tool("show", "--json", profile, silent=True).stdout)
    at = bias(program, functions, executed)
    differ, total, ran, branches = [], 0, 0, 0
    for name, f in functions.items():
        if name in ignore:
            continue
        ways = collections.Counter(edge[0] for edge in f["edges"])
        for block, (address, instructions) in f["blocks"].items():
            if not instructions:
                continue
            total, ran = total + 1, ran + (executed[address + at] > 0)
            if blocks[name, block] != executed[address + at]:
                differ.append("%s block %d at %x: %d, callgrind %d" % (name, block, address, blocks[name, block],
                                                                      executed[address + at]))
        for source, target, way, address in f["edges"]:
            if way != "taken" or ways[source] == 1:
                continue
            branches += 1
            if edges[name, source, target] != taken[address + at]:
                differ.append("%s branch at %x: %d, callgrind %d" % (name, address, edges[name, source, target],
                                                                    taken[address + at]))
    return ran, total, branches, differ


def same(b, program, *words, **how):
    ran, blocks, branches, differ = compare(b, program, *words, **how)
    expect(ran > 0, "nothing ran")
    expect(not differ, "%d of %d blocks and branches of %s differ:\n%s" % (len(differ), blocks + branches, program,
                                                                           "\n".join(differ[:20])))
    return ran
