#!/usr/bin/env python3
"""Which function called which: counts against what is known of the program, inclusive costs
against callgrind's format and against valgrind's own count of the same run.

    test_calls.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import json
import os
import re

from common import HERE, OPTIONS, Tester, harness

CALLS = os.path.join(HERE, "programs", "calls.cc")
COSTS = os.path.join(HERE, "programs", "costs.cc")
BLOCKS = os.path.join(HERE, "programs", "blocks.c")
# caller and callee: how often, with one argument or none
KNOWN = {("main", "twice"): 10, ("main", "throws"): 10, ("main", "leaf"): 5, ("main", "recursive"): 1, ("main", None): 5,
         ("twice", "leaf"): 30, ("throws", "leaf"): 5, ("recursive", "recursive"): 10, ("recursive", "leaf"): 10}
LEVELS = (["-O0"], ["-O1"], ["-O2", "-fno-optimize-sibling-calls"])


def built(t, *flags, source=CALLS):
    program = t.path("calls%s" % "".join(flags))
    harness.run(os.path.join(t.args.bin, "footpath-c++"), "--fp-llvm=" + t.args.llvm, *flags, source, "-o", program, env=harness.environment())
    return t.profile(program, program + ".prof")


def short(name):
    return name and name.split("(")[0]


def calls(data):
    return {(short(f["name"]), short(c.get("name"))): c["count"] for f in data["functions"] for c in f.get("callees", []) if c["measured"] or "name" not in c}


def case_counts(t):
    for level in LEVELS:
        for mode in (["--fp-mode=path"], ["--fp-mode=path", "--fp-exits"], ["--fp-mode=edge-min"], ["--fp-mode=check"], ["--fp-at=early"]):
            t.equal(calls(t.json("show", "--json", built(t, *level, *mode))), KNOWN, "calls with %s" % (level + mode))


def case_pointers(t):
    """With --fp-values the targets of pointers and of virtual calls are known, each as often as it was called."""
    harness.run(os.path.join(t.args.bin, "footpath-c++"), "--fp-llvm=" + t.args.llvm, "-O2", "--fp-at=early", "--fp-values",
                os.path.join(HERE, "programs", "pointers.cc"), "-o", t.path("pointers"), env=harness.environment())
    profile = t.profile(t.path("pointers"), t.path("pointers.prof"))
    data = t.json("show", "--json", profile)
    wanted = {("apply", "add"): 70, ("apply", "twice"): 30, ("visit", "Circle::area"): 20, ("visit", "Square::area"): 5,
              ("main", "apply"): 100, ("main", "visit"): 25}
    found = calls(data)
    t.equal({pair: found.get(pair) for pair in wanted}, wanted, "calls through pointers")
    t.check(not any(caller in ("apply", "visit") and callee is None for caller, callee in found), "nothing is left: %s" % found)
    text = t.tool("show", "--inclusive", profile)
    t.check(re.search(r"add\(int\)  <- apply\S* 70x$", text, re.M), text)
    exported = t.tool("export", "--format", "callgrind", profile)
    t.check("calls=70 " in exported and "calls=20 " in exported, exported)
    os.rename(t.path("pointers"), t.path("moved"))
    found = calls(t.json("show", "--json", profile))
    t.equal((found.get(("apply", None)), found.get(("apply", "add"))), (100, None), "without the program there are no symbols")


def case_inclusive(t):
    """leaf() costs the same in each call, so that parts by calls are right: main has all but what came through the pointer."""
    data = t.json("show", "--json", built(t, "-O0"))
    functions = {short(f["name"]): f for f in data["functions"]}
    costs = {n: sum(p["count"] * p["instructions"] for p in f["paths"]) for n, f in functions.items()}
    each = costs["leaf"] / functions["leaf"]["calls"]
    wanted = {"leaf": costs["leaf"], "twice": costs["twice"] + 30 * each, "throws": costs["throws"] + 5 * each,
              "recursive": costs["recursive"] + 10 * each}
    wanted["main"] = sum(costs.values()) - wanted["twice"] * 5 / 15
    for name, cost in wanted.items():
        t.check(abs(functions[name]["inclusive_cost"] - cost) < 1e-6 * cost, "%s: %s, not %s" % (name, functions[name]["inclusive_cost"], cost))
    text = t.tool("show", "--inclusive", t.path("calls-O0.prof"))
    t.check(re.search(r"twice\(int\)  <- main 10x, elsewhere 5x$", text, re.M), text)
    one = t.json("show", "--json", "--function", "leaf", t.path("calls-O0.prof"))["functions"]
    t.equal([f["inclusive_cost"] for f in one], [costs["leaf"]], "of one function alone")


def inclusive_of(text, without="\n"):
    """Shares by function, from callgrind_annotate --inclusive=yes. NAME'2 is a function that was active already."""
    found = {}
    for share, name in re.findall(r"^ *[\d,]+ \( *([\d.]+)%\) +\S*:(\S[^\[\n]*?)(?: \[.*)?$", text, re.M):
        if without in name:
            continue
        found[short(name.split("'")[0])] = max(found.get(short(name.split("'")[0]), 0), float(share))
    return found


