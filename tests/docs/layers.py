#!/usr/bin/env python3
"""Do the folders of src/ depend on each other in the one direction that
ARCHITECTURE.md states? Reads every #include.

    layers.py SOURCE-TREE
"""
import os
import re
import sys

# a folder may include what stands before it
ORDER = ["base", "graph", "count", "profile", "analysis", "report"]
# beside the row: what else may be used by whom
ALLOWED = {
    "llvm": {"base", "graph", "count", "profile", "analysis"},
    "sample": {"base", "graph", "count", "profile", "analysis"},
}
# no code of LLVM: the name of the variable that both sides use
SHARED = {"llvm/plugin_env.h"}


def allowed(folder):
    if folder in ORDER:
        return set(ORDER[: ORDER.index(folder)]) | {folder}
    return ALLOWED.get(folder, set(ORDER)) | {folder}


def sources(top):
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith((".c", ".h", ".cpp")):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', f.read(), re.M)


def problem(folder, layers, kind, name):
    first = name.split("/")[0]
    if name.startswith(("llvm-c/", "llvm/")) and kind == "<" and folder != "llvm":
        return "only src/llvm may see LLVM"
    if kind == '"' and first in layers and name not in SHARED and first not in allowed(folder):
        return "src/%s may not use src/%s" % (folder, first)
    return None


def runtime_problem(kind, name):
    if kind == '"' and not name.startswith(("rt", "footpath/")):
        return "the runtime uses its own headers and footpath/ only"
    return None


def main():
    top = sys.argv[1]
    src = os.path.join(top, "src")
    layers = set(os.listdir(src))
    bad, count = [], 0
    for path in sources(src):
        folder = os.path.relpath(path, src).split(os.sep)[0]
        for kind, name in includes(path):
            count += 1
            what = problem(folder, layers, kind, name)
            if what:
                bad.append("%s: includes %s: %s" % (os.path.relpath(path, top), name, what))
    for path in sources(os.path.join(top, "runtime")):
        for kind, name in includes(path):
            count += 1
            what = runtime_problem(kind, name)
            if what:
                bad.append("%s: includes %s: %s" % (os.path.relpath(path, top), name, what))
    if not count:
        bad.append("nothing was read")
    print("\n".join(bad) or "%d includes go the right way" % count)
    sys.exit(bool(bad))


main()
