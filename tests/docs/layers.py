#!/usr/bin/env python3
"""Do the folders depend on each other in the one direction that ARCHITECTURE.md
states? Reads every #include of src/, tool/ and runtime/. Also: no file name and no
struct tag of ours exists twice.

    layers.py SOURCE-TREE
"""
import collections
import os
import re
import sys

CORE = ["base", "graph", "count", "profile", "paths", "combined"]
# folder -> what it may include beside itself
LAW = {folder: set(CORE[:at]) for at, folder in enumerate(CORE)}
LAW.update({
    "flags": {"base"},
    "p3": set(CORE[:5]),
    "guide": set(CORE),
    "binary": set(CORE[:5]),
    "perf": set(CORE[:5]) | {"binary"},
    "model": set(CORE),
    "report": set(CORE) | {"model"},
    "api": set(CORE) | {"model"},
    "llvm": {"base", "flags", "graph", "count"},
    "tool": set(CORE) | {"flags", "p3", "guide", "binary", "perf", "model", "report", "tool"},
})
# single headers beyond the law: files that the compiler reads or writes
ALSO = {
    "llvm": {"profile/mapcode.h", "guide/guide.h", "p3/division.h", "p3/hits.h"},
}
# the same for the rooms of runtime/; each may include rt.h
ROOMS = {
    "core": set(),
    "threads": {"core"},
    "exits": {"core"},
    "pep": {"core"},
    "standin": {"threads"},
}


def sources(top):
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cpp")):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', f.read(), re.M)


def problem(folder, kind, name):
    first = name.split("/")[0]
    if name.startswith(("llvm-c/", "llvm/")) and kind == "<" and folder != "llvm":
        return "only src/llvm may see LLVM"
    if kind == "<" or "/" not in name or first == "footpath" or first == folder:
        return None
    if folder not in LAW:
        return "src/%s is not in the law (ARCHITECTURE.md, layers.py)" % folder
    if first in LAW[folder] or name in ALSO.get(folder, ()):
        return None
    return "%s may not use %s" % (folder, first)


def runtime_problem(room, kind, name):
    if kind == "<" or name == "rt.h" or name.startswith("footpath/"):
        return None
    first = name.split("/")[0]
    if first not in ROOMS:
        return "the runtime uses its own headers and footpath/ only"
    if first not in ROOMS[room] | {room}:
        return "runtime/%s may not use runtime/%s" % (room, first)
    return None


def wrong_includes(top):
    bad, count = [], 0
    for area in ("src", "tool", "runtime"):
        for path in sources(os.path.join(top, area)):
            below = os.path.relpath(path, os.path.join(top, area)).split(os.sep)[0]
            folder = below if area == "src" else area
            for kind, name in includes(path):
                count += 1
                what = runtime_problem(below, kind, name) if area == "runtime" else problem(folder, kind, name)
                if what:
                    bad.append("%s: includes %s: %s" % (os.path.relpath(path, top), name, what))
    return bad, count


def repeated(top):
    names, tags = collections.defaultdict(list), collections.defaultdict(list)
    for area in ("src", "tool", "runtime", "include"):
        for path in sources(os.path.join(top, area)):
            short = os.path.relpath(path, top)
            names[os.path.basename(path)].append(short)
            with open(path, encoding="utf-8") as f:
                for tag in re.findall(r"^(?:static |typedef )*((?:struct|union|enum) \w+)(?= \{$| \{ )", f.read(), re.M):
                    tags[tag].append(short)
    for what in (names, tags):
        for name, places in sorted(what.items()):
            if len(places) > 1:
                yield "%s exists %d times: %s" % (name, len(places), ", ".join(places))


def main():
    top = sys.argv[1]
    bad, count = wrong_includes(top)
    bad += repeated(top)
    if not count:
        bad.append("nothing was read")
    print("\n".join(bad) or "%d includes go the right way; no name exists twice" % count)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
