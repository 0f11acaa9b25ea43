"""How large counted programs are: stripped files beside clang's -fprofile-generate; and their profiles.

    python3 bench/sizes.py [--programs bzip2,lua] [--into docs/performance.md] [--rebuild]

Builds every program plainly, with clang -fprofile-generate and with footpath-cc (`clang`, `clang-pgo` and `path` of
measure.py), strips the results, prints their sizes and writes the table of docs/performance.md. The quotient is
footpath-cc, with its packed map, over clang -fprofile-generate. Ends with status 1 where one is above --most. A profile
gets the map with the first run of a build: a small run is written without it and with it.
"""
import argparse
import os
import subprocess
import sys

import corpus
import marks
import measure

COLUMNS = ["program", "plain clang, KB", "-fprofile-generate, KB", "footpath-cc, KB", "quotient", "map, KB", "packed, KB",
           "a run, KB", "first run, KB", "of it map, KB"]


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


def profile_sizes(program, exe):
    """Of the profile of one small run without the map, and with it, as the first run of a build writes it."""
    sizes = []
    folder = os.path.join(measure.WORK, "sizes", program.name)
    os.makedirs(folder, exist_ok=True)
    for with_map in ("0", "1"):
        profile = os.path.join(folder, "run.prof")
        if os.path.exists(profile):
            os.unlink(profile)
        done = subprocess.run(["sh", "-c", measure.run_command(program, "path", "small", exe)], cwd=folder,
                              env=dict(os.environ, LC_ALL="C", FOOTPATH_OUT=profile, FOOTPATH_MAP=with_map),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode not in program.ends:
            raise RuntimeError("%s: status %d" % (program.name, done.returncode))
        sizes.append(os.path.getsize(profile))
    return sizes


def row_of(program, rebuild):
    """Cells, the quotient, and the commit of the build."""
    plain, clang, (ours, facts) = (measure.build(program, variant, rebuild) for variant in ("clang", "clang-pgo", "path"))
    sizes = [stripped(exe) for exe in (plain[0], clang[0], ours)]
    alone, with_map = profile_sizes(program, ours)
    quotient = sizes[2] / sizes[1]
    cells = ["%.0f" % (size / 1e3) for size in sizes] + ["%.2f" % quotient]
    cells += ["%.0f" % (size / 1e3) for size in (map_size(ours), section(ours, ".footpath_map"))]
    cells += ["%.1f" % (size / 1e3) for size in (alone, with_map, with_map - alone)]
    return cells, quotient, facts.get("commit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--into", help="the document with the table")
    parser.add_argument("--rebuild", action="store_true", help="build anew what was built before")
    parser.add_argument("--most", type=float, default=1.5)
    args = parser.parse_args()
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    above, rows, at = 0, {}, {}
    for program in programs:
        rows[program.name], quotient, commit = row_of(program, args.rebuild)
        at[program.name] = marks.stamp(commit=commit)
        above += quotient > args.most
        print(program.name, ", ".join("%s %s" % (c, v) for c, v in zip(COLUMNS[1:], rows[program.name])), flush=True)
    if args.into:
        marks.write(args.into, "sizes", COLUMNS, rows, at, None, [p.name for p in corpus.PROGRAMS])
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
