#!/usr/bin/env python3
"""The suite of correlated branches: what paths take away that edges leave.

    correlated.py --bin BUILD/bin --llvm 19

Each program is trained, then built by its edges alone (--fp-paths=no) and by its paths.
Mispredictions of the function with the branches, by cachegrind's predictor (7 branches
of history): over the suite at least 80% of those that the edge-guided build leaves are
gone in the path-guided one, and the output is the same.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 0.8


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise SystemExit("%s: status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done


def mispredictions(exe, folder):
    """Conditional and indirect ones, in handle(); and the output."""
    out = os.path.join(folder, "cachegrind.out")
    done = run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes", "--cachegrind-out-file=" + out, exe])
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    cc = [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "-O2"]
    left = {"no": 0, "yes": 0}
    same = True
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        for source in sorted(glob.glob(os.path.join(HERE, "correlated", "*.c"))):
            name = os.path.basename(source)[:-2]
            exe, profile = os.path.join(folder, name), os.path.join(folder, name + ".prof")
            run(cc + ["--fp-at=early", "--fp-cuts=few", source, "-o", exe])
            run([exe], env=dict(os.environ, FOOTPATH_OUT=profile))
            found, outputs = {}, {}
            for paths in ("no", "yes"):
                run(cc + ["--fp-use=" + profile, "--fp-paths=" + paths, source, "-o", exe])
                found[paths], outputs[paths] = mispredictions(exe, folder)
                left[paths] += found[paths]
            same = same and outputs["no"] == outputs["yes"] != ""
            print("%-16s by edges %7d, by paths %7d: %4.1f%% gone" %
                  (name, found["no"], found["yes"], 100 * (1 - found["yes"] / found["no"])))
    gone = 1 - left["yes"] / left["no"]
    print("%-16s by edges %7d, by paths %7d: %4.1f%% gone" % ("all", left["no"], left["yes"], 100 * gone))
    print("%d passed, %d failed" % (same + (gone >= LEAST), (not same) + (gone < LEAST)))
    return 0 if same and gone >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
