#!/usr/bin/env python3
"""Instrumented programs under valgrind and the sanitizers: no report of the runtime.

    checkers.py --bin BUILD/bin [--llvm 19] [memcheck|helgrind|address|thread...]

Programs without faults of their own, without suppressions: whatever is reported would
be ours. Output, status and counts must be right as well.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "programs")
# what runs, and the flags it is built with
VALGRIND = ["valgrind", "--error-exitcode=99", "-q"]
CHECKERS = {
    "memcheck": (VALGRIND + ["--leak-check=full"], ""),
    "helgrind": (VALGRIND + ["--tool=helgrind"], ""),
    "address": ([], "-fsanitize=address"),
    "thread": ([], "-fsanitize=thread"),
}
SOURCES = {
    "memcheck": ["workers.c", "exceptions.cc", "exit_deep.c"],
    "helgrind": ["workers.c"],
    "address": ["workers.c", "exceptions.cc", "longjmp_frames.c", "control_flow.c"],
    "thread": ["workers.c"],
}


def build(args, source, flags, out, instrumented):
    plus = source.endswith(".cc")
    if instrumented:
        compiler = [os.path.join(args.bin, "footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + args.llvm,
                    "--fp-mode=check"]
    else:
        compiler = ["clang%s-%s" % ("++" if plus else "", args.llvm)]
    subprocess.run(compiler + ["-O1", "-gdwarf-4", "-w", "-pthread"] + flags.split() + [source, "-o", out], check=True)
    return out


def find(name):
    for folder in (HERE, PROGRAMS):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise SystemExit("no program " + name)


def check(args, checker, name, folder):
    prefix, flags = CHECKERS[checker]
    plain, checked = (build(args, find(name), flags, os.path.join(folder, kind), kind == "checked")
                      for kind in ("plain", "checked"))
    profile = os.path.join(folder, "out.prof")
    if os.path.exists(profile):
        os.unlink(profile)
    wanted = subprocess.run(prefix + [plain], capture_output=True, text=True, errors="replace")
    got = subprocess.run(prefix + [checked], capture_output=True, text=True, errors="replace",
                         env=dict(os.environ, FOOTPATH_OUT=profile))
    if (got.returncode, got.stdout) != (wanted.returncode, wanted.stdout) or got.stderr != wanted.stderr:
        print("%s %s: status %d, expected %d\n%s" % (checker, name, got.returncode, wanted.returncode, got.stderr[-3000:]))
        return False
    done = subprocess.run([os.path.join(args.bin, "footpath"), "verify", profile], capture_output=True, text=True)
    if done.returncode or ": identical" not in done.stdout:
        print("%s %s: verify: %s%s" % (checker, name, done.stdout, done.stderr))
        return False
    print("%s %s: no report, %s" % (checker, name, done.stdout.strip()), flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("checkers", nargs="*")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    failed = 0
    for checker in args.checkers or list(CHECKERS):
        for name in SOURCES[checker]:
            with tempfile.TemporaryDirectory(prefix="footpath-checkers-") as folder:
                failed += not check(args, checker, name, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
