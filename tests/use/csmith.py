#!/usr/bin/env python3
"""Random programs: built by their profile they print what they printed before.

    csmith.py --bin BUILD/bin --count 1000 [--seed 1] [--llvm 19] [--jobs 2]
    csmith.py --generate DIR --count 1400 [--seed 1]
    csmith.py --bin BUILD/bin --count 1000 --sources DIR

Each program of csmith is built plainly, counted early (without cuts, so that paths are
long), run, and built by its profile; where the threshold of duplication is lowered
(--fp-eager-copies) code is copied in most of them. Programs that run too long are
replaced by the next. Exits 1 where an output differs or something does not build. The copies
made are counted and said; --least-copies makes too few of them a failure as well.

--generate writes SEED.c and the headers they include and runs nothing; --sources takes the
programs from there, on a machine without csmith. Too few that can be judged are a failure.
"""
import concurrent.futures
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import limits  # noqa: E402

HEADERS = "/usr/include/csmith"


def run(command, seconds, **more):
    """Seconds are of CPU time."""
    return limits.run(command, seconds, capture_output=True, text=True, errors="replace", **more)


def source(seed):
    return run(["csmith", "--seed", str(seed), "--max-funcs", "6", "--max-block-depth", "4"], 30).stdout


def generate(args):
    """SEED.c for every seed, and the headers of csmith beside them."""
    os.makedirs(args.generate, exist_ok=True)
    for header in glob.glob(os.path.join(HEADERS, "*.h")):
        shutil.copy(header, args.generate)
    made = 0
    for seed in range(args.seed, args.seed + args.count):
        try:
            text = source(seed)
        except subprocess.TimeoutExpired:
            continue
        made += 1
        with open(os.path.join(args.generate, "%d.c" % seed), "w") as f:
            f.write(text)
    print("%d programs in %s" % (made, args.generate))
    return 0


def seeds(args):
    if not args.sources:
        return itertools.count(args.seed)
    names = (os.path.basename(p)[:-2] for p in glob.glob(os.path.join(args.sources, "*.c")))
    return iter(sorted(int(n) for n in names if n.isdigit() and int(n) >= args.seed))


def one(args, seed):
    """(verdict, copies, functions used)"""
    folder = tempfile.mkdtemp(prefix="footpath-")
    at = lambda name: os.path.join(folder, name)
    cc = [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm]
    flags = ["-O2", "-w", "-I" + (args.sources or HEADERS), at("p.c"), "-o"]
    try:
        if args.sources:
            shutil.copy(os.path.join(args.sources, "%d.c" % seed), at("p.c"))
        else:
            with open(at("p.c"), "w") as f:
                f.write(source(seed))
        done = run(["clang-" + args.llvm] + flags + [at("plain")], 120)
        if done.returncode:
            return "does not build with clang: " + done.stderr[-300:], 0, 0
        try:
            plain = run([at("plain")], 3)
        except subprocess.TimeoutExpired:
            return "skipped", 0, 0
        # one that never ends, of which clang took the loop away, prints no checksum
        if "checksum" not in plain.stdout:
            return "skipped", 0, 0
        inline = "--fp-inline=" + ("small" if seed % 2 else "none")
        done = run(cc + ["--fp-at=early", inline, "--fp-cuts=few", "--fp-values"] + flags + [at("counted")], 240)
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
    except subprocess.TimeoutExpired as late:
        return "takes too long: " + " ".join(late.cmd), 0, 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = harness.arguments(
        __doc__,
        ("--generate", {"metavar": "DIR", "help": "only write the programs there"}),
        ("--sources", {"metavar": "DIR", "help": "take the programs from there"}),
        ("--count", {"type": int, "default": 1000}),
        ("--seed", {"type": int, "default": 1}),
        ("--jobs", {"type": int, "default": 2}),
        ("--least-copies", {"type": int, "default": 0, "help": "fail where fewer were made in all"}))
    args = parser.parse_args()
    if args.generate:
        return generate(args)
    if not args.bin:
        parser.error("--bin is needed")
    same = bad = skipped = copies = functions = 0
    numbers = seeds(args)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while same + bad < args.count:
            wave = list(itertools.islice(numbers, min(8 * args.jobs, args.count - same - bad)))
            if not wave:
                print("no more programs: %d of %d judged" % (same + bad, args.count))
                break
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
    print("%d passed, %d failed; %d skipped (they end late or never), %d functions used, %d copies made" %
          (same, bad, skipped, functions, copies))
    # few programs run long enough to have anything worth a copy: see --least-copies
    return 1 if bad or same < args.count or copies < args.least_copies else 0


if __name__ == "__main__":
    sys.exit(main())
