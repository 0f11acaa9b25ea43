#!/usr/bin/env python3
"""Do the documents point at things that exist? Links of Markdown, and files that are
named in backquotes with a folder in front. Is every document in the index, docs/README.md,
and does README.md lead there?

    links.py SOURCE-TREE
"""
import os
import re
import subprocess
import sys

FOLDERS = ("docs/", "src/", "runtime/", "tool/", "tests/", "include/", "bench/", "scripts/", "examples/")
# made by a build or by a run
MADE = re.compile(r"[*<>]|NAME|COMMAND|BUILD|XXXX")


def named_files(text):
    for name in re.findall(r"`([a-z]+/[A-Za-z0-9_./+-]+)`", text):
        if name.startswith(FOLDERS) and not MADE.search(name):
            yield name.rstrip("/.")


def links(text):
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            yield target


def exists(path):
    """`src/graph/plan` stands for plan.c and plan.h."""
    return os.path.exists(path) or os.path.exists(path + ".c") or os.path.exists(path + ".h")


def not_indexed(top, files):
    """Documents that docs/README.md does not lead to. Those of examples/ and debian/ lie beside what they are about."""
    index = os.path.join("docs", "README.md")
    with open(os.path.join(top, index)) as f:
        listed = {os.path.normpath(os.path.join("docs", target)) for target in links(f.read())}
    for name in files:
        if name != index and name not in listed and (os.path.dirname(name) == "" or name.startswith("docs/")):
            yield "%s: not in %s" % (name, index)
    with open(os.path.join(top, "README.md")) as f:
        if index not in set(links(f.read())):
            yield "README.md: no link to " + index


def main():
    top = sys.argv[1]
    files = subprocess.run(["git", "-C", top, "ls-files", "*.md"], capture_output=True, text=True).stdout.split()
    if not files:  # not a checkout: an archive of the sources
        files = [os.path.relpath(os.path.join(d, n), top) for d, _, names in os.walk(top) for n in names
                 if n.endswith(".md") and "/build" not in d and "/.cache" not in d]
    bad, count = list(not_indexed(top, files)), 0
    for name in files:
        with open(os.path.join(top, name)) as f:
            text = re.sub(r"```.*?```", "", f.read(), flags=re.S)
        for target in links(text):
            count += 1
            if not os.path.exists(os.path.join(top, os.path.dirname(name), target)):
                bad.append("%s: no %s" % (name, target))
        for target in named_files(text):
            count += 1
            if not exists(os.path.join(top, target)):
                bad.append("%s: no %s" % (name, target))
    if count < 20:
        bad.append("only %d links were found" % count)
    print("\n".join(bad) or "%d links lead somewhere" % count)
    sys.exit(bool(bad))


main()
