#!/usr/bin/env python3
"""What a count costs with several threads, and whether it is exact.

    python3 bench/threads.py [--threads 1,2,16] [--calls 10000000] [--repeat 5] [--into docs/performance.md]
    python3 bench/threads.py --build FOLDER         static binaries, for a machine without clang
    python3 bench/threads.py --run FOLDER           on that machine: runs them, keeps the profiles
    python3 bench/threads.py --check FOLDER         back here: the table

For local (per-thread counters), atomic and shared: CPU time per call over that of the
uninstrumented program, the least of several runs, and the counts lost.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIANTS = ["none", "local", "atomic", "shared"]


def build(args, folder):
    for name in VARIANTS:
        flags = ["--fp-mode=none"] if name == "none" else ["--fp-threads=" + name]
        subprocess.run([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, *flags, "-O2", "-static", "-pthread",
                        os.path.join(ROOT, "bench", "threads.c"), "-o", os.path.join(folder, name)], check=True)


def run(args, folder):
    results = {}
    for threads in args.threads.split(","):
        for _ in range(args.repeat):  # interleaved
            for name in VARIANTS:
                profile = os.path.join(folder, "%s-%s.prof" % (name, threads))
                if os.path.exists(profile):
                    os.unlink(profile)
                done = subprocess.run([os.path.join(folder, name), threads, str(args.calls)], stdout=subprocess.PIPE, text=True,
                                      env=dict(os.environ, FOOTPATH_OUT=profile), check=True)
                key, value = "%s %s" % (name, threads), float(done.stdout.split()[0])
                results[key] = min(value, results.get(key, value))
    with open(os.path.join(folder, "results.json"), "w") as out:
        json.dump({"calls": args.calls, "cores": os.cpu_count(), "ns": results}, out, indent=1)


def counted(args, folder, name, threads):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "show", "--json", "--function", "step", "--binary",
                           os.path.join(folder, name), os.path.join(folder, "%s-%s.prof" % (name, threads))],
                          check=True, capture_output=True, text=True)
    return sum(path["count"] for f in json.loads(done.stdout)["functions"] for path in f["paths"])


def check(args, folder):
    with open(os.path.join(folder, "results.json")) as f:
        data = json.load(f)
    failed, rows = False, {}
    threads = sorted({int(key.split()[1]) for key in data["ns"]})
    print("%d million calls per thread, %d cores; ns of CPU time that a count adds to a call" % (data["calls"] / 1e6, data["cores"]))
    print("%-8s" % "" + "".join("%12s" % ("%d threads" % n if n > 1 else "1 thread") for n in threads) + "   2 to 1   lost of %d" % max(threads))
    for name in VARIANTS[1:]:
        cost = {n: data["ns"]["%s %d" % (name, n)] - data["ns"]["none %d" % n] for n in threads}
        lost = {n: n * data["calls"] - counted(args, folder, name, n) for n in threads}
        whole = {n: data["ns"]["%s %d" % (name, n)] for n in threads}
        ratio = "%8.2fx" % (whole[2] / whole[1]) if 1 in cost and 2 in cost else " " * 9
        print("%-8s" % name + "".join("%12.2f" % cost[n] for n in threads) + ratio +
              "   %.1f%%" % (100.0 * lost[max(threads)] / max(threads) / data["calls"]))
        failed |= name != "shared" and any(lost.values())
        share = 100.0 * lost[max(threads)] / max(threads) / data["calls"]
        rows["local (the default)" if name == "local" else name] = ["%.2f" % cost[n] for n in threads] + [
            ratio.strip() or "–", "%.0f%%" % share if lost[max(threads)] else "none"]
    print("2 to 1: time per call with two threads over one thread's")
    if args.into:
        import marks  # not needed on the machine that runs them
        columns = ["threads"] + ["%d threads" % n if n > 1 else "1 thread" for n in threads] + ["2 to 1", "counts lost of %d" % max(threads)]
        marks.write(args.into, "threads", columns, rows, marks.stamp(where=args.where), right=True)
    if failed:
        print("local or atomic lost counts")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--threads", default="1,2,16")
    parser.add_argument("--calls", type=int, default=10000000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--build")
    parser.add_argument("--run")
    parser.add_argument("--check")
    parser.add_argument("--into", help="the document with the table")
    parser.add_argument("--where", help="with --check: the machine that ran them, in words")
    args = parser.parse_args()
    if args.build or args.run or args.check:
        folder = args.build or args.run or args.check
        os.makedirs(folder, exist_ok=True)
        return (build if args.build else run if args.run else check)(args, folder) or 0
    with tempfile.TemporaryDirectory(prefix="footpath-threads-") as folder:
        build(args, folder)
        run(args, folder)
        return check(args, folder)


if __name__ == "__main__":
    sys.exit(main())
