#!/usr/bin/env python3
"""footpath gap: what production does that no test does, on a program of which all paths are
known, and against what can be computed from `show --json` of both sides.

    test_gap.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import json
import os

from common import HERE, OPTIONS, WALK, Tester, harness

WAYS = os.path.join(HERE, "programs", "ways.c")


def ways(t, out="ways", *flags):
    return t.build(WAYS, out, "-O0", *flags)


def gap(t, *words, status=0):
    return json.loads(t.tool("gap", "--json", *words, status=status))


def line_of(text):
    with open(WAYS) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def by_function(data, name):
    return [g for g in data["gaps"] if g["function"] == name]


def case_together(t):
    """Each branch was tested, but not both in one call: no edge profile can say that."""
    program = ways(t)
    tests = t.profile(program, "tests.prof", "yn", "ny", "nn")
    production = t.profile(program, "production.prof", "yy", "yy", "yn")
    data = gap(t, production, tests)
    found = by_function(data, "both")
    t.equal([(g["reason"], g["line"], g["branch"], g["count"], len(g["paths"])) for g in found],
            [("not_together", line_of("if (second"), "true", 2, 1)], "gaps of both()")
    t.equal(found[0]["paths"][0]["tested_edges"] < found[0]["paths"][0]["edges"], True, "how far tests came")
    t.equal(data["unknown"]["paths"], 0, "everything can be compared")
    # the other way round: nothing of these tests is missing
    t.equal(by_function(gap(t, t.profile(program, "p2.prof", "ny"), tests), "both"), [], "tested")


def case_branch_and_function(t):
    program = ways(t)
    tests = t.profile(program, "tests.prof", "nn")
    data = gap(t, t.profile(program, "production.prof", "yn", "r3"), tests)
    t.equal([(g["reason"], g["line"]) for g in by_function(data, "both")], [("branch_not_taken", line_of("if (first"))], "both()")
    never = by_function(data, "never_tested")
    t.equal([(g["reason"], g["line"]) for g in never], [("function_not_called", line_of("never_tested(int n)"))], "a function")
    t.equal(never[0]["count"], sum(p["count"] for p in never[0]["paths"]), "its paths")
    t.equal(gap(t, tests, tests)["tested_share"], 1, "a run against itself")


def case_sums(t):
    """Shares, computed from what `show` says of both runs."""
    for size in (7, 40):
        data = gap(t, t.a, t.profile(t.walk, "t%d.prof" % size, str(size)))
        tested = {(f["name"], p["id"]) for f in t.json("show", "--json", "t%d.prof" % size)["functions"] for p in f["paths"]}
        paths = [(f["name"], p) for f in t.json("show", "--json", t.a)["functions"] for p in f["paths"]]
        t.check(all(p["id"] is not None for _, p in paths), "whole paths")
        for key, cost in (("count", lambda p: p["count"]), ("cost", lambda p: p["count"] * p["instructions"])):
            t.equal(data["tested"][key], sum(cost(p) for f, p in paths if (f, p["id"]) in tested), "tested " + key)
            t.equal(data["untested"][key], sum(cost(p) for f, p in paths if (f, p["id"]) not in tested), "untested " + key)
        t.equal(sum(g["count"] for g in data["gaps"]), data["untested"]["count"], "gaps")
        t.check(0 < data["tested_share"] < 1, "some of both")


def case_many_tests(t):
    """Several files, and a test program of its own that shares the function."""
    program, other = ways(t), ways(t, "unit-test", "-DUNIT_TEST")
    first, second = t.profile(program, "1.prof", "yn"), t.profile(other, "2.prof", "ny", "nn")
    production = t.profile(program, "production.prof", "yn", "ny", "nn")
    t.equal(by_function(gap(t, production, first, second), "both"), [], "both files")
    t.check(by_function(gap(t, production, first), "both"), "one of them")
    both = t.path("both.prof")
    for p, word in ((other, "ny"), (program, "yn"), (other, "nn")):
        t.run(p, word, env={"FOOTPATH_OUT": both})
    t.equal(by_function(gap(t, production, both), "both"), [], "two programs in one file")


def case_other_definitions(t):
    """Where paths end elsewhere or were not counted: unknown, unless an edge tells."""
    production = t.profile(t.build(WALK, "whole", "-O0", "--fp-cuts=paper"), "whole.prof", "100")
    tests = t.profile(t.build(WALK, "cut", "-O0", "--fp-cuts=loops"), "cut.prof", "100")
    edges = t.profile(t.build(WALK, "edges", "-O0", "--fp-mode=edge"), "edges.prof", "100")
    short = t.profile(t.path("edges"), "short.prof", "1")
    data = gap(t, production, edges)
    t.equal(data["tested"]["paths"], 0, "edges alone prove no path")
    t.equal(data["gaps"], [], "all edges ran")
    t.check(data["unknown"]["paths"] and data["functions_redefined"], "said")
    t.check({g["reason"] for g in gap(t, production, short)["gaps"]} <= {"branch_not_taken", "function_not_called"}, "by edges")
    data = gap(t, production, tests)
    t.check(not data["gaps"], "the same run takes no untested path")
    t.tool("gap", edges, production, status=1)


def case_bar(t):
    program = ways(t)
    tests, production = t.profile(program, "tests.prof", "nn"), t.profile(program, "production.prof", "nn", "yy")
    t.tool("gap", "--fail-under", "99.5", production, tests, status=3)
    t.tool("gap", "--fail-under", "100", tests, tests)
    t.tool("gap", "--fail-under", "120", tests, tests, status=2)
    t.tool("gap", production, status=2)
    t.tool("gap", production, t.path("missing.prof"), status=1)
    t.tool("gap", "--fail-under", "1", production, tests, t.path("missing.prof"), status=1)
    text = t.tool("gap", production, tests)
    for words in ("production  ways (build ", "both  ways.c:%d: first == 'y' yes: no test took this branch" % line_of("if (first")):
        t.check(words in text, "%r in\n%s" % (words, text))


def case_sarif(t):
    program = ways(t)
    tests, production = t.profile(program, "tests.prof", "nn"), t.profile(program, "production.prof", "yn", "r3")
    data = json.loads(t.tool("gap", "--format", "sarif", production, tests))
    t.equal(data["version"], "2.1.0", "version")
    run, = data["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        t.equal(rules[result["ruleIndex"]], result["ruleId"], "rule")
        t.check(result["level"] in ("warning", "note") and result["message"]["text"], "message")
        place = result["locations"][0]["physicalLocation"]
        t.check(place["artifactLocation"]["uri"].endswith("/ways.c") and place["region"]["startLine"] > 0, "place")
    t.check({"branch_not_taken", "function_not_called"} <= {r["ruleId"] for r in run["results"]}, "results")
    marks = [r["partialFingerprints"]["footpathGap/v1"] for r in run["results"]]
    t.equal(len(set(marks)), len(marks), "fingerprints differ")


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, bench=Tester)
