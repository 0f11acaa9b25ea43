#!/usr/bin/env python3
"""Random programs: built by their profile they print what they printed before.

    csmith.py --bin BUILD/bin --count 1000 [--seed 1] [--llvm 19] [--jobs 2]

Each program of csmith is built plainly, counted early (without cuts, so that paths are
long), run, and built by its profile; where the threshold of duplication is lowered
(--fp-eager-copies) code is copied in most of them. Programs that run too long are
replaced by the next. Exits 1 where an output differs or something does not build. The copies
made are counted and said; --least-copies makes too few of them a failure as well.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(command, seconds, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, errors="replace", **more)


def one(args, seed):
    """(verdict, copies, functions used)"""
    folder = tempfile.mkdtemp(prefix="footpath-")
    at = lambda name: os.path.join(folder, name)
    cc = [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm]
    flags = ["-O2", "-w", "-I/usr/include/csmith", at("p.c"), "-o"]
    try:
        with open(at("p.c"), "w") as f:
            f.write(run(["csmith", "--seed", str(seed), "--max-funcs", "6", "--max-block-depth", "4"], 30).stdout)
        if run(["clang-" + args.llvm] + flags + [at("plain")], 120).returncode:
            return "skipped", 0, 0
        try:
            plain = run([at("plain")], 3)
        except subprocess.TimeoutExpired:
            return "skipped", 0, 0
        inline = "--fp-inline=" + ("small" if seed % 2 else "none")
        done = run(cc + ["--fp-at=early", inline, "--fp-cuts=few"] + flags + [at("counted")], 240)
        if done.returncode:
            return "does not build: " + done.stderr[-300:], 0, 0
        counted = run([at("counted")], 60, env=dict(os.environ, FOOTPATH_OUT=at("p.prof")))
        if (counted.returncode, counted.stdout) != (plain.returncode, plain.stdout):
            return "counted differs", 0, 0
        done = run(cc + ["--fp-use=" + at("p.prof"), "--fp-remarks", "--fp-eager-copies"] + flags + [at("used")], 240)
        if done.returncode:
            return "does not build by its profile: " + done.stderr[-600:], 0, 0
        summary = re.search(r"(\d+) functions by the profile, (\d+) stale, .*; (\d+) copies", done.stderr)
        if not summary or int(summary.group(2)):
            return "stale: " + done.stderr[-300:], 0, 0
        used = run([at("used")], 60)
        if (used.returncode, used.stdout) != (plain.returncode, plain.stdout):
            return "used differs", int(summary.group(3)), int(summary.group(1))
        return "same", int(summary.group(3)), int(summary.group(1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least-copies", type=int, default=0, help="fail where fewer were made in all")
    args = parser.parse_args()
    same = bad = skipped = copies = functions = 0
    seed = args.seed
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while same + bad < args.count:
            wave = range(seed, seed + min(8 * args.jobs, args.count - same - bad))
            seed = wave[-1] + 1
            for number, (verdict, made, used) in zip(wave, pool.map(lambda n: one(args, n), wave)):
                copies, functions = copies + made, functions + used
                if verdict == "same":
                    same += 1
                elif verdict == "skipped":
                    skipped += 1
                else:
                    bad += 1
                    print("seed %d: %s" % (number, verdict), flush=True)
            if sys.stderr.isatty():
                sys.stderr.write("\r%d of %d " % (same + bad, args.count))
    print("%d passed, %d failed; %d skipped (too slow), %d functions used, %d copies made" %
          (same, bad, skipped, functions, copies))
    # few programs run long enough to have anything worth a copy: see --least-copies
    return 1 if bad or copies < args.least_copies else 0


if __name__ == "__main__":
    sys.exit(main())