def case_callgrind(t):
    """callgrind_annotate reads the calls. Valgrind's own count of the same run has twice() at the same part of leaf(), in which both
    spend nearly everything; it has main() with the loader and the unwinder, which have no counts here."""
    harness.needs("valgrind", "callgrind_annotate")
    t.tool("export", "--format", "callgrind", "-o", "ours.out", built(t, "-O0"))
    harness.run("clang++-" + t.args.llvm, "-O0", "-gdwarf-4", CALLS, "-o", t.path("plain"))
    harness.run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + t.path("theirs.out"), t.path("plain"), cwd=t.folder)
    parts = []
    for name in ("ours.out", "theirs.out"):
        shares = inclusive_of(t.run("callgrind_annotate", "--inclusive=yes", "--threshold=100", name))
        t.check({"main", "leaf", "twice", "throws", "recursive"} <= set(shares), "%s: %s" % (name, shares))
        parts.append(shares["twice"] / shares["leaf"])
    t.check(abs(parts[0] - parts[1]) < 0.02, "twice() of leaf(): %.3f by footpath, %.3f by valgrind" % tuple(parts))


def case_measured(t):
    """With --fp-calls=inclusive each call has what it cost, so that nothing is left over: the two roots are the whole program, and
    what the callers of a function paid is what the function cost."""
    for level in LEVELS:
        for mode in (["--fp-exits"], ["--fp-mode=check"], ["--fp-at=early", "--fp-exits"], ["--fp-threads=shared", "--fp-exits"]):
            flags = [*level, *mode, "--fp-calls=inclusive"]
            profile = built(t, *flags, "-pthread", source=COSTS)
            functions = {short(f["name"]): f for f in t.json("show", "--json", profile)["functions"]}
            cost = {name: sum(p["count"] * p["instructions"] for p in f["paths"]) for name, f in functions.items()}
            inclusive = {name: f["inclusive_cost"] for name, f in functions.items()}
            paid = {(name, short(c.get("name"))): c["cost"] for name, f in functions.items() for c in f["callees"]}
            t.equal(round(inclusive["main"] + inclusive["other"]), round(sum(cost.values())), "the whole program, %s" % flags)
            for name in ("work", "costly", "cheap", "throws", "passes", "catches", "jumps", "returns_twice", "outer"):
                t.equal(round(sum(c for (_, callee), c in paid.items() if callee == name)), round(inclusive[name]), "%s, %s" % (name, flags))
            t.equal(round(inclusive["outer"]), round(cost["outer"] + cost["inner"] + paid["inner", "work"]), "outer, %s" % flags)
            t.check(paid["costly", "work"] > 50 * paid["cheap", "work"], "%s: %s" % (flags, paid))
            t.check("estimates" not in t.tool("show", "--inclusive", profile), "measured")
            if "--fp-mode=check" in flags:
                t.tool("verify", profile)


