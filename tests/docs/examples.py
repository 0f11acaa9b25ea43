#!/usr/bin/env python3
"""Does the program in docs/runtime.md do what the document says, with footpath and
without?

    examples.py --bin BUILD/bin --llvm 19 SOURCE-TREE
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", required=True)
    parser.add_argument("tree")
    args = parser.parse_args()
    args.bin, args.tree = os.path.abspath(args.bin), os.path.abspath(args.tree)
    with open(os.path.join(args.tree, "docs", "runtime.md")) as f:
        program = re.search(r"```c\n(.*?)```", f.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "example.c"), "w") as f:
            f.write(program.replace("static int work", "__attribute__((noinline)) static int work"))

        def must(*command):
            return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

        must("clang-" + args.llvm, "-I", os.path.join(args.tree, "include"), "example.c", "-o", "plain")
        must(os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-exits", "-O1", "example.c", "-o",
             "counted")
        bad = []
        if must("./plain") != must("./counted"):
            bad.append("other output with footpath")
        shown = json.loads(must(os.path.join(args.bin, "footpath"), "show", "--json", "requests.prof"))
        calls = [f["calls"] for f in shown["functions"] if f["name"] == "work"]
        if calls != [100]:
            bad.append("calls of work: %s, expected [100]: start-up and shut-down are not of interest" % calls)
        if os.path.exists(os.path.join(folder, "footpath.prof")):
            bad.append("also wrote footpath.prof")
    print("\n".join(bad) or "the example does what it says")
    sys.exit(bool(bad))


main()
