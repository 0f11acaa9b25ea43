#!/usr/bin/env python3
"""Are the first commands of README.md literally true?

    readme.py --bin BUILD/bin --llvm 19

Runs the commands of its first example, those behind "$ ", one after the other in a folder
with the files that they name, and compares what they print. The example is of LLVM 19:
with another default the test is skipped. Line numbers of system headers may differ.
"""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, Skipped, equal  # noqa: E402

LLVM = "19"


def plain(text):
    return re.sub(r"\bctype\.h:\d+", "ctype.h:N", text)


def case_readme(b):
    if b.args.llvm != LLVM:
        raise Skipped("the example is of LLVM %s, the default is %s" % (LLVM, b.args.llvm))
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        example = re.search(r"```\n(\$ .*?)```", f.read(), re.S).group(1)
    shutil.copytree(os.path.join(ROOT, "examples"), b.path("examples"))
    shutil.copy(os.path.join(ROOT, "LICENSE"), b.folder)
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", example, re.M):
        equal(plain(b.run("sh", "-c", command, silent=True).stdout), plain(expected), command)


if __name__ == "__main__":
    harness.main(__doc__)
