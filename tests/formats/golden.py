#!/usr/bin/env python3
"""Files of every format as they were written once: today's readers find the same in them.

    golden.py --bin BUILD/bin --dump BUILD/.../dump-formats [--update] [--case NAME]...

The files in golden/ were made by make.sh and are never made anew; old-* are of versions
before today's that readers still accept. What is read is compared as text with
expected/NAME.txt. --update writes that text anew: look at the difference before you commit it.
A new golden file without a case here is a failure.
"""
import difflib
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

GOLDEN = os.path.join(HERE, "golden")
PROFILE = (["info", "--json"], ["show", "--json"])


class Reader(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        shutil.copytree(GOLDEN, folder, dirs_exist_ok=True)

    def said(self, *command):
        """A command, and what it printed, on both outputs."""
        done = self.run(*command)
        shown = " ".join([os.path.basename(command[0]), *command[1:]])
        text = re.sub(r'"footpath": "[0-9.]+"', '"footpath": "VERSION"', done.stdout + done.stderr)
        return "$ %s\n%s" % (shown, text)

    def tools(self, *commands):
        return "".join(self.said(self.bin("footpath"), *words) for words in commands)


def profile(name, *options):
    return lambda b: b.tools(*([*words, *options, name] for words in PROFILE))


def legacy(name, out, program):
    """What an import makes of the file."""
    def read(b):
        b.tool("import", "--format", "legacy", "--binary", program, name, "-o", out)
        return b.tools(["show", "--json", "--binary", program, out])
    return read


def exported(name, out):
    """The profile for clang that is made of it, in hexadecimal. The program is gone, and so are the names of targets."""
    def read(b):
        b.tool("export", "--format", "llvm-profdata", name, "-o", out)
        digits = b.read(out).hex()
        return "".join(digits[i:i + 64] + "\n" for i in range(0, len(digits), 64))
    return read


# files that others need: a part of a profile, a map of a program
BESIDE = {"old-2.prof", "old-3.prof", "plain.prof", "packed.prof", "separate.prof", "edge.prof", "separate.elf.fpmap", "values.elf", "edge.elf"}
# golden file -> what is read from it
FILES = {
    "alone.prof": profile("alone.prof"),
    "aside.prof": profile("aside.prof"),
    "merged.prof": profile("merged.prof"),
    "cycles.prof": profile("cycles.prof"),
    "edges.prof": profile("edges.prof"),
    "values.prof": profile("values.prof"),
    "code.prof": profile("code.prof"),
    "llvm.prof": exported("llvm.prof", "llvm.profdata"),
    "history.prof": profile("history.prof"),
    "plain.elf": profile("plain.prof", "--binary", "plain.elf"),
    "old-2.elf": profile("old-2.prof", "--binary", "old-2.elf"),
    "old-3.elf": profile("old-3.prof", "--binary", "old-3.elf"),
    "packed.elf": profile("packed.prof", "--binary", "packed.elf"),
    "separate.elf": profile("separate.prof", "--binary", "separate.elf"),
    "combined.cp": profile("combined.cp", "--binary", "packed.elf"),
    "paths.legacy": legacy("paths.legacy", "back.prof", "packed.elf"),
    "edges.legacy": legacy("edges.legacy", "back.prof", "edge.elf"),
    "combined.legacy": legacy("combined.legacy", "back.cp", "packed.elf"),
    "values.guide": lambda b: b.said(b.args.dump, "guide", "values.guide", "values.elf"),
    "old-1.guide": lambda b: b.said(b.args.dump, "guide", "old-1.guide", "values.elf"),
    "paths.division": lambda b: b.said(b.args.dump, "division", "paths.division"),
    "turns.division": lambda b: b.said(b.args.dump, "division", "turns.division"),
}


def check(b, name):
    got, path = FILES[name](b), os.path.join(HERE, "expected", name + ".txt")
    expected = open(path).read() if os.path.exists(path) else ""
    if b.args.update:
        with open(path, "w") as f:
            f.write(got)
        expected = got
    difference = "".join(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), path, "now"))
    expect(not difference, "\n%sIf that is right: golden.py --update" % difference)


def complete(b):
    """Every file is read by a case."""
    files = {name for name in os.listdir(GOLDEN) if not name.startswith("aside.prof.")}
    equal(files, set(FILES) | BESIDE, "golden files")


if __name__ == "__main__":
    harness.main(__doc__, ("--dump", {"type": os.path.abspath}), ("--update", {"action": "store_true"}), bench=Reader,
                 cases={"complete": complete, **{name: lambda b, name=name: check(b, name) for name in FILES}})
