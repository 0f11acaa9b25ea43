#!/usr/bin/env python3
"""Line counts against gcov (gcc) and llvm-cov (clang) on the same source at -O0.

    lines_agree.py --bin BUILD/bin [--programs bzip2,minigzip,..] [--markdown]

Builds each program three times, runs it once on the same input and compares the count of
every line that both tools have code on. Without --programs it takes the small programs of
this folder; the real ones are bench/corpus.py's. Exits 1 where fewer than --least
percent of the lines agree, or a line that one of them never ran ran in footpath.
"""
import collections
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]
import harness  # noqa: E402

# C files, flags, how to run: those of the corpus that are a list of files
REAL = {
    "bzip2": ("bzip2", "blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c", "-D_FILE_OFFSET_BITS=64", "-kc9 {in}/mix-300k"),
    "minigzip": ("zlib", "adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c test/minigzip.c", "-DHAVE_UNISTD_H -I.", "-9 < {in}/mix-300k"),
    "lua": ("lua5.4", "src/l*.c", '-DLUA_USE_POSIX "-Dluai_makeseed(L)=1" -DSTRCACHE_N=1 -DSTRCACHE_M=2 -Isrc', "{in}/bench.lua 1"),
}


def shell(command, cwd, env=None):
    done = subprocess.run(command, shell=True, cwd=cwd, env=dict(os.environ, **(env or {})), capture_output=True)
    if done.returncode:
        raise SystemExit("%s\n%s" % (command[:400], done.stderr.decode(errors="replace")[-2000:]))
    return done.stdout


def footpath_lines(bins, folder, sources, flags, args):
    shell("%s/footpath-cc -O0 -w --fp-exits %s %s -o a1.out -lm" % (bins, flags, sources), folder)
    shell("./a1.out %s > /dev/null" % args, folder, {"FOOTPATH_OUT": os.path.join(folder, "fp.prof")})
    return lcov_counts(shell("%s/footpath coverage --format lcov fp.prof" % bins, folder), folder)


def gcov_lines(folder, sources, flags, args):
    shell("gcc -O0 -w --coverage %s %s -o a2.out -lm" % (flags, sources), folder)
    shell("./a2.out %s > /dev/null" % args, folder)
    shell("gcov --json-format a2.out-*.gcda > /dev/null", folder)
    counts = collections.defaultdict(int)
    for path in glob.glob(os.path.join(folder, "*.gcov.json.gz")):
        with gzip.open(path) as f:
            data = json.load(f)
        for one in data["files"]:
            name = os.path.relpath(os.path.join(folder, one["file"]), folder)
            for line in one["lines"]:
                counts[(name, line["line_number"])] += line["count"]
    return counts


def llvm_lines(folder, sources, flags, args):
    shell("clang-19 -O0 -w -fprofile-instr-generate -fcoverage-mapping %s %s -o a3.out -lm" % (flags, sources), folder)
    shell("./a3.out %s > /dev/null" % args, folder, {"LLVM_PROFILE_FILE": os.path.join(folder, "c.profraw")})
    shell("llvm-profdata-19 merge -o c.profdata c.profraw", folder)
    return lcov_counts(shell("llvm-cov-19 export -format=lcov a3.out -instr-profile=c.profdata", folder), folder)


def lcov_counts(text, folder):
    counts, name = {}, None
    for line in text.decode(errors="replace").splitlines():
        if line.startswith("SF:"):
            name = os.path.relpath(os.path.join(folder, line[3:]), folder)
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            counts[(name, int(number))] = int(count)
    return counts


def source_line(folder, key):
    try:
        with open(os.path.join(folder, key[0]), errors="replace") as f:
            return f.read().splitlines()[key[1] - 1]
    except (OSError, IndexError):
        return ""


def why(text, ours, theirs):
    """What kind of line the two count differently."""
    if re.search(r"\b(for|while)\b", text):
        return "a loop's head: tests (footpath, llvm-cov) or arrivals (gcov)"
    if re.search(r"\bdo\b|}\s*while", text):
        return "do-while"
    if re.search(r"\bcase\b|\bdefault\b|\bswitch\b", text):
        return "switch and cases"
    if re.match(r"^\s*[{}]*\s*(else)?\s*[{}]*;?\s*$", text):
        return "a brace or else alone"
    if re.search(r"\?|&&|\|\|", text):
        return "several blocks on one line: ?:, && and ||"
    if re.search(r"\b(if|return|goto|break)\b", text):
        return "if, return, goto, break"
    if re.match(r"^\s*(static\s+)?(const\s+)?\w[\w\s*]*\(", text) or re.match(r"^[A-Za-z_].*[({,]\s*$", text):
        return "a function's head or a call over several lines"
    if re.search(r"[A-Z_]{3,}\s*\(", text):
        return "a macro with branches of its own"
    return "other"


def compare(folder, ours, theirs):
    both = [key for key in ours if key in theirs]
    wrong = [key for key in both if ours[key] != theirs[key]]
    kinds = collections.Counter(why(source_line(folder, key), ours[key], theirs[key]) for key in wrong)
    ran = [key for key in both if bool(ours[key]) != bool(theirs[key])]
    return len(both), len(wrong), kinds, ran


def main():
    options = harness.parse(harness.arguments(
        __doc__,
        ("--programs", {"default": ""}),
        ("--least", {"type": float, "default": 90}),
        ("--show", {"type": int, "default": 0, "help": "print this many differing lines"}),
        ("--inputs", {"default": os.path.join(ROOT, ".cache", "inputs")})))
    bins, failed = options.bin, False
    jobs = [(name,) + REAL[name] for name in options.programs.split(",") if name]
    if not jobs:
        jobs = [("walk", None, "walk.c", "", "100")]
    print("| program | against | lines with code in both | equal | differ on whether it ran | what differs |\n|---|---|---|---|---|---|")
    for name, package, sources, flags, args in jobs:
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            if package:
                import corpus
                shutil.copytree(os.path.join(corpus.CACHE, package), folder, dirs_exist_ok=True)
                if name == "lua":
                    open(os.path.join(folder, "src", "lua5.4-deb-multiarch.h"), "w").write('#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
                    os.unlink(os.path.join(folder, "src", "luac.c"))
            else:
                shutil.copy(os.path.join(HERE, "programs", "walk.c"), folder)
            args = args.replace("{in}", os.path.abspath(options.inputs))
            ours = footpath_lines(bins, folder, sources, flags, args)
            for tool, theirs in (("gcov 12", gcov_lines(folder, sources, flags, args)), ("llvm-cov 19", llvm_lines(folder, sources, flags, args))):
                both, wrong, kinds, ran = compare(folder, ours, theirs)
                share = 100 * (both - wrong) / max(1, both)
                print("| %s | %s | %d | %.1f%% | %d | %s |" % (name, tool, both, share, len(ran), "; ".join("%s: %d" % k for k in kinds.most_common())))
                failed |= share < options.least or not both
                keys = [k for k in ours if k in theirs and ours[k] != theirs[k]]
                for key in keys[:options.show]:
                    print("    %s:%d ours %s theirs %s  %s" % (key[0], key[1], ours[key], theirs[key], source_line(folder, key).strip()[:90]))
    return 1 if failed else 0


sys.exit(main())
