"""Inclusive costs of functions: footpath's callgrind export beside valgrind's callgrind.

    python3 bench/inclusive.py [--programs bzip2,lua,leveldb] [--bin build/bin] [--into docs/performance.md] [--flags FLAGS]

Builds each program with clang -O2 and, by the same flags, with footpath-cc --fp-calls=inclusive --fp-cost=machine. The first
runs under valgrind --tool=callgrind, the second by itself. The shares of the two are compared for every function that has 1%
in one of them: inclusive as callgrind_annotate --inclusive=yes prints them, and the functions' own.

100% is what the program's own code executes. Libraries have no counts in footpath, so that valgrind's instructions in them
are taken off: with --separate-callers=80 it tells of every cost the chain of callers, and a function's inclusive cost is what
the program's object spent in chains with the function. The last column has the functions beyond --most points if libraries are
left in, as callgrind_annotate prints the file of a plain callgrind run.
"""
import argparse
import os
import re
import subprocess

import corpus
import inputs
import marks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.environ.get("FOOTPATH_WORK", os.path.join(ROOT, ".cache", "inclusive"))
FLAGS = "--fp-calls=inclusive --fp-cost=machine --fp-exits"
COLUMNS = ["program", "functions", "inclusive: most, points", "beyond 2 points", "own: most, points", "own cost / valgrind's", "with libraries: beyond 2 points"]
LEVELDB = corpus.Program(
    "leveldb", ["leveldb"],
    'cmake -S . -B out -DCMAKE_CXX_COMPILER=$CXX -DCMAKE_C_COMPILER=$CC -DCMAKE_CXX_FLAGS="$CFLAGS -w" -DLEVELDB_BUILD_TESTS=OFF '
    '-DHAVE_SNAPPY=0 >/dev/null 2>&1 && make -s -C out -j2 db_bench >/dev/null', "out/db_bench", "",
    "rm -rf {src}/db; {exe} --db={src}/db --num=20000 --benchmarks=fillseq,fillrandom,readrandom,readseq,compact,readrandom",
    "", cxx=True, threads=True, needs=["cmake", "libbenchmark-dev"])


def key(name):
    return name.replace(" ", "")


def annotate(path, inclusive):
    """The total, and the cost of each function, of a file in callgrind's format."""
    # in a folder that holds no sources, or it takes one file for two
    text = subprocess.run(["callgrind_annotate", "--inclusive=" + inclusive, "--threshold=100", "--auto=no", path], cwd="/", check=True,
                          stdout=subprocess.PIPE, text=True, errors="replace").stdout
    costs, total = {}, 0
    for cost, name in re.findall(r"^ *([\d,]+) \( *[\d.]+%\)  (.*)$", text, re.M):
        cost = int(cost.replace(",", ""))
        if name.startswith("PROGRAM TOTALS"):
            total = cost
            continue
        name = key(re.sub(r" \[[^\]]*\]$", "", name).split(":", 1)[-1])
        costs[name] = max(costs.get(name, 0), cost) if inclusive == "yes" else costs.get(name, 0) + cost
    return total, costs


