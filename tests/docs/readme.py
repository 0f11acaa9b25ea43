#!/usr/bin/env python3
"""Are the first commands of README.md literally true?

    readme.py --bin BUILD/bin --llvm 19 SOURCE-TREE

Runs the commands of its first example, those behind "$ ", one after the other in a folder
with the files that they name, and compares what they print. The example is of LLVM 19:
with another default the test is skipped. Line numbers of system headers may differ.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

LLVM = "19"


def plain(text):
    return re.sub(r"\bctype\.h:\d+", "ctype.h:N", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", required=True)
    parser.add_argument("tree")
    args = parser.parse_args()
    if args.llvm != LLVM:
        print("the example is of LLVM %s, the default is %s" % (LLVM, args.llvm))
        sys.exit(77)
    with open(os.path.join(args.tree, "README.md"), encoding="utf-8") as f:
        example = re.search(r"```\n(\$ .*?)```", f.read(), re.S).group(1)
    env = {k: v for k, v in os.environ.items() if not k.startswith("FOOTPATH")}
    env["PATH"] = os.path.abspath(args.bin) + ":" + env["PATH"]
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(args.tree, "examples"), os.path.join(folder, "examples"))
        shutil.copy(os.path.join(args.tree, "LICENSE"), folder)
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", example, re.M):
            done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)
            if done.returncode or done.stderr:
                bad.append("%s: status %d\n%s" % (command, done.returncode, done.stderr))
            if plain(done.stdout) != plain(expected):
                bad.append("%s printed\n%sREADME.md has\n%s" % (command, done.stdout, expected))
    print("\n".join(bad) or "the example prints what README.md says")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
