"""How large counted programs are: stripped files beside clang's -fprofile-generate.

    python3 bench/sizes.py [--programs bzip2,lua] [--work FOLDER] [--into docs/performance.md]

Builds every program plainly, with clang -fprofile-generate and with footpath-cc, strips
the results, prints their sizes and writes the table of docs/performance.md. The quotient is footpath-cc with a packed map
over clang -fprofile-generate. Ends with status 1 where one is above --most.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import corpus
import marks

BIN = os.environ.get("FOOTPATH_BIN", os.path.join(corpus.ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")


def footpath(how):
    return (os.path.join(BIN, "footpath-cc"), os.path.join(BIN, "footpath-c++"), "-O2",
            {"FOOTPATH_CC_FLAGS": "--fp-llvm=%s --fp-map=%s" % (LLVM, how)})


VARIANTS = {
    "plain clang": ("clang-" + LLVM, "clang++-" + LLVM, "-O2", {}),
    "-fprofile-generate": ("clang-" + LLVM, "clang++-" + LLVM, "-O2 -fprofile-generate", {}),
    "map packed": footpath("packed"),
}


COLUMNS = ["program", "plain clang, KB", "-fprofile-generate, KB", "footpath-cc, KB", "quotient", "map, KB", "packed, KB"]


def section(exe, name):
    """The size of a section in the file."""
    shown = subprocess.run(["readelf", "-SW", exe], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    for line in shown.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == name:
            return int(words[5], 16)
    return 0


def stripped(exe):
    copy = exe + ".stripped"
    subprocess.run(["strip", "-o", copy, exe], check=True)
    return os.path.getsize(copy)


def map_size(exe):
    """Of the records as the linker left them: the packed section says."""
    with open(exe, "rb") as f:
        data = f.read()
    at = data.find(b"fpz1\0\0\0\0")
    return int.from_bytes(data[at + 8:at + 16], "little") if at >= 0 else section(exe, ".footpath_map")


def measure(program, folder):
    row = {}
    for name, (cc, cxx, flags, env) in VARIANTS.items():
        exe = corpus.build(program, folder, cc, cxx, flags, env)
        row[name] = stripped(exe)
        if name.startswith("map"):
            row["map"], row["in file"] = map_size(exe), section(exe, ".footpath_map")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--work")
    parser.add_argument("--into", help="the document with the table")
    parser.add_argument("--most", type=float, default=1.5)
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    folder = args.work or tempfile.mkdtemp(prefix="footpath-sizes-")
    os.makedirs(folder, exist_ok=True)
    above, rows = 0, {}
    for program in programs:
        row = measure(program, folder)
        quotient = row["map packed"] / row["-fprofile-generate"]
        above += quotient > args.most
        rows[program.name] = ["%.0f" % (row["plain clang"] / 1e3), "%.0f" % (row["-fprofile-generate"] / 1e3),
                              "%.0f" % (row["map packed"] / 1e3), "%.2f" % quotient, "%.0f" % (row["map"] / 1e3),
                              "%.0f" % (row["in file"] / 1e3)]
        print(program.name, ", ".join("%s %s" % (c, v) for c, v in zip(COLUMNS[1:], rows[program.name])), flush=True)
    if args.into:
        marks.write(args.into, "sizes", COLUMNS, rows, marks.stamp(), None, [p.name for p in corpus.PROGRAMS])
    if not args.work:
        shutil.rmtree(folder)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
