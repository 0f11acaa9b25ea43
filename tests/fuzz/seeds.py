#!/usr/bin/env python3
"""Seeds for the fuzz targets: maps and profiles of real programs, made by this build.

    seeds.py --bin BUILD/bin [--llvm 19] FOLDER    writes FOLDER/map and FOLDER/profile
"""
import argparse
import os
import subprocess

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
SEEDS = [
    ("control_flow.c", "--fp-mode=path"),
    ("control_flow.c", "--fp-mode=edge-min"),
    ("many_paths.c", "--fp-mode=path"),
    ("exceptions.cc", "--fp-mode=check"),
    ("exit_deep.c", "--fp-mode=path --fp-exits"),
    ("exit_deep.c", "--fp-mode=path --fp-metric=cycles"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("folder")
    args = parser.parse_args()
    for kind in ("map", "profile"):
        os.makedirs(os.path.join(args.folder, kind), exist_ok=True)
    for number, (source, flags) in enumerate(SEEDS):
        name = "%d-%s" % (number, source.split(".")[0])
        exe = os.path.join(args.folder, name)
        compiler = "footpath-c++" if source.endswith(".cc") else "footpath-cc"
        subprocess.run([os.path.join(args.bin, compiler), "--fp-llvm=" + args.llvm, "--fp-map=plain", *flags.split(), "-O1", "-w", "-pthread",
                        os.path.join(PROGRAMS, source), "-o", exe], check=True)
        section = os.path.join(args.folder, "map", name)
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.footpath_map", "--set-section-flags",
                        ".footpath_map=alloc", exe, section], check=True)
        profile = os.path.join(args.folder, "profile", name)
        if os.path.exists(profile):
            os.unlink(profile)
        for _ in range(2):
            subprocess.run([exe], env=dict(os.environ, FOOTPATH_OUT=profile), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        if not os.path.getsize(section) or not os.path.getsize(profile):
            raise SystemExit("%s: no seed" % name)
        os.unlink(exe)


if __name__ == "__main__":
    main()
