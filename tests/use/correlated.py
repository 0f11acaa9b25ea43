#!/usr/bin/env python3
"""The suite of correlated branches: what paths take away that edges leave.

    correlated.py --bin BUILD/bin --llvm 19

Each program is trained, then built by its edges alone (--fp-paths=no) and by its paths (more).
Mispredictions of the function with the branches, by cachegrind's predictor (7 branches
of history): over the suite at least 80% of those that the edge-guided build leaves are
gone in the path-guided one, and the output is the same. By default, copies are made only
where they save branches: none for mispredictions.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 0.8


def mispredictions(b, exe):
    """Conditional and indirect ones, in handle(); and the output."""
    out = b.path("cachegrind.out")
    done = b.run("valgrind", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes", "--cachegrind-out-file=" + out, exe)
    events, function, total = [], "", 0
    with open(out) as f:
        for line in f:
            if line.startswith("events:"):
                events = line.split()[1:]
            elif line.startswith("fn="):
                function = line[3:].strip()
            elif line[0].isdigit() and function == "handle":
                counts = dict(zip(events, map(int, line.split()[1:])))
                total += counts.get("Bcm", 0) + counts.get("Bim", 0)
    return total, done.stdout


def case_correlated(b):
    left = {"no": 0, "more": 0}
    for source in sorted(glob.glob(os.path.join(HERE, "correlated", "*.c"))):
        name = os.path.basename(source)[:-2]
        exe = b.path(name)
        b.cc("-O2", "--fp-at=early", "--fp-cuts=few", source, "-o", exe)
        profile = b.profile(name, name + ".prof")
        found, outputs = {}, {}
        said = b.cc("-O2", "--fp-use=" + profile, "--fp-remarks", source, "-o", exe).stderr
        predicted = re.findall(r"copied: .*\(([1-9]\d*) mispredictions", said)
        expect(not predicted, "by default %s has copies for mispredictions" % name, said)
        folded = re.search(r"copied: .*\(0 mispredictions, [1-9]\d* branches", said)
        expect(bool(folded) == (name == "same_condition"), "copies of %s that save branches" % name, said)
        for paths in ("no", "more"):
            b.cc("-O2", "--fp-use=" + profile, "--fp-paths=" + paths, source, "-o", exe)
            found[paths], outputs[paths] = mispredictions(b, exe)
            left[paths] += found[paths]
        expect(outputs["no"] == outputs["more"] != "", "another output of " + name, outputs)
        print("%-16s by edges %7d, by paths %7d: %4.1f%% gone" %
              (name, found["no"], found["more"], 100 * (1 - found["more"] / found["no"])))
    said = b.cc("-O2", "--fp-use=" + profile, "--fp-paths=more", "--fp-remarks", source, "-o", exe).stderr
    expect(re.search(r"copied: .*\([1-9]\d* mispredictions", said), "more makes none", said)
    gone = 1 - left["more"] / left["no"]
    print("%-16s by edges %7d, by paths %7d: %4.1f%% gone" % ("all", left["no"], left["more"], 100 * gone))
    expect(gone >= LEAST, "%.1f%% of the mispredictions are gone, expected %.1f%%" % (100 * gone, 100 * LEAST))


if __name__ == "__main__":
    harness.main(__doc__)
