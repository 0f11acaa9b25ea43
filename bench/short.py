#!/usr/bin/env python3
"""What counting adds to a process that does next to nothing: CPU time (user and system, the
kernel's work included), pages touched and system calls.

    python3 bench/short.py [--runs 2000] [--into docs/performance.md]

The programs run in turns, each in a folder of its own; of CPU time the tenth percentile is
shown, which is near the least and not one lucky run.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import marks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = """static __attribute__((noinline)) int side(int x) { return x > 3 ? x * 2 : x + 1; }
static __attribute__((noinline)) int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += side(i); return s; }
int main(int argc, char **argv) { (void)argv; return sum(argc + 3) == 1000; }
"""


def variants(args):
    clang, cc = ["clang-" + args.llvm], [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm]
    return {"plain": clang, "clang -fprofile-generate": clang + ["-fprofile-generate"], "path": cc,
            "path --fp-exits": cc + ["--fp-exits"], "edge-min": cc + ["--fp-mode=edge-min"]}


def once(program, folder):
    """CPU time in us, and pages touched."""
    os.chdir(folder)
    pid = os.posix_spawn(program, [program], os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit("%s failed" % program)
    return (used.ru_utime + used.ru_stime) * 1e6, used.ru_minflt


def calls(folder, program):
    out = os.path.join(folder, "calls.out")
    subprocess.run([os.path.join(folder, "calls"), out, program], check=True)
    with open(out, encoding="ascii") as f:
        return int(f.read().split()[0])


def measure(args, folder):
    with open(os.path.join(folder, "short.c"), "w", encoding="ascii") as f:
        f.write(SOURCE)
    subprocess.run(["clang-" + args.llvm, "-O1", os.path.join(ROOT, "tests", "exact", "calls.c"), "-o",
                    os.path.join(folder, "calls")], check=True)
    places = {}
    for i, (name, command) in enumerate(variants(args).items()):
        place = os.path.join(folder, str(i))
        os.mkdir(place)
        subprocess.run(command + ["-O2", os.path.join(folder, "short.c"), "-o", os.path.join(place, "short")], check=True)
        places[name] = place
    times, pages = {name: [] for name in places}, {}
    for _ in range(args.runs):
        for name, place in places.items():
            us, pages[name] = once(os.path.join(place, "short"), place)
            times[name].append(us)
    shown = {name: sorted(each)[len(each) // 10] for name, each in times.items()}
    rows = {}
    for name, place in places.items():
        os.chdir(place)
        made = calls(folder, os.path.join(place, "short"))
        rows[name] = ["%.0f" % shown[name], "%.0f" % (shown[name] - shown["plain"]), str(pages[name]), str(made)]
    os.chdir(ROOT)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--into", type=os.path.abspath, help="the document with the table")
    args = parser.parse_args()
    columns = ["", "CPU time, us", "more than plain, us", "pages", "system calls"]
    for name in [name for name in os.environ if name.startswith("FOOTPATH") and name != "FOOTPATH_COMMIT"]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="footpath-short-") as folder:
        rows = measure(args, folder)
    for name, row in rows.items():
        print("%-26s" % name + "".join("%22s" % cell for cell in row))
    if args.into:
        marks.write(args.into, "short", columns, rows, marks.stamp(), right=True)


if __name__ == "__main__":
    main()
