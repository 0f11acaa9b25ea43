#!/usr/bin/env python3
"""The IR that the plugin makes, or the assembly made of it, checked by LLVM's FileCheck.

    run.py --bin BUILD/bin [--llvm 19] [--case NAME]...

A test is a C file. Its CHECK lines say what must be in the IR, in this order (FileCheck's
manual explains them); other lines of its head are

    // flags: FLAGS       for footpath-cc
    // output: assembly   what is checked, instead of the IR
    // division: FLAGS    of footpath divide: first the program is built and run as usual and
                          divided by its profile; then copy 0 of it is compiled
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def directive(text, name):
    found = re.search(r"^// %s:(.*)$" % name, text, re.M)
    return found.group(1).split() if found else None


def divided(b, source, flags, how):
    """The flags of copy 0."""
    b.cc(*flags, source, "-o", "program")
    guide = b.profile("program", "program.prof")
    b.tool("divide", *how, "--guide", guide, "-o", "program.division", "program")
    return ["--fp-division=program.division", "--fp-copy=0"]


def check(b, source):
    with open(source) as f:
        text = f.read()
    filecheck = "/usr/lib/llvm-%s/bin/FileCheck" % b.args.llvm
    harness.needs(filecheck)
    flags, how = directive(text, "flags"), directive(text, "division")
    expect(flags, "no line with flags")
    if how is not None:
        flags += divided(b, source, flags, how)
    form = ["-S"] if directive(text, "output") == ["assembly"] else ["-S", "-emit-llvm"]
    b.cc(*flags, *form, source, "-o", "out.ll", silent=True)
    b.run(filecheck, source, "--input-file", "out.ll")


if __name__ == "__main__":
    sources = sorted(glob.glob(os.path.join(HERE, "*.c")))
    harness.main(__doc__, cases={os.path.basename(s)[:-2]: lambda b, s=s: check(b, s) for s in sources})
