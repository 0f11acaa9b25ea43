#!/usr/bin/env python3
"""A program of very many functions with hash tables links, runs and verifies.

    tables.py --bin BUILD/bin [--llvm 19] [--count 17000] [--turns 1] [--per-file 1000] [--jobs N] [--compare]

Each function has 2^TURNS paths and every third is called. An array holds less than that many
paths: by default 4,096, so that --turns 13 needs no option for it. The program is built by
clang and by footpath-cc with default linker flags. Both must do the same, also under a limit
of address space; the counts must be right. --compare prints time and memory of both links
and runs.
"""
import concurrent.futures
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402

FUNCTION = """void f%(n)d(unsigned x, volatile int *s);
__attribute__((noinline)) void f%(n)d(unsigned x, volatile int *s)
{
    %(turns)s
}
"""
TURN = "if (x >> %d & 1) *s = %d;"


def write_sources(folder, count, per_file, turns):
    body = " ".join(TURN % (k, k) for k in range(turns))
    names = []
    for first in range(0, count, per_file):
        names.append("part%d.c" % first)
        with open(os.path.join(folder, names[-1]), "w") as out:
            numbers = range(first, min(first + per_file, count))
            for n in numbers:
                out.write(FUNCTION % {"n": n, "turns": body})
            out.write("void call%d(unsigned x, volatile int *s);\n" % first)
            out.write("void call%d(unsigned x, volatile int *s)\n{\n" % first)
            for n in numbers[::3]:
                out.write("    f%d(x + %d, s);\n" % (n, n))
            out.write("}\n")
    with open(os.path.join(folder, "main.c"), "w") as out:
        out.write("#include <stdio.h>\n")
        for name in names:
            out.write("void call%s(unsigned x, volatile int *s);\n" % name[4:-2])
        out.write("int main(void)\n{\n    volatile int s = 0;\n    long sum = 0;\n")
        out.write("    for (unsigned i = 0; i < 5; i++) {\n")
        for name in names:
            out.write("        call%s(i * 2654435761u, &s);\n        sum += s;\n" % name[4:-2])
        out.write("    }\n    printf(\"%ld\\n\", sum);\n    return 0;\n}\n")
    return names + ["main.c"]


def timed(command, folder, limit=None, env=None):
    """stdout, stderr, status; seconds; peak memory in KB."""
    def set_limit():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, preexec_fn=set_limit, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (out.read(), err.read(), process.returncode), time.monotonic() - start, usage.ru_maxrss


def build(compiler, sources, folder, jobs, turns):
    def compile_one(name):
        result, _, _ = timed([*compiler, "-O0" if turns < 13 else "-O1", "-c", name], folder)
        if result != ("", "", 0):
            raise Failure("%s: %s" % (name, result[1]))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, sources))
    with open(os.path.join(folder, "objects"), "w") as out:
        out.write("\n".join(name[:-2] + ".o" for name in sources))
    result, seconds, memory = timed([*compiler, "@objects", "-o", "prog"], folder)
    if result != ("", "", 0):
        raise Failure("link: %s" % result[1])
    return seconds, memory


def check_calls(b, profile):
    args = b.args
    shown = b.json("show", "--json", "--top", "0", profile)
    got = [f["calls"] for f in shown["functions"] if f["name"].startswith("f")]
    called = sum(len(range(first, min(first + args.per_file, args.count), 3))
                 for first in range(0, args.count, args.per_file))
    expect(len(got) == args.count and sum(got) == 5 * called and max(got) == 5,
           "expected %d functions, %d of them called 5 times; got %d and %d calls" % (args.count, called, len(got), sum(got)))


def case_tables(b):
    args, folder = b.args, b.folder
    clang = ["clang-" + args.llvm]
    footpath = [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-mode=check",
                *(["--fp-array-paths=1"] if args.turns < 13 else [])]
    env = dict(os.environ, FOOTPATH_OUT="out.prof")
    results = {}
    for name, compiler in (("clang", clang), ("footpath", footpath)):
        here = os.path.join(folder, name)
        os.makedirs(here)
        sources = write_sources(here, args.count, args.per_file, args.turns)
        link = build(compiler, sources, here, args.jobs, args.turns)
        run = timed(["./prog"], here, env=env)
        results[name] = run[0]
        if args.compare:
            print("%-9s link %.1f s, %d MB; run %.2f s, %d MB; file %d MB" % (
                name, link[0], link[1] // 1024, run[1], run[2] // 1024,
                os.path.getsize(os.path.join(here, "prog")) >> 20))
    if results["clang"] != results["footpath"] or results["clang"][2]:
        raise Failure("expected %r, got %r" % (results["clang"], results["footpath"]))
    profile = os.path.join(folder, "footpath", "out.prof")
    b.verify(profile)
    check_calls(b, profile)
    os.unlink(profile)
    # what the program itself takes, and little more: counts may be lost with a word, nothing else
    here = os.path.join(folder, "footpath")
    limit = os.path.getsize(os.path.join(here, "prog")) + (64 << 20)
    got, _, _ = timed(["./prog"], here, limit, env)
    if (got[0], got[2]) != (results["clang"][0], 0) or (got[1] and not got[1].startswith("footpath: ")):
        raise Failure("with little address space: expected %r, got %r" % (results["clang"], got))


if __name__ == "__main__":
    harness.main(__doc__, ("--count", {"type": int, "default": 17000}), ("--turns", {"type": int, "default": 1}),
                 ("--per-file", {"type": int, "default": 1000}), ("--jobs", {"type": int, "default": os.cpu_count()}),
                 ("--compare", {"action": "store_true"}))
