#!/usr/bin/env python3
"""--fp-metric=cycles ranks two paths by what they cost, not by how often they ran.

    costs.py --bin BUILD/bin [--llvm 19]
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def check(b, level):
    b.cc("--fp-metric=cycles", level, os.path.join(HERE, "costs.c"), "-o", "costs")
    shown = b.json("show", "--json", "--function", "way", b.profile("costs", "out.prof"))
    first, second = shown["functions"][0]["paths"][:2]
    each = [path["cycles"] / path["count"] for path in (first, second)]
    print("%s: %d times %.0f cycles, %d times %.0f cycles" % (level, first["count"], each[0], second["count"], each[1]))
    equal(shown["cost_unit"], "cycles", "unit")
    equal((first["count"], second["count"]), (2000, 18000), "the rare way should come first")
    # a thousand pairs of divisions of 20 cycles and more; the other way is a few instructions
    expect(each[0] >= 10000 and each[1] <= each[0] / 20, "the costs of the ways are not told apart")


if __name__ == "__main__":
    harness.main(__doc__, cases={level[1:]: lambda b, level=level: check(b, level) for level in ("-O0", "-O2")})
