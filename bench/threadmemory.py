#!/usr/bin/env python3
"""Memory of the counters of threads: 1,000 functions with 2,048 paths each, which every thread calls.

    python3 bench/threadmemory.py [--threads 64,1000] [--into docs/performance.md]

The program is that of tests/exact/given_back.py. All threads are there at once, then end. In MB what is
resident of the process while all are there, and when all have ended; and the CPU time of the process.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

import marks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "exact")]
import given_back  # noqa: E402

FEW, OFTEN = 3, 1000  # calls of each function by each thread


def variants(args):
    """Name to compiler and calls."""
    clang, cc = ["clang-" + args.llvm], [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm]
    return {"not instrumented": (clang, FEW), "clang -fprofile-generate": (clang + ["-fprofile-generate"], FEW), "path": (cc, FEW),
            "path `--fp-array-paths=512`": (cc + ["--fp-array-paths=512"], FEW), "path, {:,} calls".format(OFTEN): (cc, OFTEN)}


def once(program, folder, threads, calls):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "0", str(threads), str(calls)], stdout=subprocess.PIPE, text=True, cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, there, behind = (int(word) / 1e6 for word in done.stdout.split())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ["%.0f" % there, "%.0f" % behind, "%.2f s" % cpu]


def measure(args, folder):
    source, rows = os.path.join(folder, "many.c"), {}
    with open(source, "w", encoding="ascii") as f:
        f.write(given_back.source(1000))
    built = {}
    for threads in args.threads.split(","):
        for i, (name, (compiler, calls)) in enumerate(variants(args).items()):
            program = os.path.join(folder, "many%d" % i)
            if name not in built:
                include = "-I" + os.path.join(ROOT, "include")
                subprocess.run(compiler + ["-O1", include, "-pthread", source, "-o", program], check=True)
            built[name] = program
            if calls == OFTEN and int(threads) > 64:
                continue  # many GB
            rows["%s threads, %s" % ("{:,}".format(int(threads)), name)] = once(program, folder, int(threads), calls)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--threads", default="64,1000")
    parser.add_argument("--into", type=os.path.abspath, help="the document with the table")
    args = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("FOOTPATH") and name != "FOOTPATH_COMMIT"]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="footpath-threadmemory-") as folder:
        rows = measure(args, folder)
    for name, row in rows.items():
        print("%-48s" % name + "".join("%12s" % cell for cell in row))
    if args.into:
        marks.write(args.into, "thread-memory", ["", "while they live, MB", "behind, MB", "CPU time"], rows, marks.stamp(), right=True)


if __name__ == "__main__":
    main()
