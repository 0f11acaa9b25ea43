#!/usr/bin/env python3
"""--fp-metric=cycles ranks two paths by what they cost, not by how often they ran.

    costs.py --bin BUILD/bin [--llvm 19]

A path is charged for the time in which its thread was not running, too: 4 ms, once, are 600 cycles for each of 18,000 executions.
So a cost is the least of several runs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 10


def check(b, level):
    b.cc("--fp-metric=cycles", level, os.path.join(HERE, "costs.c"), "-o", "costs")
    each = [float("inf")] * 2
    for _ in range(RUNS):
        shown = b.json("show", "--json", "--function", "way", b.profile("costs", "out.prof"))
        paths = shown["functions"][0]["paths"][:2]
        equal(shown["cost_unit"], "cycles", "unit")
        equal(sorted(path["count"] for path in paths), [2000, 18000], "how often each way is taken")
        equal(sorted(paths, key=lambda path: -path["cycles"]), paths, "what costs more comes first")
        each = [min(cost, path["cycles"] / path["count"]) for cost, path in zip(each, sorted(paths, key=lambda path: path["count"]))]
    print("%s: 2000 times %.0f cycles, 18000 times %.0f cycles" % (level, *each))
    # a thousand pairs of divisions of 20 cycles and more; the other way is a few instructions
    expect(each[0] >= 10000 and each[1] <= each[0] / 20, "the costs of the ways are not told apart")


if __name__ == "__main__":
    harness.main(__doc__, cases={level[1:]: lambda b, level=level: check(b, level) for level in ("-O0", "-O2")})
