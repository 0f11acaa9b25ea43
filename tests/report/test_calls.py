#!/usr/bin/env python3
"""Which function called which: counts against what is known of the program, inclusive costs
against callgrind's format and against valgrind's own count of the same run.

    test_calls.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import os
import re

from common import HERE, OPTIONS, Tester, harness

CALLS = os.path.join(HERE, "programs", "calls.cc")
# caller and callee: how often, with one argument or none
KNOWN = {("main", "twice"): 10, ("main", "throws"): 10, ("main", "leaf"): 5, ("main", "recursive"): 1, ("main", None): 5,
         ("twice", "leaf"): 30, ("throws", "leaf"): 5, ("recursive", "recursive"): 10, ("recursive", "leaf"): 10}
LEVELS = (["-O0"], ["-O1"], ["-O2", "-fno-optimize-sibling-calls"])


def built(t, *flags):
    program = t.path("calls%s" % "".join(flags))
    harness.run(os.path.join(t.args.bin, "footpath-c++"), "--fp-llvm=" + t.args.llvm, *flags, CALLS, "-o", program, env=harness.environment())
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


def inclusive_of(text):
    """Shares by function, from callgrind_annotate --inclusive=yes."""
    found = {}
    for share, name in re.findall(r"^ *[\d,]+ \( *([\d.]+)%\) +\S*:(\S[^\[\n]*?)(?: \[.*)?$", text, re.M):
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


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, bench=Tester)