def chains(path, program):
    """The total, and each function's inclusive and own cost, of what `program` executes: from costs by chains of callers."""
    names, objects, inside = {}, {}, False
    total, inclusive, own, chain, call = 0, {}, {}, [], False
    with open(path, errors="replace") as lines:
        for line in lines:
            named = re.match(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?$", line)
            if named:
                kind, number, text = named.groups()
                known = objects if kind.endswith("ob") else names
                if text is not None:
                    known[number] = text
                if kind == "ob":
                    inside = os.path.basename(known[number]) == program
                if kind == "fn":
                    chain = key(known[number]).split("'")
                continue
            if line.startswith("calls="):
                call = True
                continue
            cost = re.match(r"[+\-*\d]\S* (\d+)$", line)
            if cost and call:
                call = False  # of the call, not of the function
            elif cost and inside:
                cost = int(cost.group(1))
                total += cost
                own[chain[0]] = own.get(chain[0], 0) + cost
                for name in set(chain):
                    inclusive[name] = inclusive.get(name, 0) + cost
    return total, inclusive, own


def run(program, exe, prefix="", **env):
    line = corpus.command(program, "small", prefix + exe, inputs.make(os.path.join(ROOT, ".cache", "inputs")), os.path.dirname(exe))
    done = subprocess.run(["sh", "-c", line], env=dict(os.environ, LC_ALL="C", **env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode not in program.ends:
        raise SystemExit("%s: status %d" % (line, done.returncode))


def compare(program, args):
    """Rows of (name, valgrind's shares, ours): inclusive, own, and inclusive with libraries."""
    plain = corpus.build(program, os.path.join(WORK, "plain"), "clang-" + args.llvm, "clang++-" + args.llvm, "-O2 -gdwarf-4")
    counted = corpus.build(program, os.path.join(WORK, "counted"), *(os.path.join(args.bin, name) for name in ("footpath-cc", "footpath-c++")),
                           "-O2", env={"FOOTPATH_CC_FLAGS": args.flags + " --fp-llvm=" + args.llvm})
    files = {name: os.path.join(WORK, "%s.%s" % (program.name, name)) for name in ("chains", "whole", "ours", "prof")}
    for name in files.values():
        if os.path.exists(name):
            os.unlink(name)
    for name, more in (("chains", "--separate-callers=80 --separate-recs=1"), ("whole", "")):
        run(program, plain, "valgrind --tool=callgrind %s --callgrind-out-file=%s " % (more, files[name]))
    run(program, counted, FOOTPATH_OUT=files["prof"])
    with open(files["ours"], "w") as out:
        subprocess.run([os.path.join(args.bin, "footpath"), "export", "--format", "callgrind", files["prof"]], stdout=out, check=True)
    total, inclusive, own = chains(files["chains"], os.path.basename(plain))
    all_total, whole = annotate(files["whole"], "yes")
    ours_total, ours = annotate(files["ours"], "yes")
    _, ours_own = annotate(files["ours"], "no")
    rows = []
    for name in ours:
        row = [100 * inclusive.get(name, 0) / total, 100 * ours[name] / ours_total, 100 * own.get(name, 0) / total,
               100 * ours_own.get(name, 0) / ours_total, 100 * whole.get(name, 0) / all_total]
        if max(row[:2]) >= 1 and not name.startswith("(through"):
            rows.append((name, row))
    return rows, ours_total / total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="bzip2,lua,leveldb,mawk,minisat")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--flags", default=FLAGS)
    parser.add_argument("--most", type=float, default=2)
    parser.add_argument("--all", action="store_true", help="print every function, not those beyond --most alone")
    parser.add_argument("--into", metavar="FILE")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    programs = [p for name in args.programs.split(",") for p in ([LEVELDB] if name == "leveldb" else corpus.names(name))]
    corpus.fetch(programs)
    os.makedirs(WORK, exist_ok=True)
    table = {}
    for program in programs:
        rows, ratio = compare(program, args)
        off = [(name, row) for name, row in rows if abs(row[0] - row[1]) > args.most]
        table[program.name] = [str(len(rows)), "%.1f" % max(abs(r[0] - r[1]) for _, r in rows), str(len(off)),
                               "%.1f" % max(abs(r[2] - r[3]) for _, r in rows), "%.2f" % ratio, str(sum(abs(r[4] - r[1]) > args.most for _, r in rows))]
        print("%s: %s" % (program.name, ", ".join("%s %s" % pair for pair in zip(COLUMNS[1:], table[program.name]))), flush=True)
        for name, row in sorted(rows if args.all else off, key=lambda pair: -pair[1][0]):
            print("  %5.1f%% by valgrind, %5.1f%% by footpath (own %5.1f%%, %5.1f%%; with libraries %5.1f%%)  %s" % (*row, name[:90]), flush=True)
    if args.into:
        marks.write(args.into, "inclusive", COLUMNS, table, marks.stamp())


if __name__ == "__main__":
    main()
