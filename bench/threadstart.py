#!/usr/bin/env python3
"""What counting adds to making a thread and joining it.

    python3 bench/threadstart.py [--total 2000] [--runs 15] [--at-once 1,8,64,500] [--into docs/performance.md]

The threads do nothing. CPU time of the process, kernel included, for each thread; the variants run in turns and
the least of the runs is shown, since on a machine that others use more is noise.
"""
import argparse
import os
import resource
import subprocess
import tempfile

import marks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
static void *work(void *nothing) { return nothing; }
int main(int argc, char **argv)
{
    static pthread_t threads[1000];
    int at_once = argc > 2 ? atoi(argv[1]) : 1, total = argc > 2 ? atoi(argv[2]) : 1;
    if (at_once < 1 || at_once > 1000) return 7;
    for (int done = 0; done < total; done += at_once) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, work, NULL)) return 8;
        for (int i = 0; i < at_once; i++) pthread_join(threads[i], NULL);
    }
    return 0;
}
"""


def variants(args):
    clang, cc = ["clang-" + args.llvm], [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm]
    return {"not instrumented": clang, "clang -fprofile-generate": clang + ["-fprofile-generate"], "path": cc}


def once(program, folder, at_once, total):
    """CPU time for each thread, in us."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, str(at_once), str(total)], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / total * 1e6


def measure(args, folder):
    source, programs, rows = os.path.join(folder, "start.c"), {}, {}
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    for i, (name, compiler) in enumerate(variants(args).items()):
        programs[name] = os.path.join(folder, "start%d" % i)
        subprocess.run(compiler + ["-O2", "-pthread", source, "-o", programs[name]], check=True)
    for at_once in map(int, args.at_once.split(",")):
        total = max(1, args.total // at_once) * at_once
        least = {}
        for _ in range(args.runs):
            for name, program in programs.items():
                us = once(program, folder, at_once, total)
                least[name] = min(us, least.get(name, us))
        plain = least["not instrumented"]
        rows["%d" % at_once] = ["%.1f" % least[name] for name in programs] + ["%+.1f%%" % (100 * (least["path"] / plain - 1))]
    return rows, list(programs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--total", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--at-once", default="1,8,64,500")
    parser.add_argument("--into", type=os.path.abspath, help="the document with the table")
    args = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("FOOTPATH") and name != "FOOTPATH_COMMIT"]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="footpath-threadstart-") as folder:
        rows, names = measure(args, folder)
    columns = ["threads at once"] + names + ["path, more"]
    print("".join("%26s" % c for c in columns))
    for name, row in rows.items():
        print("%26s" % name + "".join("%26s" % cell for cell in row))
    if args.into:
        marks.write(args.into, "thread-start", columns, rows, marks.stamp(), right=True)


if __name__ == "__main__":
    main()
