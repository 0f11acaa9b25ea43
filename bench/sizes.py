"""How large counted programs are: stripped files beside clang's -fprofile-generate.

    python3 bench/sizes.py [--programs bzip2,lua] [--work FOLDER]

Builds every program plainly, with clang -fprofile-generate and with footpath-cc, strips
the results and prints the table of docs/performance.md. The quotient is footpath-cc with a packed map
over clang -fprofile-generate. Ends with status 1 where one is above --most.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import corpus

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
    parser.add_argument("--programs")
    parser.add_argument("--work")
    parser.add_argument("--most", type=float, default=1.5)
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    folder = args.work or tempfile.mkdtemp(prefix="footpath-sizes-")
    os.makedirs(folder, exist_ok=True)
    above = 0
    print("| program | plain clang, KB | -fprofile-generate, KB | footpath-cc, KB | quotient | map, KB | packed, KB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for program in programs:
        row = measure(program, folder)
        quotient = row["map packed"] / row["-fprofile-generate"]
        above += quotient > args.most
        print("| %s | %.0f | %.0f | %.0f | %.2f | %.0f | %.0f |" % (
            program.name, row["plain clang"] / 1e3, row["-fprofile-generate"] / 1e3, row["map packed"] / 1e3, quotient,
            row["map"] / 1e3, row["in file"] / 1e3), flush=True)
    if not args.work:
        shutil.rmtree(folder)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
