#!/usr/bin/env python3
"""The command line, against expected output.

    run.py --bin BUILD/bin [--llvm 19] [--update] [--case NAME]...

A test is a shell script, run in an empty folder with the tools in PATH and the
example programs of this folder beside it. `t COMMAND...` prints the command, its
output and, unless 0, its exit status. All of that is compared with TEST.out, in which
what differs from run to run (folders, build-ids, times, pids) has been replaced;
--update writes TEST.out anew: look at the difference before you commit it.
"""
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

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


def output(b, script):
    for name in os.listdir(HERE):
        if name.endswith((".c", ".cc")):
            shutil.copy(os.path.join(HERE, name), b.folder)
    env = {"LLVM": b.args.llvm, "FOOTPATH_CC_FLAGS": "--fp-llvm=" + b.args.llvm, "BIN": b.args.bin, "NO_COLOR": "1"}
    with open(script) as f:
        text = PRELUDE + f.read()
    done = b.run("sh", "-c", text, env=env, status=None, stderr=subprocess.STDOUT)
    return normal(done.stdout, b.folder, b.args)


def check(b, script):
    got, path = output(b, script), os.path.splitext(script)[0] + ".out"
    expected = open(path).read() if os.path.exists(path) else ""
    difference = "".join(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), path, "now"))
    if difference and b.args.update:
        with open(path, "w") as out:
            out.write(got)
        print(difference)
        expect(True, "updated")
        return
    expect(not difference, "\n%sIf that is right: run.py --update" % difference)


if __name__ == "__main__":
    scripts = sorted(glob.glob(os.path.join(HERE, "*.sh")))
    harness.main(__doc__, ("--update", {"action": "store_true", "help": "write the expected output anew"}),
                 cases={os.path.basename(s)[:-3]: lambda b, s=s: check(b, s) for s in scripts})
