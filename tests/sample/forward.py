#!/usr/bin/env python3
"""What follows from registers and the stack of a sample is what the processor then does.

    forward.py --bin BIN --check check-forward [--llvm 19] [--case NAME]...

Small programs, by both compilers at all levels, are run step by step by check-forward, which fails
where an instruction that was foretold is not the one that runs.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import expect  # noqa: E402

PROGRAMS = (("arithmetic.c", "2"), ("shapes.cc", "40"), ("ways.cc", "20"))
FIXED, MOVED = ("-fno-pie", "-no-pie"), ("-fPIE", "-pie")
BUILDS = (("-O0", FIXED), ("-O0", MOVED), ("-O1", FIXED), ("-O2", FIXED), ("-O2", MOVED), ("-O3", MOVED))


def checked(b, compiler, level, link):
    for source, size in PROGRAMS:
        name = source.split(".")[0]
        tool = compiler.replace("clang", "clang++").replace("gcc", "g++") if source.endswith(".cc") else compiler
        b.run(tool, "-g", "-w", level, *link, os.path.join(HERE, source), "-o", name)
        said = b.run(b.args.check, "-g", "5", b.path(name), size, status=None)
        what = "%s by %s %s %s: " % (source, compiler, level, link)
        expect(said.returncode == 0, what + "as foretold", said.stdout[-2000:] + said.stderr)
        numbers = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", said.stdout.split("\n")[-2])}
        expect(numbers["samples"] > 10 and numbers["predicted"] > 500 and numbers["decided"] > 50, what + "enough", said.stdout[-300:])


def case_instructions(b):
    """All instructions of arithmetic.c, on more values."""
    harness.needs("gcc")
    b.run("gcc", "-g", "-w", "-O1", os.path.join(HERE, "arithmetic.c"), "-o", "arithmetic")
    said = b.run(b.args.check, "-g", "5", b.path("arithmetic"), "12", status=None)
    expect(said.returncode == 0, "as foretold", said.stdout[-2000:] + said.stderr)


def case_gcc(b):
    harness.needs("gcc", "g++")
    for level, link in BUILDS:
        checked(b, "gcc", level, link)


def case_clang(b):
    for level, link in BUILDS:
        checked(b, "clang-" + b.args.llvm, level, link)


if __name__ == "__main__":
    harness.main(__doc__, ("--check", {"help": "the program check-forward"}))
