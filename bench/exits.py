"""What --fp-exits costs, for docs/exits.md.

    python3 bench/exits.py [--into docs/exits.md]

Where no frame is lost: extra instructions over plain clang of a build with --fp-exits and of
one without, from what measure.py counted. Where frames are lost all the time: instructions
of one more exception (tests/exact/throws.cc, two frames) and of one more longjmp
(tests/exact/jumps.c, three frames), by cachegrind.
"""
import argparse
import os
import re
import subprocess
import tempfile

import corpus
import marks
import measure
import tables

FEW, MANY = 2000, 12000
LOST = {"an exception through 2 frames": ("throws.cc", "cxx"), "a `longjmp` over 3 frames": ("jumps.c", "cc")}


def count(exe, rounds, folder):
    line = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", exe, str(rounds)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True, env=measure.environment(folder))
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def lost_rows():
    rows = {}
    for what, (source, compiler) in LOST.items():
        with tempfile.TemporaryDirectory(prefix="footpath-exits-") as folder:
            each = []
            for variant in ("clang", "path-exits"):
                spec, exe = measure.VARIANTS[variant], os.path.join(folder, variant)
                subprocess.run([spec[compiler], "-O2", "-w", os.path.join(corpus.ROOT, "tests", "exact", source), "-o", exe],
                               check=True, env=dict(os.environ, **spec.get("env", {})))
                each.append((count(exe, MANY, folder) - count(exe, FEW, folder)) / (MANY - FEW))
        rows[what] = ["%.0f" % each[0], "%.0f" % each[1], "%.2f" % (each[1] / each[0])]
    return rows


def cost_rows(results):
    """Programs that have both, and where they were counted."""
    rows, stamps = {}, {}
    for p in corpus.PROGRAMS:
        values = [tables.extra_instructions(results.get(p.name, {}), v) for v in ("path", "path-exits")]
        if None not in values:
            rows[p.name] = [tables.percent(v) for v in values]
            stamps[p.name] = tables.row_stamp(results[p.name], "instructions", ("path", "path-exits"))
    return rows, stamps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", default=os.path.join(measure.WORK, "results.json"))
    parser.add_argument("--into", default=os.path.join(corpus.ROOT, "docs", "exits.md"))
    args = parser.parse_args()
    marks.write(args.into, "exits-cost", ["program", "without", "with `--fp-exits`"], *cost_rows(measure.load(args.results)),
                marks.geomean, [p.name for p in corpus.PROGRAMS], right=True)
    marks.write(args.into, "exits-lost", ["instructions for", "plain", "with `--fp-exits`", "times"], lost_rows(), marks.stamp(), right=True)


if __name__ == "__main__":
    main()
