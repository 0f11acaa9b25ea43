#!/usr/bin/env python3
"""Random C programs with --fp-cuts=paper: their profiles are the paths of paper 001, path for path.

    paper.py --bin BUILD/bin --count 20 [--llvm 14,19,22] [--opt=-O0,-O2] [--seed 1] [--all] [--save FOLDER]

A second implementation, without a line of footpath. clang prints the IR that it compiles. A call is
put into each block, and the program that results (recorder.c) writes down which blocks each call of a
function enters. The definition of the paper is applied to that: an edge that closes a cycle in a
depth-first search from the entry ends a path and begins one. The paths and their counts must be those of
footpath-cc --fp-cuts=paper, as `show --json` has them; so must be the edges of each graph and the
number of possible paths.
"""
import collections
import json
import os
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import irtext  # noqa: E402
import run as campaign  # noqa: E402
from run import LIMIT, Failure, Unsuited, execute, flags_of, must  # noqa: E402

# the blocks stay the same: what differs is how paths are counted
VARIANTS = ["", "--fp-array-paths=16", "--fp-mode=check", "--fp-threads=atomic", "--fp-exits", "--fp-weights=static"]
TOO_LONG = 97  # recorder.c
MOST_PATHS = 2**62


# ---- the definition ----

def back_edges(successors):
    """Edges to a block that the depth-first search has entered and not left. Blocks come in the order of the IR."""
    back, entered, left = set(), {0}, set()
    stack = [(0, iter(successors[0]))]
    while stack:
        block, rest = stack[-1]
        to = next(rest, None)
        if to is None:
            left.add(block)
            stack.pop()
        elif to not in entered:
            entered.add(to)
            stack.append((to, iter(successors[to])))
        elif to not in left:
            back.add((block, to))
    return back, entered


def dominators(successors, reached):
    """Of each block the set of those on every way to it, as bits."""
    before = collections.defaultdict(list)
    for block in reached:
        for to in successors[block]:
            before[to].append(block)
    everything = sum(1 << block for block in reached)
    result = {block: everything for block in reached}
    result[0], changed = 1, True
    while changed:
        changed = False
        for block in sorted(reached - {0}):
            common = everything
            for other in before[block]:
                common &= result[other]
            common |= 1 << block
            changed |= common != result[block]
            result[block] = common
    return result


def ways_from(successors, back, starts):
    """The number of paths of the dag from each of these blocks to an end."""
    ways = {}
    for start in starts:
        stack = [start]
        while stack:
            block = stack[-1]
            missing = [to for to in successors[block] if (block, to) not in back and to not in ways]
            if missing:
                stack += missing
                continue
            ways[stack.pop()] = sum(1 if (block, to) in back else ways[to] for to in successors[block]) if successors[block] else 1
    return ways


class Definition:
    """Of one function: where its paths end, and how many there are."""

    def __init__(self, function):
        self.successors = function.successors()
        self.back, self.reached = back_edges(self.successors)
        dominating = dominators(self.successors, self.reached)
        edges = {(a, b) for a in self.reached for b in self.successors[a]}
        natural = {(a, b) for a, b in edges if dominating[a] >> b & 1}
        self.reducible = self.back == natural
        starts = [0] + sorted({to for _, to in self.back})
        ways = ways_from(self.successors, self.back, starts)
        self.npaths = ways[0] + sum(ways[b] for b in starts[1:])

    def as_line(self, number):
        return " ".join(str(n) for n in [number, len(self.successors)] + [n for edge in sorted(self.back) for n in edge])


# ---- the two profiles ----

FOLDER = tempfile.TemporaryDirectory(prefix="footpath-recorder-")
COMPILING = threading.Lock()


def recorder_of(llvm):
    """recorder.c as an object, compiled once."""
    path = os.path.join(FOLDER.name, llvm + ".o")
    with COMPILING:
        if not os.path.exists(path):
            must(["clang-" + llvm, "-O2", "-w", "-c", os.path.join(HERE, "recorder.c"), "-o", path])
    return path


