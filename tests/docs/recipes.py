#!/usr/bin/env python3
"""Does scripts/setup install what the recipes of tests/real need, and are results of tests
that go by chance read so that two good runs are equal and a bad one is seen?

    recipes.py SOURCE-TREE
"""
import os
import sys

# two runs that drew other servers and had time for another number of rounds
FIRST = """integration/psync2 [ok]: PSYNC2: --- CYCLE 1 --- (0 ms)
integration/psync2 [ok]: PSYNC2: Set #1 to replicate from #2 (1 ms)
integration/psync2 [ok]: PSYNC2: cluster is consistent after load (x = 120081) (1 ms)
integration/psync2-reg [ok]: PSYNC2 #3899 regression: kill first replica (5 ms)
unit/a [ok]: set and get (1 ms)
"""
SECOND = """integration/psync2 [ok]: PSYNC2: --- CYCLE 1 --- (0 ms)
integration/psync2 [ok]: PSYNC2: Set #0 to replicate from #4 (1 ms)
integration/psync2 [ok]: PSYNC2: cluster is consistent after load (x = 7) (1 ms)
integration/psync2 [ok]: PSYNC2: --- CYCLE 2 --- (0 ms)
integration/psync2 [ok]: PSYNC2: Set #3 to replicate from #4 (1 ms)
integration/psync2 [ok]: PSYNC2: cluster is consistent after load (x = 9) (1 ms)
integration/psync2-reg [ok]: PSYNC2 #3899 regression: kill first replica (5 ms)
integration/psync2-reg [ok]: PSYNC2 #3899 regression: kill first replica (5 ms)
unit/a [ok]: set and get (2 ms)
"""


def main():
    root = sys.argv[1]
    sys.path.insert(0, os.path.join(root, "tests", "real"))
    import recipes
    with open(os.path.join(root, "scripts", "setup")) as f:
        installed = set(f.read().replace('"', " ").split())
    wrong = ["scripts/setup: %s, which tests/real needs for %s, is not there" % (package, name)
             for name, suite in recipes.SUITES.items() for package in suite.needs if package not in installed]
    read = recipes.SUITES["redis"].results
    first, second = read(None, FIRST), read(None, SECOND)
    if first != second or len(first) != 5:
        wrong.append("redis: two good runs are read as different: %s and %s" % (first, second))
    for bad in ("integration/psync2 [ok]: PSYNC2: cluster is consistent after load (x = 9)", "unit/a [ok]"):
        if sum(result != "ok" for result in read(None, SECOND.replace(bad, bad.replace("[ok]", "[err]"))).values()) != 1:
            wrong.append("redis: what failed is not seen: %s" % bad)
    print("\n".join(wrong) or "recipes: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
