#!/usr/bin/env python3
"""The command line, against expected output.

    run.py --bin BUILD/bin [--llvm 19] [--update] TEST.sh...

A test is a shell script, run in an empty folder with the tools in PATH and the
example programs of this folder beside it. `t COMMAND...` prints the command, its
output and, unless 0, its exit status. All of that is compared with TEST.out, in which
what differs from run to run (folders, build-ids, times, pids) has been replaced;
--update writes TEST.out anew: look at the difference before you commit it.
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PRELUDE = """
t() {
    printf '$ %s\\n' "$*"
    "$@"
    code=$?
    [ $code = 0 ] || echo "[exit status $code]"
}
"""
REPLACED = [
    (r"\b[0-9a-f]{40}\b", "BUILD-ID"),
    (r"\b[0-9a-f]{16}\b", "CHECKSUM"),
    (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME"),
    (r"\d+\.\d+ s\b", "N s"),
    (r"pid \d+ on \S+", "pid N on HOST:"),
    (r"(clang(\+\+)?)-\d+\b", r"\1-N"),
    (r"LLVM \d+", "LLVM N"),
    (r"--llvm \d+", "--llvm N"),
    (r"; choose the plugin by --fp-llvm=\d+", "; choose the plugin by --fp-llvm=N"),
]


def normal(text, folder, args):
    for path, name in ((os.path.realpath(folder), "HERE"), (folder, "HERE"), (os.path.dirname(args.bin), "BUILD")):
        text = text.replace(path, name)
    for pattern, name in REPLACED:
        text = re.sub(pattern, name, text)
    return text


def run(args, script):
    folder = tempfile.mkdtemp(prefix="footpath-cli-")
    for name in os.listdir(HERE):
        if name.endswith((".c", ".cc")):
            shutil.copy(os.path.join(HERE, name), folder)
    env = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH")}
    env.update(PATH=args.bin + ":" + env["PATH"], LC_ALL="C", LLVM=args.llvm, FOOTPATH_CC_FLAGS="--fp-llvm=" + args.llvm,
               BIN=args.bin, NO_COLOR="1")
    with open(script) as f:
        text = PRELUDE + f.read()
    done = subprocess.run(["sh", "-c", text], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    shutil.rmtree(folder)
    return normal(done.stdout, folder, args)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("tests", nargs="+")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    failed = 0
    for script in args.tests:
        got, path = run(args, script), os.path.splitext(script)[0] + ".out"
        expected = open(path).read() if os.path.exists(path) else ""
        if got == expected:
            continue
        failed += 1
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), path, "now"))
        if args.update:
            with open(path, "w") as out:
                out.write(got)
    if args.update:
        print("%d of %d updated" % (failed, len(args.tests)))
        return 0
    print("%d passed, %d failed%s" % (len(args.tests) - failed, failed, "; if that is right: run.py --update" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
