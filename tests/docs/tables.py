#!/usr/bin/env python3
"""Does each measured table of the documents name its commit, day and machine, and has it a generator?

    tables.py SOURCE-TREE

Tables lie between marks (bench/marks.py). Each row must have been measured at a commit, on a day and on
a machine that the table names; the script that its mark names must be one that `make tables` runs.
Then the marks themselves: a row that is measured again replaces the old one, the others keep
what they say of themselves. And the README's figures are those of the table, and commits that documents
name are in the history.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

MEASURED = ["stats.md", "p3.md", "exits.md", "performance.md", "use.md", "gap.md"]
MARK = re.compile(r"^<!-- (?:table (\S+) by (bench/\S+)|end of table (\S+)) -->$", re.M)


def check_document(source, name, marks, driver, wrong):
    with open(os.path.join(source, "docs", name)) as f:
        text = f.read()
    found = list(MARK.finditer(text))
    if not found:
        wrong.append("%s: no marked table" % name)
    for begin, end in zip(found[::2], found[1::2] + [None]):
        if not end or not begin.group(1) or begin.group(1) != end.group(3):
            wrong.append("%s: marks do not come in pairs at %s" % (name, begin.group(0)))
            return 0
        check_table("%s, table %s" % (name, begin.group(1)), text[begin.end():end.start()], marks, wrong)
        script = begin.group(2)
        if not os.path.exists(os.path.join(source, script)):
            wrong.append("%s: %s does not exist" % (name, script))
        elif script not in driver:
            wrong.append("%s: make tables does not run %s" % (name, script))
    return len(found) // 2


def check_table(what, body, marks, wrong):
    columns, rows, stamps = marks.read(body)
    if not rows:
        wrong.append("%s has no rows" % what)
    for row, cells in rows.items():
        if len(cells) != len(columns) - 1:
            wrong.append("%s: row %s has %d cells, not %d" % (what, row, len(cells), len(columns) - 1))
        if row not in stamps:
            wrong.append("%s: row %s names no commit, day and machine" % (what, row))
    for row in stamps.keys() - rows.keys():
        wrong.append("%s names a row %s that it does not have" % (what, row))


def check_marks(marks, wrong):
    """What write() does to a document."""
    old, new = ("Commit %s, 2026-01-0%d, a machine with %d cores, LLVM 19" % at for at in (("aaaaaaa", 1, 2), ("bbbbbbb", 2, 4)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.md")
        with open(path, "w") as f:
            f.write("before\n\n<!-- table x by bench/x.py -->\n<!-- end of table x -->\n\nafter\n")
        write = lambda rows, at: marks.write(path, "x", ["program", "extra"], rows, at, marks.geomean, ["one", "two"])
        write({"two": ["+21.0%"], "one": ["+5.0%"]}, old)
        write({"one": ["+0.0%"]}, new)
        with open(path) as f:
            got = f.read()
    expected = ("before\n\n<!-- table x by bench/x.py -->\n| program | extra |\n|---|---|\n| one | +0.0% |\n| two | +21.0% |\n"
                "| **geomean of 2** | **+10.0%** |\n\n- " + new + ": one.\n- " + old + ": two.\n<!-- end of table x -->\n\nafter\n")
    if got != expected:
        wrong.append("bench/marks.py wrote\n%s\nand not\n%s" % (got, expected))


def check_readme(source, wrong):
    """The README says of the cost what the table says."""
    with open(os.path.join(source, "docs", "performance.md")) as f:
        rows = dict((name, (programs, ours, edges)) for name, programs, ours, edges in re.findall(
            r"^\| instructions of `(path|path-exits)` \| (\d+) \| \+(\S+%) \| \+(\S+%) \|", f.read(), re.M))
    with open(os.path.join(source, "README.md")) as f:
        text = " ".join(f.read().split())
    said = ("Over %s programs the default build executes %s more instructions than the plain program, and one with the edge "
            "counters of clang %s" % rows["path"])
    if rows["path-exits"][0] == rows["path"][0]:
        said += "; with `--fp-exits` it is %s" % rows["path-exits"][1]
    else:
        said += "; over %s of them `--fp-exits` executes %s more, and clang's %s" % rows["path-exits"]
    if said not in text:
        wrong.append("README.md does not say: " + said)


def check_commits(source, wrong):
    """Commits that the documents name can be looked up, where the whole history is at hand."""
    git = ["git", "-C", source]
    shallow = subprocess.run(git + ["rev-parse", "--is-shallow-repository"], capture_output=True, text=True).stdout.strip()
    if shallow != "false":
        print("no whole history: commits that documents name are not looked up")
        return
    known = set(subprocess.run(git + ["log", "--format=%H"], capture_output=True, text=True).stdout.split())
    for path in sorted(glob.glob(os.path.join(source, "docs", "*.md"))):
        with open(path) as f:
            named = set(re.findall(r"\b[Cc]ommit ([0-9a-f]{7})\b", f.read()))
        wrong += ["%s names commit %s, which is not in the history" % (os.path.basename(path), name)
                  for name in sorted(named) if not any(one.startswith(name) for one in known)]


def main():
    source = sys.argv[1]
    sys.path.insert(0, os.path.join(source, "bench"))
    import marks
    with open(os.path.join(source, "scripts", "tables")) as f:
        driver = f.read()
    wrong = []
    tables = sum(check_document(source, name, marks, driver, wrong) for name in MEASURED)
    check_marks(marks, wrong)
    check_readme(source, wrong)
    check_commits(source, wrong)
    for line in wrong:
        print(line)
    print("%d tables in %d documents, %d wrong" % (tables, len(MEASURED), len(wrong)))
    return 1 if wrong or not tables else 0


if __name__ == "__main__":
    sys.exit(main())
