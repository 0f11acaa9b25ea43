#!/usr/bin/env python3
"""Files of every format as they were written once: today's readers find the same in them.

    golden.py --bin BUILD/bin --dump BUILD/.../dump-formats [--update] [--case NAME]...

The files in golden/ were made by make.sh and are never made anew; old-* are of versions
before today's that readers still accept. What is read is compared as text with
expected/NAME.txt. --update writes that text anew: look at the difference before you commit it.
A new golden file without a case here is a failure.
"""
import contextlib
import difflib
import json
import os
import re
import shutil
import sqlite3
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


def counts_for_gcc(notes, name):
    """The counts for gcc that are made of the notes and a profile of the same source, in hexadecimal."""
    def read(b):
        b.tool("export", "--format", "gcda", "--notes", notes, name)
        digits = b.read(notes.replace(".gcno", ".gcda")).hex()
        return "".join(digits[i:i + 64] + "\n" for i in range(0, len(digits), 64))
    return read


def stored(name):
    """Rows of a store, as text. They become a store of SQLite."""
    def read(b):
        with contextlib.closing(sqlite3.connect(b.path("g.store"))) as base:
            base.executescript(b.read(name).decode())
        builds = [build["build_id"] for build in b.json("store", "list", "--json", "g.store")["builds"]]
        shows = (["show", "--json", "store:g.store?build=" + build] for build in sorted(set(builds)))
        listed = b.json("store", "list", "--json", "g.store")
        listed["bytes"] = "of the database"  # that of its version of SQLite
        return json.dumps(listed, indent=1) + "\n" + b.tools(["store", "check", "g.store"], *shows)
    return read


# files that others need: a part of a profile, a map of a program
BESIDE = {"old-2.prof", "old-3.prof", "plain.prof", "packed.prof", "separate.prof", "edge.prof", "separate.elf.fpmap", "values.elf", "old-5.elf", "edge.elf"}
# golden file -> what is read from it
FILES = {
    "alone.prof": profile("alone.prof"),
    "aside.prof": profile("aside.prof"),
    "merged.prof": profile("merged.prof"),
    "cycles.prof": profile("cycles.prof"),
    "copied.prof": profile("copied.prof"),
    "edges.prof": profile("edges.prof"),
    "values.prof": profile("values.prof"),
    "old-5.prof": profile("old-5.prof"),
    "code.prof": profile("code.prof"),
    "llvm.prof": exported("llvm.prof", "llvm.profdata"),
    "program.gcno": counts_for_gcc("program.gcno", "values.prof"),
    "history.prof": profile("history.prof"),
    "plain.elf": profile("plain.prof", "--binary", "plain.elf"),
    "old-2.elf": profile("old-2.prof", "--binary", "old-2.elf"),
    "old-3.elf": profile("old-3.prof", "--binary", "old-3.elf"),
    "packed.elf": profile("packed.prof", "--binary", "packed.elf"),
    "separate.elf": profile("separate.prof", "--binary", "separate.elf"),
    "live.elf": lambda b: b.tools(["show", "--json", "--binary", "live.elf", "live.prof"]),
    "combined.cp": profile("combined.cp", "--binary", "packed.elf"),
    "paths.legacy": legacy("paths.legacy", "back.prof", "packed.elf"),
    "edges.legacy": legacy("edges.legacy", "back.prof", "edge.elf"),
    "combined.legacy": legacy("combined.legacy", "back.cp", "packed.elf"),
    "values.guide": lambda b: b.said(b.args.dump, "guide", "values.guide", "values.elf"),
    "old-1.guide": lambda b: b.said(b.args.dump, "guide", "old-1.guide", "old-5.elf"),
    "old-2.guide": lambda b: b.said(b.args.dump, "guide", "old-2.guide", "old-5.elf"),
    "store.sql": stored("store.sql"),
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
    files = {name for name in os.listdir(GOLDEN) if not name.startswith(("aside.prof.", "live.prof."))}
    equal(files, set(FILES) | BESIDE, "golden files")


if __name__ == "__main__":
    harness.main(__doc__, ("--dump", {"type": os.path.abspath}), ("--update", {"action": "store_true"}), bench=Reader,
                 cases={"complete": complete, **{name: lambda b, name=name: check(b, name) for name in FILES}})
