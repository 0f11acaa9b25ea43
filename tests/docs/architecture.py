#!/usr/bin/env python3
"""Does ARCHITECTURE.md say what is there?

    architecture.py SOURCE-TREE

Every file, folder and function that it names exists. Each of the nine steps of "Follow one
count" names one function and one file, no file twice, and the function is defined in that
file. The table of folders has every folder of src/ and says the law of layers.py. The words
of docs/glossary.md are in order and each names a file.
"""
import os
import re
import sys

import layers

STEPS = 9


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def defines(top, path, name):
    """A definition, as clang-format leaves it: the name, a list in brackets, a brace."""
    return re.search(r"^[A-Za-z][^;{}]*\b%s\([^;{}]*\)\n\{" % name, read(top, path), re.M)


def is_path(span):
    return re.fullmatch(r"[A-Za-z_.]+(/[A-Za-z0-9_.+-]*)+|[A-Za-z_]+\.(md|txt|c|h)", span)


def check_spans(top, text, say):
    """Anything in backquotes that looks like a path or a function of ours."""
    known = "".join(read(path) for area in ("src", "runtime", "tool") for path in layers.sources(os.path.join(top, area)))
    for span in re.findall(r"`([^`\n]+)`", text):
        if is_path(span) and "NAME" not in span and not os.path.exists(os.path.join(top, span)):
            say("there is no %s" % span)
        if re.fullmatch(r"(fp|rt)_\w+", span) and not re.search(r"\b%s\(" % span, known):
            say("there is no function %s" % span)


def check_steps(top, text, say):
    part = text.split("## Follow one count")[1].split("\n## ")[0]
    steps = re.findall(r"^(\d)\. (.*?)(?=^\d\. |^\n|\n\n)", part, re.M | re.S)
    if [int(number) for number, _ in steps] != list(range(1, STEPS + 1)):
        say("expected steps 1 to %d, got %s" % (STEPS, [number for number, _ in steps]))
    seen = set()
    for number, step in steps:
        functions = re.findall(r"`((?:fp|rt)_\w+)`", step)
        files = re.findall(r"`([\w/]+\.c)`", step)
        if len(functions) != 1 or len(files) != 1:
            say("step %s names %s in %s, expected one function in one file" % (number, functions, files))
            continue
        if files[0] in seen:
            say("step %s: %s was named before" % (number, files[0]))
        seen.add(files[0])
        if not os.path.exists(os.path.join(top, files[0])) or not defines(top, files[0], functions[0]):
            say("step %s: %s is not in %s" % (number, functions[0], files[0]))


def check_table(top, text, say):
    rows = {folder.rstrip("/").split("/")[-1]: uses for folder, uses in
            re.findall(r"^\| `((?:src/\w+|tool)/)` \| .* \| ([a-z0-9, ]+) \|$", text, re.M)}
    folders = {name for name in os.listdir(os.path.join(top, "src"))
               if os.path.isdir(os.path.join(top, "src", name))} | {"tool"}
    for name in sorted(folders ^ set(rows)):
        say("%s is %s" % (name, "not in the table of folders" if name in folders else "no folder"))
    for name in sorted(folders & set(rows) & set(layers.LAW)):
        says = {each for each in rows[name].split(", ") if each != "nothing"}
        if says != layers.LAW[name] - {name}:
            say("%s: the table says %s, layers.py %s" % (name, sorted(says), sorted(layers.LAW[name])))


def check_glossary(top, say):
    text = read(top, "docs", "glossary.md")
    entries = re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- |\Z)", text, re.M | re.S)
    words = [word.lower().replace("-", " ") for word, _ in entries]
    if words != sorted(words):
        at = next(i for i in range(1, len(words)) if words[i] < words[i - 1])
        say("docs/glossary.md: %s comes before %s" % (words[at], words[at - 1]))
    for word, entry in entries:
        if not re.search(r"`[\w./]+/[\w./-]+`", entry):
            say("docs/glossary.md: %s: in which file?" % word)
    if len(entries) < 50:
        say("docs/glossary.md: only %d words were found" % len(entries))


def main():
    top, bad = sys.argv[1], []
    text = read(top, "ARCHITECTURE.md")
    check_spans(top, text, bad.append)
    check_steps(top, text, bad.append)
    check_table(top, text, bad.append)
    check_glossary(top, bad.append)
    print("\n".join(bad) or "ARCHITECTURE.md and the glossary are as the code is")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
