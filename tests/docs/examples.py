#!/usr/bin/env python3
"""Does the program in docs/runtime.md do what the document says, with footpath and
without?

    examples.py --bin BUILD/bin --llvm 19
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, equal, expect  # noqa: E402


def case_runtime(b):
    with open(os.path.join(ROOT, "docs", "runtime.md")) as f:
        program = re.search(r"```c\n(.*?)```", f.read(), re.S).group(1)
    b.write("example.c", program.replace("static int work", "__attribute__((noinline)) static int work"))
    b.clang("-I", os.path.join(ROOT, "include"), "example.c", "-o", "plain")
    b.cc("--fp-exits", "-O1", "example.c", "-o", "counted")
    equal(b.run("./counted").stdout, b.run("./plain").stdout, "output with footpath")
    shown = b.json("show", "--json", "requests.prof")
    calls = [f["calls"] for f in shown["functions"] if f["name"] == "work"]
    equal(calls, [100], "calls of work (start-up and shut-down are not of interest)")
    expect(not os.path.exists(b.path("footpath.prof")), "also wrote footpath.prof")


if __name__ == "__main__":
    harness.main(__doc__)