def traced_paths(args, source, folder, llvm, opt):
    """(function, definition, {path: count}) by linkage name."""
    names = ("prog.ll", "traced.ll", "traced", "ends", "trace")
    ir, traced, program, ends, out = (os.path.join(folder, name) for name in names)
    clang = "clang-" + llvm
    must([clang, opt, "-gline-tables-only", *flags_of(args), "-S", "-emit-llvm", source, "-o", ir])
    with open(ir) as f:
        functions, around = irtext.parse(f.read())
    definitions = [Definition(function) for function in functions]
    with open(traced, "w") as f:
        f.write(irtext.trace(functions, around))
    with open(ends, "w") as f:
        f.write("".join(d.as_line(number) + "\n" for number, d in enumerate(definitions)))
    must([clang, "-O0", "-w", traced, recorder_of(llvm), "-o", program])
    done = execute([program], LIMIT, env=dict(os.environ, TRACE_ENDS=ends, TRACE_OUT=out))
    if done.returncode == TOO_LONG:
        raise Unsuited
    if not os.path.exists(out):
        # csmith can make an endless loop that does nothing, which clang takes for code that is never reached
        must([clang, "-O0", "-w", ir, "-o", program])
        if execute([program], LIMIT).returncode == done.returncode < 0:
            raise Unsuited
        raise Failure("the traced program left no trace: status %d, %r" % (done.returncode, done.stderr[-500:]))
    counted = [{} for _ in functions]
    with open(out) as f:
        for line in f:
            number, count, call, following, *blocks = map(int, line.split())
            counted[number][bool(call), following, tuple(blocks)] = count
    return done, {f.name: (d, c) for f, d, c in zip(functions, definitions, counted)}


def footpath_paths(args, source, folder, llvm, opt, variant):
    program, profile = (os.path.join(folder, name) for name in ("paper", "paper.prof"))
    if os.path.exists(profile):
        os.unlink(profile)
    must([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + llvm, "--fp-cuts=paper", *variant.split(), opt, *flags_of(args),
          source, "-o", program])
    done = execute([program], LIMIT, env=dict(os.environ, FOOTPATH_OUT=profile))
    shown = execute([os.path.join(args.bin, "footpath"), "show", "--json", profile])
    if shown.returncode or shown.stderr:
        raise Failure("show: " + shown.stderr.decode(errors="replace"))
    return done, json.loads(shown.stdout)["functions"]


def paths_of(function):
    """Edges between the same two blocks cannot be told apart by blocks: such paths are added up."""
    counts = collections.Counter()
    for path in function["paths"]:
        if path["ends_at"] not in ("exit", "edge"):
            raise Failure("%s: a path that ends as %s" % (function["name"], path["ends_at"]))
        following = path["next_block"] if path["ends_at"] == "edge" else -1
        counts[path["starts_at"] == "entry", following, tuple(path["block_ids"])] += path["count"]
    return counts


def compare(function, definition, expected, figures):
    name = function["linkage_name"]
    edges = {(e["from"], e["to"]) for e in function["edges"]}
    if edges != {(a, b) for a, following in enumerate(definition.successors) for b in following}:
        raise Failure("%s: another graph" % name)
    if definition.npaths > MOST_PATHS:
        if not function["cuts"] + function["doors"]:
            raise Failure("%s: %d paths, and no cut" % (name, definition.npaths))
        figures["functions cut"] += 1
        return
    got = paths_of(function)
    if got != expected:
        wrong = sorted(set(got.items()) ^ set(expected.items()))[:4]
        raise Failure("%s: paths (call, next, blocks), counts: %r" % (name, wrong))
    facts = function["num_paths"], function["executed_paths"], function["cuts"], function["doors"], function["laps"]
    if facts != (definition.npaths, len(expected), 0, 0, 0):
        raise Failure("%s: %r, expected %d possible paths, %d executed" % (name, facts, definition.npaths, len(expected)))
    figures["functions"] += 1
    figures["irreducible"] += not definition.reducible
    figures["paths"] += len(expected)
    figures["executions"] += sum(expected.values())


def check(args, source, folder, llvm, opt, variant):
    traced, functions = traced_paths(args, source, folder, llvm, opt)
    done, shown = footpath_paths(args, source, folder, llvm, opt, variant)
    if (done.returncode, done.stdout) != (traced.returncode, traced.stdout):
        raise Failure("the traced program printed %r, ours %r" % (traced.stdout, done.stdout))
    figures = collections.Counter()
    executed = {name for name, (_, counted) in functions.items() if counted}
    missing = executed - {f["linkage_name"] for f in shown if f["calls"]}
    if missing or not executed:
        raise Failure("executed, but not in the profile: %s" % sorted(missing))
    for function in shown:
        compare(function, *functions[function["linkage_name"]], figures)
    return figures


if __name__ == "__main__":
    sys.exit(campaign.main(__doc__, check, VARIANTS))