def case_measured_callgrind(t):
    """The callers of work() call it at very different costs; valgrind measures the same shares as footpath. What throws
    has the unwinder's cost there, and none here; of a call that longjmp ends valgrind sees no end."""
    harness.needs("valgrind", "callgrind_annotate")
    t.tool("export", "--format", "callgrind", "-o", "ours.out", built(t, "-O1", "--fp-exits", "--fp-calls=inclusive", "-pthread", source=COSTS))
    harness.run("clang++-" + t.args.llvm, "-O1", "-gdwarf-4", "-pthread", COSTS, "-o", t.path("plain"))
    harness.run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + t.path("theirs.out"), t.path("plain"), cwd=t.folder)
    shares = []
    for name in ("ours.out", "theirs.out"):
        found = inclusive_of(harness.run("callgrind_annotate", "--inclusive=yes", "--threshold=100", t.path(name), cwd="/").stdout, "'")
        shares.append({name: found[name] / found["work"] for name in ("cheap", "costly", "outer", "inner", "other")})
    for name in shares[0]:
        t.check(abs(shares[0][name] - shares[1][name]) < 0.02, "%s of work(): %.3f by footpath, %.3f by valgrind" %
                (name, shares[0][name], shares[1][name]))


def own_of(path):
    """Instructions by function, from callgrind_annotate."""
    found = {}
    text = harness.run("callgrind_annotate", "--threshold=100", "--auto=no", path, cwd="/").stdout
    for cost, name in re.findall(r"^ *([\d,]+) \( *[\d.]+%\) +\S*:(\S[^\[\n]*?)(?: \[.*)?$", text, re.M):
        found[name] = found.get(name, 0) + int(cost.replace(",", ""))
    return found


def case_machine_costs(t):
    """With --fp-cost=machine a block costs the instructions of its machine code, as valgrind counts them; without, those of LLVM's IR."""
    harness.needs("valgrind", "callgrind_annotate")
    names = ("matches", "sums", "digits", "chooses", "main")
    for level in ("-O1", "-O2"):
        harness.run("clang-" + t.args.llvm, level, "-gdwarf-4", BLOCKS, "-o", t.path("plain"))
        harness.run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + t.path("theirs.out"), t.path("plain"), cwd=t.folder)
        theirs = own_of(t.path("theirs.out"))
        most = {}
        for cost in ("ir", "machine"):
            profile = built(t, level, "--fp-cost=" + cost, "-xc", source=BLOCKS)
            t.tool("export", "--format", "callgrind", "-o", "ours.out", profile)
            t.equal(b"machine instructions" in t.read("ours.out"), cost == "machine", "what the export says it counts")
            ours = own_of(t.path("ours.out"))
            most[cost] = max(abs(ours[name] / theirs[name] - 1) for name in names)
        t.check(most["machine"] < 0.1 < most["ir"], "%s: off by a part of %s" % (level, most))


def case_speedscope(t):
    """Stacks are chains of calls with a path above, and their weights add up: all of the program, and of each function its inclusive cost."""
    profile = built(t, "-O0")
    t.tool("export", "--format", "speedscope", "-o", "s.json", profile)
    with open(t.path("s.json")) as f:
        data = json.load(f)
    functions = {short(f["name"]): f for f in t.json("show", "--json", profile)["functions"]}
    names = [short(frame["name"]) for frame in data["shared"]["frames"]]
    of_function, chains, total, with_path = {}, set(), 0, 0
    for sample, weight in zip(data["profiles"][0]["samples"], data["profiles"][0]["weights"]):
        stack = [names[i] for i in sample if names[i] in functions]
        t.check(len(sample) - len(stack) in (0, 1), "at most a path above the chain: %s" % [names[i] for i in sample])
        with_path += (len(sample) > len(stack)) * weight
        chains.add(tuple(stack))
        total += weight
        for name in set(stack):
            of_function[name] = of_function.get(name, 0) + weight
    cost = sum(p["count"] * p["instructions"] for f in functions.values() for p in f["paths"])
    t.check(abs(total - cost) < 1e-6 * cost and abs(data["profiles"][0]["endValue"] - cost) < 1e-6 * cost, "all: %s of %s" % (total, cost))
    t.check(with_path > 0.99 * cost, "paths that are not small have a frame: %s of %s" % (with_path, cost))
    for name in ("main", "leaf", "twice", "throws", "recursive"):
        t.check(abs(of_function[name] - functions[name]["inclusive_cost"]) < 1e-6 * cost, "%s: %s" % (name, of_function[name]))
    t.check({("main",), ("main", "twice", "leaf"), ("main", "recursive", "leaf"), ("twice", "leaf")} <= chains, "chains: %s" % chains)


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, bench=Tester)
