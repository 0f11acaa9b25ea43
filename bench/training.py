#!/usr/bin/env python3
"""What it costs to train a program with 16 threads: CPU time of footpath's builds and of clang -fprofile-generate.

    training.py --bin BUILD/bin [--programs threads,zstd,x264] [--threads 16] [--rounds 5] [--rebuild] [--docs]
    training.py pack FOLDER --bin BUILD/bin        for another machine (elsewhere.py); FOLDER/run.sh > FILE there
    training.py --times FILE [--docs]              the table of what run.sh printed

threads is bench/threads.c: all threads count the two ways of one function. zstd compresses 16 MB in jobs of 512 KB. x264 encodes
48 pictures of 640x368. CPU time is user and system time of the whole process, the least of several runs, the builds in turn, over
the plain program's; wall time likewise. Lost: of all counts of clang's profile, by how many it is below the one with atomic counters,
in the run that lost most.
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile

import corpus
import elsewhere
import inputs
import marks

WORK = os.path.join(corpus.ROOT, ".cache", "training")
VARIANTS = {"plain": "", "footpath": "", "footpath, for profdata": "--fp-at=pgo --fp-values", "clang": "-fprofile-generate",
            "clang, atomic": "-fprofile-generate -fprofile-update=atomic"}
COLUMNS = ["program", "plain, s", "footpath", "footpath --fp-at=pgo --fp-values", "clang -fprofile-generate", "clang, -fprofile-update=atomic", "lost by clang's default"]
PROGRAMS = ["threads", "zstd", "x264"]
LINES = {"threads": "%(exe)s %(threads)d 2000000", "zstd": "%(exe)s -9 -T%(threads)d -B524288 -c %(in)s/mix-16m",
         "x264": "%(exe)s --quiet --threads %(threads)d --input-res 640x368 -o /dev/null %(in)s/video-640.yuv"}


def compilers(args, variant):
    ours = variant.startswith("footpath")
    names = [os.path.join(args.bin, c) + " --fp-llvm=" + args.llvm for c in ("footpath-cc", "footpath-c++")] if ours else \
        ["clang-" + args.llvm, "clang++-" + args.llvm]
    return [name + " " + VARIANTS[variant] for name in names]


def build(args, name, variant):
    folder = os.path.join(WORK, name, re.sub(r"\W+", "-", variant))
    program = None if name == "threads" else corpus.names(name)[0]
    exe = os.path.join(folder, name, program.exe if program else "prog")
    if os.path.exists(exe) and not args.rebuild:
        return exe
    cc, cxx = compilers(args, variant)
    if program:
        return corpus.build(program, folder, cc, cxx, "-O2")
    os.makedirs(os.path.dirname(exe), exist_ok=True)
    subprocess.run(cc.split() + ["-O2", "-pthread", os.path.join(corpus.HERE, "threads.c"), "-o", exe], check=True)
    return exe


def input_files():
    """{name: path}"""
    os.makedirs(WORK, exist_ok=True)
    video = os.path.join(WORK, "video-640.yuv")
    if not os.path.exists(video):
        with open(video + ".new", "wb") as f:
            f.write(inputs.video(random.Random("video-640"), 48, 640, 368))
        os.rename(video + ".new", video)
    return {"mix-16m": os.path.join(inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs")), "mix-16m"), "video-640.yuv": video}


def pack(args, folder):
    runs = []
    for name in args.programs.split(","):
        for variant in VARIANTS:
            start = elsewhere.pack_exe(folder, "training-%s-%s" % (name, re.sub(r"\W+", "-", variant)), build(args, name, variant))
            line = LINES[name] % {"exe": start, "threads": args.threads, "in": "$HERE/inputs"}
            runs.append({"program": "training " + name, "variant": variant, "command": line, "ends": [0], "all_cores": True, "place": "disk"})
    for name, path in input_files().items():
        if any("/" + name in r["command"] for r in runs):
            elsewhere.copy_files(path, os.path.join(folder, "inputs", name))
    elsewhere.pack_plan(folder, marks.tree(), runs)


def rows(given):
    """{program: cells}, and the same of wall time, of what elsewhere.py printed."""
    cpu, wall = {}, {}
    for name, times in given["times"].items():
        what, _, program = name.partition(" ")
        if what != "training":
            continue
        for table, by in ((cpu, times), (wall, given["wall"][name])):
            least = {v: min(by[v]) for v in VARIANTS}
            table[program] = ["%.2f" % least["plain"]] + ["%.2fx" % (least[v] / least["plain"]) for v in VARIANTS if v != "plain"]
        counted = given["counted"][name]
        cpu[program].append("%.1f%%" % (100 * (1 - min(counted["clang"]) / max(counted["clang, atomic"]))))
    return cpu, wall


def write(args, given):
    cpu, wall = rows(given)
    for name in cpu:
        print(name, dict(zip(COLUMNS[1:], cpu[name])), "wall:", dict(zip(COLUMNS[1:], wall[name])), flush=True)
    if args.docs:
        page = os.path.join(corpus.ROOT, "docs", "use.md")
        at = {n: marks.stamp(where=given["machine"], when=given["date"], commit=given["commits"]["training " + n]) for n in cpu}
        marks.write(page, "training", COLUMNS, cpu, at, None, PROGRAMS)
        marks.write(page, "training-wall", COLUMNS[:-1], wall, at, None, PROGRAMS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["pack"])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--bin", default=os.path.join(corpus.ROOT, "build", "bin"))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--rounds", default="5")
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--rebuild", action="store_true", help="also what is built already")
    parser.add_argument("--docs", action="store_true", help="put the rows into docs/use.md")
    parser.add_argument("--times", help="what run.sh printed on another machine; nothing is measured here")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    if args.what and not args.folder:
        parser.error("pack needs a folder")
    if args.times:
        with open(args.times) as f:
            return write(args, json.load(f))
    corpus.fetch([p for p in corpus.PROGRAMS if p.name in args.programs.split(",")])
    if args.what:
        return pack(args, args.folder)
    os.makedirs(WORK, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        pack(args, folder)
        done = subprocess.run([os.path.join(folder, "run.sh"), "--rounds", args.rounds], stdout=subprocess.PIPE, text=True, check=True)
        write(args, json.loads(done.stdout))


if __name__ == "__main__":
    main()
