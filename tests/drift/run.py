#!/usr/bin/env python3
"""footpath watch --against: how far a running program has drifted from the profile it was built with.

    run.py --bin BUILD/bin --llvm 19

phases.c does its work in one of two ways, as its input says, and writes its profile after each piece of work. So what a
look sees does not depend on how fast anything is.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs"))
import harness  # noqa: E402
import schema as checker  # noqa: E402
from harness import Failure, equal, expect, likely  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(harness.ROOT, "docs", "formats", "drift.schema.json")


class Tester(harness.Bench):
    def build(self, name, *flags):
        self.cc("-O1", *flags, os.path.join(HERE, "phases.c"), "-o", name)
        return self.path(name)

    def trained(self, exe, words, name="trained.prof", **settings):
        """The profile of a run that did this work."""
        self.run(exe, input=words, env={"FOOTPATH_OUT": self.path(name), **settings})
        return self.path(name)

    def watch(self, profile, other, *words, status=0):
        """All that it prints, where the profile does not change any more."""
        return self.tool("watch", profile, "--against", other, "--every", "0.05", "--looks", "1", *words, status=status)

    def drift(self, profile, other, *words, status=0):
        return json.loads(self.watch(profile, other, "--json", *words, status=status).stdout)


class Live:
    """The program while it runs, and a watch of its profile, which looks whenever it has changed."""

    def __init__(self, b, exe, other, *words):
        self.profile = exe + ".live.prof"
        env = harness.environment(FOOTPATH_OUT=self.profile)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.program = subprocess.Popen([exe], env=env, **pipes)
        self.watch = subprocess.Popen([b.bin("footpath"), "watch", self.profile, "--against", other, "--json", "--every", "0.05",
                                       *words], stdout=subprocess.PIPE, text=True)

    def work(self, words):
        self.program.stdin.write(words + "\n")
        self.program.stdin.flush()
        expect(self.program.stdout.readline() == "done\n", "the program did not answer")

    def look(self):
        """What the next look says."""
        line = self.watch.stdout.readline()
        if not line:
            raise Failure("the watch ended with status %d" % self.watch.wait())
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.program, self.watch):
            process.kill()
            process.communicate()


def case_live(b):
    """A program changes its ways while it runs: the drift is of what was added, and the watch ends with 3."""
    exe = b.build("phases")
    other = b.trained(exe, "A 100000\n")
    with Live(b, exe, other, "--threshold", "0.3", "--evidence", "10000") as live:
        live.work("A 50000")
        first = live.look()
        equal(first["verdict"], "near", "the way it was built for")
        expect(first["drift"] < 0.01 and first["unseen"] < 0.001, "drift where there is none", first)
        live.work("B 50000")
        second = live.look()
        equal(second["verdict"], "far", "another way")
        expect(second["drift"] > 0.5, "no drift", second)
        # of step's 2 branches, the first goes the other way 6 times more often of 8
        step = [f for f in second["functions"] if f["function"] == "step"][0]
        expect(abs(step["flipped"] - 0.375) < 0.01, "step: flipped", step["flipped"])
        equal([f["unseen"] for f in second["functions"] if f["function"] == "rare"], [1], "rare")
        equal(live.watch.wait(), 3, "status of the watch")


def case_together(b):
    """Looks with too few counts are put together until they are enough."""
    exe = b.build("phases")
    other = b.trained(exe, "A 100000\n")
    with Live(b, exe, other, "--evidence", "40000") as live:
        seen = []
        for i in range(3):
            live.work("A 5000")
            seen.append(live.look())
        equal([look["verdict"] for look in seen], ["too few", "too few", "near"], "verdicts")
        counts = [look["counts"] for look in seen]
        expect(15000 <= counts[0] < 16000 and abs(counts[1] - 2 * counts[0]) < 10 and abs(counts[2] - 3 * counts[0]) < 10,
               "counts", counts)
        live.work("A 5000")
        again = live.look()
        equal(again["verdict"], "too few", "what was judged is not judged again")
        expect(abs(again["counts"] - counts[0]) < 10, "counts since the last verdict", again["counts"])


def case_others(b):
    """OTHER may be a profile, a guide or a combined profile: all say the same."""
    exe = b.build("phases")
    other = b.trained(exe, "A 100000\nB 20000\n")
    now = b.trained(exe, "A 30000\nB 30000\n", "now.prof")
    b.tool("export", "--format", "guide", other, "-o", "trained.guide")
    b.tool("combine", other, "-o", "combined.prof")
    found = [b.drift(now, b.path(name)) for name in ("trained.prof", "trained.guide", "combined.prof")]
    for name in ("drift", "paths", "branches", "flipped", "unseen", "function_shares", "matched"):
        values = [one[name] for one in found]
        expect(max(values) - min(values) < 0.002, name, values)
    expect(0.1 < found[0]["drift"] < 0.9, "drift", found[0]["drift"])
    # against a profile of the same work nothing drifts
    same = b.drift(now, now)
    equal((same["drift"], same["paths"], same["branches"], same["flipped"], same["unseen"], same["function_shares"]),
          (0, 1, 1, 0, 0, 1), "against itself")


def case_sampled(b):
    """What runs is sampled, OTHER is exact, of another build: the same program in the same way has not drifted."""
    exact = b.build("exact", "--fp-mode=path")
    sampled = b.build("sampled", "--fp-mode=pep", "--fp-pep=flag")
    other = b.trained(exact, "A 100000\n")
    for way, least, most in (("A", 0, 0.1), ("B", 0.5, 1)):
        now = b.trained(sampled, "%s 40000000\n" % way, "sampled-%s.prof" % way, FOOTPATH_TICK_MS="1")
        found = b.drift(now, other, "--evidence", "500")
        likely(least <= found["drift"] <= most, "way %s: drift" % way, found["drift"])
        expect(found["matched"] > 0.9, "matched", found["matched"])
        likely(0 < found["chance"] < 0.2, "chance", found["chance"])


def case_edges(b):
    """Without counts of paths, branches are compared."""
    exact, edges = b.build("exact"), b.build("edges", "--fp-mode=edge")
    other = b.trained(exact, "A 100000\n")
    now = b.trained(edges, "B 30000\n", "now.prof")
    for one, two in ((now, other), (other, now)):
        found = b.drift(one, two)
        expect(found["functions_by_branches"] >= 3, "by branches", found["functions_by_branches"])
        expect(found["paths"] < 0.8, "paths", found["paths"])


def case_other_build(b):
    """Functions of another shape are not compared, and the verdict says how much was."""
    exact = b.build("exact")
    b.cc("-O1", "-DNOTHING", os.path.join(harness.PROGRAMS, "loops.c"), "-o", "another")
    other = b.profile("another", "another.prof")
    now = b.trained(exact, "A 30000\n", "now.prof")
    found = b.drift(now, other, "--threshold", "0.1", status=1)
    equal((found["verdict"], found["matched"], found["drift"]), ("other build", 0, 0), "nothing in common")
    expect(found["functions_absent"] + found["functions_reshaped"] == len(found["functions"]), "all are strangers", found)
    said = b.watch(now, other)
    expect("only 0.0% of what runs" in said.stdout, "says so", said.stdout)


def case_threshold(b):
    """Statuses: 0 near, 1 not judged, 2 bad use, 3 far; and what the threshold is for."""
    exe = b.build("phases")
    other = b.trained(exe, "A 100000\n")
    now = b.trained(exe, "B 30000\n", "now.prof")
    found = b.drift(now, other)
    for by, value in (("paths", found["drift"]), ("branches", 1 - found["branches"]), ("flipped", found["flipped"]),
                      ("unseen", found["unseen"])):
        expect(value > 0.1, by, value)
        b.watch(now, other, "--by", by, "--threshold", "%.4f" % (value - 0.01), status=3)
        b.watch(now, other, "--by", by, "--threshold", "%.4f" % min(value + 0.01, 1), status=0)
    few = b.watch(now, other, "--threshold", "0", "--evidence", "1000000000", status=1)
    expect("not judged yet" in few.stdout and "no look could be judged" in few.stderr, "says why", few.stdout + few.stderr)
    b.watch(now, other, "--evidence", "1000000000", status=0)
    for words in (["--threshold", "2"], ["--threshold", "x"], ["--by", "colour"], ["--function", "step"]):
        b.watch(now, other, *words, status=2)
    b.tool("watch", now, "--threshold", "0.5", status=2)
    b.watch(now, b.path("missing.prof"), status=1)
    b.watch(now, b.write("bad.prof", "no profile"), status=1)
    b.watch(now, b.write("bad.guide", b"fpguide\n" + bytes(80)), status=1)


def case_schema(b):
    """Everything that is printed is in the schema, and everything in the schema is printed."""
    with open(SCHEMA) as f:
        wanted = json.load(f)
    exe = b.build("phases")
    other = b.trained(exe, "A 100000\n")
    now = b.trained(exe, "B 30000\n", "now.prof")
    found = b.drift(now, other, "--threshold", "1")
    equal(list(checker.problems(found, wanted)), [], "problems")
    equal(set(wanted["properties"]) - set(found), set(), "keys that were not seen")
    each = wanted["properties"]["functions"]["items"]["properties"]
    equal(set(each) - set().union(*found["functions"]), set(), "keys of functions that were not seen")


if __name__ == "__main__":
    harness.main(__doc__, bench=Tester)
