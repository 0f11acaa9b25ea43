#!/usr/bin/env python3
"""GCC's run-time suites, built by footpath-cc: each program must do what it does when
plain clang builds it, and in check mode its counts must verify.

    run.py --bin BUILD/bin [--suites DIR] [--llvm 19] [--levels O0,O2] [--modes path,check]
           [--jobs N] [--every N] [--part I/N] [--only NAME] [--list-failures FILE] [--keep DIR]

A program that plain clang does not build at a level, or that does not end with status 0
there, is left out at that level; nothing else is. How many is printed. A folder of
suites is unpacked from the Debian package gcc-12-source where none is given, and may be
carried to a machine that has only python3, clang and the footpath tools.
"""
import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile

import suites
from task import MODES, Task

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

LEVELS = ["O0", "O1", "O2", "O3", "Os"]


def do_program(job):
    args, program = job
    folder = os.path.join(args.keep, program.name.replace("/", "_")) if args.keep else \
        tempfile.mkdtemp(prefix="footpath-torture-")
    os.makedirs(folder, exist_ok=True)
    try:
        return Task(args, program, folder).all(args.levels, args.modes)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


def chosen(args):
    found = list(suites.programs(args.suites))
    if not found:
        raise SystemExit("%s: none of %s is there" % (args.suites, ", ".join(suites.FOLDERS)))
    if args.only:
        found = [p for p in found if any(word in p.name for word in args.only)]
    index, count = args.part
    return found[::args.every][index - 1::count]


def part(text):
    index, count = (int(word) for word in text.split("/"))
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError("%s: the first of four parts is 1/4" % text)
    return index, count


def words_of(known):
    def parse(text):
        words = [w.lstrip("-") for w in text.replace(",", " ").split()]
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError("%s is none of %s" % (word, " ".join(known)))
        return words
    return parse


def arguments():
    args = harness.parse(harness.arguments(
        __doc__.split("\n\n")[0],
        ("--suites", {"help": "folder with gcc.c-torture and the others; unpacked there if it does not exist"}),
        ("--levels", {"type": words_of(LEVELS), "default": LEVELS}),
        ("--modes", {"type": words_of(list(MODES)), "default": list(MODES)}),
        ("--jobs", {"type": int, "default": os.cpu_count()}),
        ("--every", {"type": int, "default": 1, "help": "take each Nth program only"}),
        ("--part", {"type": part, "default": (1, 1), "help": "I/N: of those, the Ith of N parts"}),
        ("--only", {"action": "append", "help": "programs whose name has this in it"}),
        ("--list-failures", {"help": "write the failures to a file as well"}),
        ("--keep", {"help": "keep what is built below this folder"})))
    args.suites = os.path.abspath(args.suites or os.path.join(args.bin, "..", "torture"))
    args.keep = args.keep and os.path.abspath(args.keep)
    return args


def main():
    args = arguments()
    if not os.path.isdir(args.suites):
        suites.unpack(args.suites)
    found = chosen(args)
    passed = left_out = 0
    listing = open(args.list_failures, "w") if args.list_failures else None
    failed = 0
    with multiprocessing.Pool(args.jobs) as pool:
        for ok, failures, without in pool.imap_unordered(do_program, ((args, p) for p in found)):
            passed, failed, left_out = passed + ok, failed + len(failures), left_out + without
            for line in failures:
                print(line, flush=True)
                if listing:
                    print(line, file=listing, flush=True)
    print("%d programs at %d levels in %d modes, LLVM %s; left out, as plain clang does not build or run them: %d of %d"
          % (len(found), len(args.levels), len(args.modes), args.llvm, left_out, len(found) * len(args.levels)))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
