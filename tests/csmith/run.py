#!/usr/bin/env python3
"""Random C programs: same output as uninstrumented, counts identical.

    run.py --bin BUILD/bin --count 20 [--llvm 14,19,22] [--opt=-O0,-O2] [--seed 1] [--all] [--save FOLDER]

Each program of csmith is built by clang and by footpath-cc --fp-mode=check, run, and
verified. The versions and levels take turns; with --all every program goes through
all of them. The flags in VARIANTS take turns as well. A program that fails is kept
in the folder that --save names, with the commands that show it.
A program that runs longer than a few seconds uninstrumented is replaced by the next.
"""
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import limits  # noqa: E402
from harness import Failure  # noqa: E402

# what decides which code of the plugin and the runtime a program meets
VARIANTS = [
    "",
    "--fp-at=early",
    "--fp-array-paths=16",
    "--fp-threads=atomic",
    "--fp-threads=shared --fp-array-paths=2",
    "--fp-weights=static",
]
CSMITH = ["--no-packed-struct", "--max-funcs", "6", "--max-block-depth", "5", "--max-expr-complexity", "6"]
PLAIN_LIMIT, LIMIT = 5, 100  # seconds of CPU time


class Unsuited(Exception):
    """The program is replaced by the next: it takes too long, or is not defined."""


def execute(command, limit=300, **more):
    return limits.run(command, limit, capture_output=True, **more)


def must(command, **more):
    done = execute(command, **more)
    if done.returncode or done.stderr:
        raise Failure("%s\n%s" % (" ".join(command), done.stderr.decode(errors="replace")[-2000:]))


def flags_of(args):
    return ["-w", "-I", args.include]


def check(args, source, folder, llvm, opt, variant):
    """Gives figures, which are added up over all programs."""
    plain, checked, profile = (os.path.join(folder, name) for name in ("plain", "checked", "out.prof"))
    must(["clang-" + llvm, opt, *flags_of(args), source, "-o", plain])
    try:
        wanted = execute([plain], PLAIN_LIMIT)
    except subprocess.TimeoutExpired:
        raise Unsuited
    must([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + llvm, "--fp-mode=check", *variant.split(), opt,
          *flags_of(args), source, "-o", checked])
    if os.path.exists(profile):
        os.unlink(profile)
    got = execute([checked], LIMIT, env=dict(os.environ, FOOTPATH_OUT=profile))
    if (got.returncode, got.stdout, got.stderr) != (wanted.returncode, wanted.stdout, wanted.stderr):
        raise Failure("expected %d %r, got %d %r %r" % (wanted.returncode, wanted.stdout, got.returncode, got.stdout,
                                                        got.stderr[-500:]))
    done = execute([os.path.join(args.bin, "footpath"), "verify", profile])
    if done.returncode or b": identical" not in done.stdout:
        raise Failure("verify: " + (done.stdout + done.stderr).decode(errors="replace")[-2000:])
    return {}


def cells(args, number, variants):
    every = [(llvm, opt) for opt in args.opt.split(",") for llvm in args.llvm.split(",")]
    # one program after the other meets another version, level and variant
    chosen = every if args.all else [every[number % len(every)]]
    return [(llvm, opt, variants[(number // len(every) + k) % len(variants)]) for k, (llvm, opt) in enumerate(chosen)]


def program(args, number, check, variants):
    """How many builds passed, how many programs were too long, what failed, figures of the builds."""
    figures = collections.Counter()
    for attempt in range(50):
        seed = str(args.seed + number + 1000003 * attempt)
        folder = tempfile.mkdtemp(prefix="footpath-csmith-")
        source, cell, passed = os.path.join(folder, "prog.c"), None, 0
        try:
            must(["csmith", "--seed", seed, *CSMITH, "-o", source], cwd=folder)
            for cell in cells(args, number, variants):
                figures.update(check(args, source, folder, *cell))
                passed += 1
            return passed, attempt, None, figures
        except Unsuited:
            continue
        except (Failure, subprocess.TimeoutExpired) as failure:
            if args.save:
                os.makedirs(args.save, exist_ok=True)
                shutil.copy(source, os.path.join(args.save, "seed-%s.c" % seed))
            return passed, attempt, "seed %s %s: %s" % (seed, " ".join(cell or ()), failure), figures
        finally:
            shutil.rmtree(folder)
    return 0, 50, "seed %d: only programs that are not suited" % (args.seed + number), figures


def main(doc, check, variants):
    args = harness.parse(harness.arguments(
        doc,
        ("--count", {"type": int, "default": 20}),
        ("--opt", {"default": "-O0,-O2"}),
        ("--seed", {"type": int, "default": 1}),
        ("--all", {"action": "store_true"}),
        ("--save", {}),
        ("--jobs", {"type": int, "default": 2}),
        ("--include", {"default": "/usr/include/csmith"}), llvm="14,19,22"))
    if not shutil.which("csmith"):
        print("csmith was not found; install the package csmith")
        return 1
    builds = replaced = failed = done = 0
    figures = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for passed, skipped, problem, more in pool.map(lambda n: program(args, n, check, variants), range(args.count)):
            figures.update(more)
            builds, replaced, done = builds + passed, replaced + skipped, done + 1
            if problem:
                failed += 1
                print(problem, flush=True)
            if done % 50 == 0:
                print("%d programs, %d failed" % (done, failed), flush=True)
    print("%d programs, %d builds identical, %d replaced, %d failed" % (done, builds, replaced, failed))
    if figures:
        print(", ".join("%s: %d" % item for item in figures.items()))
    return 1 if failed or not builds else 0


if __name__ == "__main__":
    sys.exit(main(__doc__, check, VARIANTS))
