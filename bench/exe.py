"""footpath exe on programs of Debian as they are installed (stock.py): the tables of docs/executables.md.

    python3 bench/exe.py truth      every block and branch against callgrind; what is left alone
    python3 bench/exe.py rewriting  CPU time of footpath exe
    python3 bench/exe.py price      extra instructions, whole process, of runs of 50 million instructions or more
    python3 bench/exe.py copies     what copies of blocks and a guide save, in instructions, and what they take, in code
    python3 bench/exe.py times      CPU time beside qemu-user and valgrind
    python3 bench/exe.py bolt       beside BOLT's instrumentation and footpath-cc, on programs built for BOLT
    python3 bench/exe.py behaviour  --version and --help of 200 programs
      [--programs gzip,perl] [--into docs/executables.md] [--verbose]

Without --into the rows are printed alone. Ends with status 1 where a figure is not what it should be (LIMITS).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import corpus
import marks
import measure
import stock

ROOT = corpus.ROOT
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "exe")]
import behaviour as programs  # noqa: E402
import callgrind  # noqa: E402
import harness  # noqa: E402

LIMITS = {"price": 0.12, "bolt": 0.15, "alone": 0.001, "seconds per MB": 1.0}


class Args:
    bin, llvm = os.path.abspath(measure.BIN), measure.LLVM


class Bench(harness.Bench):
    """A folder for one program, which is gone behind it."""

    def __init__(self, name):
        super().__init__(Args, os.path.realpath(tempfile.mkdtemp(prefix="footpath-exe-%s-" % name)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.folder, ignore_errors=True)


def stock_inputs():
    return stock.make(os.path.join(ROOT, ".cache", "stock"))


def percent(value, places=1):
    return "%+.*f%%" % (places, 100 * value)


# ---- truth ----

TRUTH = ["program", "version", "blocks and branches", "executed blocks", "differ", "differ, held", "in flight", "by chance", "exceptions",
         "left alone, of instructions"]


def version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout or "–"


def truth_of(program, folder, held):
    env = dict(program.env, HOME=folder, TZ="UTC")
    with Bench(program.name) as b:
        if held:
            env["LD_PRELOAD"] = callgrind.preload(b)
        return callgrind.compare(b, program.program(), *program.words("small", folder), libraries=stock.libraries(program), twice=True,
                                 input=program.stdin("small", folder), env=env)


def truth(args):
    folder, rows, bad = stock_inputs(), {}, 0
    for program in stock.names(args.programs):
        try:
            c = truth_of(program, folder, args.held)
            held = truth_of(program, folder, True) if program.held and not args.held else None
        except harness.Failure as failure:
            print("%s: %s" % (program.name, failure), flush=True)
            bad += 1
            continue
        share = c.alone / max(c.counted + c.alone, 1)
        rows[program.name] = [version(program.package or program.name), "{:,}".format(c.blocks + c.branches), "{:,}".format(c.ran), str(len(c.differ)),
                              str(len(held.differ)) if held else "", str(len((held or c).flown)), str(len(c.chance)), str(c.throws) if program.throws else "", "%.3f%%" % (100 * share)]
        print(program.name, dict(zip(TRUTH[1:], rows[program.name])), flush=True)
        if args.verbose:
            for title, some in (("differ", c.differ), ("differ, held", held.differ if held else []), ("in flight", (held or c).flown),
                                ("by chance", [] if held else c.chance)):
                for d in some:
                    print("   %s: %s" % (title, d))
        bad += bool((held or c).differ) or share > LIMITS["alone"]
    if args.into:
        marks.write(args.into, "exe-truth", TRUTH, rows, marks.stamp(), None, [p.name for p in stock.PROGRAMS], right=True)
    return bad


# ---- price ----

PRICE = ["program", "instructions, plain", "extra", "with `--no-exits`"]
LEAST = 50_000_000


class Pair:
    """A program and its libraries, plain and rewritten, in two folders. Both are called alike."""

    def __init__(self, b, program, libraries, *options, folders=("plain", "rewritten", "other")):
        """options: of footpath exe, for the last of the folders, which is made if there are some."""
        self.b, self.name = b, os.path.basename(program)
        self.libraries = bool(libraries)
        files = [(program, self.name)] + [(path, os.path.join("lib", name)) for name, path in libraries.items()]
        for which in folders:
            os.makedirs(b.path(which, "lib"))
            done = [self.put(path, b.path(which, place), which, options if which == folders[-1] else ())
                    for path, place in files if which != "other" or options]
            if which == "rewritten":
                self.code = sum(one["bytes_of_new_code"] for one in done) / sum(one["bytes_counted"] for one in done)

    def put(self, path, place, which, options):
        if which == "plain":
            return shutil.copy(path, place)
        return json.loads(self.b.tool("exe", path, "-o", place, "--json", *options, silent=True).stdout)

    def program(self, which):
        return self.b.path(which, self.name)

    def env(self, which, more):
        env = dict(more, FOOTPATH_OUT=self.b.path("run.prof"), PATH=stock.PATH, LC_ALL="C", TZ="UTC", HOME=self.b.folder)
        if self.libraries:
            env["LD_LIBRARY_PATH"] = self.b.path(which, "lib")
        return env


def text_of(path):
    """Bytes of code."""
    done = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True)
    return sum(int(m.group(1), 16) for m in re.finditer(r"PROGBITS\s+\w+ \w+ (\w+) \w+ +AX", done.stdout))


def cachegrind(command, env, stdin, folder):
    """Instructions of the whole process, and those of its children that fork without exec."""
    log = os.path.join(folder, "cachegrind.log")
    with open(stdin, "rb") as given, open(os.path.join(folder, "output"), "wb") as out:  # grep looks no further with /dev/null
        subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--log-file=" + log, *command],
                       env=env, stdin=given, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
    with open(log, errors="replace") as f:
        found = re.search(r"I\s+refs:\s+([\d,]+)", f.read())
    if not found:
        raise harness.Failure("cachegrind counted nothing: %s" % " ".join(command))
    return int(found.group(1).replace(",", ""))


def price_of(program, folder):
    """Instructions of the large run: plain, rewritten, and without paths in flight."""
    with Bench(program.name) as b:
        pair = Pair(b, program.program(), stock.libraries(program), "--no-exits")
        return [cachegrind([pair.program(which)] + program.words("large", folder), pair.env(which, program.env),
                           program.stdin("large", folder), b.folder) for which in ("plain", "rewritten", "other")]


def price(args):
    folder, rows, bad = stock_inputs(), {}, 0
    for program in stock.names(args.programs):
        plain, counting, without = price_of(program, folder)
        rows[program.name] = ["{:,}".format(plain), percent(counting / plain - 1), percent(without / plain - 1)]
        print(program.name, *rows[program.name], "TOO SHORT" if plain < LEAST else "", flush=True)
        bad += plain < LEAST
    mean = measure.geomean([float(row[1].rstrip("%")) / 100 for row in rows.values()])
    print("geomean of %d: %s" % (len(rows), percent(mean)))
    if args.into:
        marks.write(args.into, "exe-price", PRICE, rows, marks.stamp(), marks.geomean, [p.name for p in stock.PROGRAMS], right=True)
    return bad or mean > LIMITS["price"]


# ---- copies ----

COPIES = ["program", "no copies", "copies", "guide, no copies", "guide and copies", "code: no copies", "code: copies",
          "code: guide and copies"]
WAYS = (["--copies=0"], [], ["--copies=0", "--guide"], ["--guide"])


def first_profile(b, program, folder):
    """Of the small run: the guide of the large one."""
    pair = Pair(b, program.program(), stock.libraries(program), folders=("plain", "rewritten"))
    env = dict(pair.env("rewritten", program.env), FOOTPATH_OUT=b.path("first.prof"))
    cpu_time([pair.program("rewritten")] + program.words("small", folder), env, program.stdin("small", folder), b.folder)
    return b.path("first.prof")


def copies_of(program, folder):
    """Instructions of the large run, plain and in each way; bytes of new code for each byte of old code."""
    refs, code = [], []
    with Bench(program.name) as b:
        guide = first_profile(b, program, folder)
        for i, way in enumerate(WAYS):
            shutil.rmtree(b.path("rewritten"))
            options = [guide_option(word, guide) for word in way]
            pair = Pair(b, program.program(), stock.libraries(program), *options, folders=("rewritten",))
            for which in ("plain", "rewritten") if not i else ("rewritten",):
                refs.append(cachegrind([pair.program(which)] + program.words("large", folder), pair.env(which, program.env),
                                       program.stdin("large", folder), b.folder))
            code.append(pair.code)
    return refs, code


def guide_option(word, guide):
    return "--guide=" + guide if word == "--guide" else word


def copies(args):
    folder, rows = stock_inputs(), {}
    for program in stock.names(args.programs):
        (plain, *counting), code = copies_of(program, folder)
        rows[program.name] = [percent(refs / plain - 1) for refs in counting] + [percent(code[i] - 1, 0) for i in (0, 1, 3)]
        print(program.name, *rows[program.name], flush=True)
    if args.into:
        marks.write(args.into, "exe-copies", COPIES, rows, marks.stamp(), marks.geomean, [p.name for p in stock.PROGRAMS], right=True)
    return 0


# ---- CPU time ----

TIME = ["program", "plain", "rewritten", "qemu-user", "valgrind --tool=none"]
ROUNDS = 5


def cpu_time(command, env, stdin, folder):
    with open(stdin, "rb") as given, open(os.path.join(folder, "output"), "wb") as out:
        child = subprocess.Popen(command, env=env, stdin=given, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    return used.ru_utime + used.ru_stime


def time_of(program, folder):
    """Least CPU time of each form, in turns."""
    with Bench(program.name) as b:
        pair = Pair(b, program.program(), stock.libraries(program))
        forms = [("plain", []), ("rewritten", []), ("plain", ["qemu-x86_64"]), ("plain", ["valgrind", "-q", "--tool=none"])]
        least = [float("inf")] * len(forms)
        for _ in range(ROUNDS):
            for i, (which, before) in enumerate(forms):
                command = before + [pair.program(which)] + program.words("large", folder)
                least[i] = min(least[i], cpu_time(command, pair.env(which, program.env), program.stdin("large", folder), b.folder))
        return least


def times(args):
    folder, rows = stock_inputs(), {}
    for program in stock.names(args.programs):
        least = time_of(program, folder)
        rows[program.name] = ["%.2f s" % least[0]] + [percent(t / max(least[0], 0.001) - 1, 0) for t in least[1:]]
        print(program.name, *rows[program.name], flush=True)
    if args.into:
        marks.write(args.into, "exe-time", TIME, rows, marks.stamp(), marks.geomean, [p.name for p in stock.PROGRAMS], right=True)
    return 0


# ---- rewriting ----

REWRITING = ["program", "code", "seconds", "seconds per MB", "functions counted", "left alone"]


def rewriting(args):
    """The least of three times, each program with its libraries."""
    rows, bad = {}, 0
    for program in stock.names(args.programs):
        for path in [program.program()] + list(stock.libraries(program).values()):
            with Bench("rewriting") as b:
                least = min(timed(b, path) for _ in range(3))
                said = b.tool("exe", path, "-o", b.path("out")).stdout + b.tool("info", b.path("out"), status=None).stdout
            found = re.search(r"functions +([\d,]+): ([\d,]+) with path counters.* ([\d,]+) left out", said)
            megabytes = text_of(path) / 1e6
            rows[os.path.basename(path)] = ["%.2f MB" % megabytes, "%.2f" % least, "%.2f" % (least / megabytes)] + (
                [found.group(2), found.group(3)] if found else ["", ""])
            print(os.path.basename(path), *rows[os.path.basename(path)], flush=True)
            bad += least / megabytes > LIMITS["seconds per MB"] and least > 1
    if args.into:
        marks.write(args.into, "exe-rewriting", REWRITING, rows, marks.stamp(), right=True)
    return bad


def timed(b, path):
    """CPU time of footpath exe."""
    command = [b.bin("footpath"), "exe", path, "-o", b.path("out")]
    return cpu_time(command, dict(os.environ), os.devnull, b.folder)


# ---- beside BOLT ----

BOLT = ["program", "instructions, plain", "footpath exe", "BOLT -instrument", "quotient", "footpath-cc"]
BOLT_PROGRAMS = "bzip2,minigzip,mawk,lua,sqlite,zstd"
BOLT_COUNTS_NOT = ("mawk",)  # of its hottest function BOLT counts nothing: the two do not compare
measure.VARIANTS["relocs"] = measure.gcc("-Wl,--emit-relocs", "-fno-reorder-blocks-and-partition")


def instrument(b, exe):
    """A copy by BOLT that counts edges and calls, as it does when nothing else is asked for."""
    b.run("/usr/lib/llvm-%s/bin/llvm-bolt" % Args.llvm, exe, "-instrument", "-instrumentation-file=" + b.path("bolt.fdata"), "-o", b.path("bolted"))
    return b.path("bolted")


def corpus_instructions(b, program, variant, exe):
    line = measure.run_command(program, variant, "small", exe)
    log = b.path("corpus.log")
    tool = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s %s" % (log, exe)
    b.run("sh", "-c", line.replace(exe, tool, 1), env={"FOOTPATH_OUT": b.path("run.prof")}, status=None)
    found = re.search(r"I\s+refs:\s+([\d,]+)", b.read("corpus.log").decode())
    if not found:
        raise harness.Failure("cachegrind counted nothing: " + line)
    return int(found.group(1).replace(",", ""))


def bolt(args):
    rows, bad = {}, 0
    chosen = corpus.names(args.programs or BOLT_PROGRAMS)
    corpus.fetch(chosen)
    for program in chosen:
        with Bench(program.name) as b:
            exe = measure.build(program, "relocs")[0]
            b.tool("exe", exe, "-o", b.path("rewritten"), silent=True)
            try:
                bolted = instrument(b, exe)
            except harness.Failure as failure:
                print("%s: BOLT: %s" % (program.name, str(failure).strip().splitlines()[-1]), flush=True)
                continue
            plain, ours, theirs = [corpus_instructions(b, program, "relocs", each) for each in (exe, b.path("rewritten"), bolted)]
            compiled = [corpus_instructions(b, program, v, measure.build(program, v)[0]) for v in ("clang", "path")]
        quotient = (ours - plain) / (theirs - plain)
        rows[program.name] = ["{:,}".format(plain), percent(ours / plain - 1), percent(theirs / plain - 1), "%.2f" % quotient,
                              percent(compiled[1] / compiled[0] - 1)]
        print(program.name, *rows[program.name], flush=True)
        bad += quotient > LIMITS["bolt"] and program.name not in BOLT_COUNTS_NOT
    if args.into:
        marks.write(args.into, "exe-bolt", BOLT, rows, marks.stamp(), marks.geomean, [p.name for p in corpus.PROGRAMS], right=True)
    return bad


# ---- behaviour ----

BEHAVIOUR = ["", "programs", "alike", "by chance", "not alike", "refused", "traps"]


def behaviour(args):
    count = {"alike": 0, "by chance": 0, "not alike": 0, "refused": 0, "traps": 0}
    chosen = programs.choose(args.count)
    for program in chosen:
        with Bench("behaviour") as b:
            trial = programs.Trial(b, program).run()
        how = "refused" if trial.refused else "not alike" if trial.differ else "by chance" if trial.chance else "alike"
        count[how] += 1
        count["traps"] += bool(trial.caught)
        for line in trial.differ + trial.caught + ([program + ": " + trial.refused] if trial.refused else []):
            print(line[:1000], flush=True)
        if trial.chance:
            print("%s: not the same in two runs of its own: %s" % (program, ", ".join(trial.chance)), flush=True)
    print("%d programs: %s" % (len(chosen), ", ".join("%d %s" % (n, how) for how, n in count.items())))
    rows = {"`--version` and `--help`": [str(len(chosen))] + [str(n) for n in count.values()]}
    if args.into:
        marks.write(args.into, "exe-behaviour", BEHAVIOUR, rows, marks.stamp(), right=True)
    return count["not alike"] + count["traps"] + count["refused"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["truth", "price", "copies", "times", "bolt", "rewriting", "behaviour"])
    parser.add_argument("--programs", help="of stock.py; of bolt: of corpus.py")
    parser.add_argument("--into", help="the document with the tables")
    parser.add_argument("--held", action="store_true", help="truth: hold time, heap and mappings for all programs")
    parser.add_argument("--count", type=int, default=200, help="behaviour: how many programs")
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    args = parser.parse_args()
    if os.environ.get("BENCH") and not args.programs:
        known = {p.name for p in (corpus.PROGRAMS if args.what == "bolt" else stock.PROGRAMS)}
        args.programs = ",".join(name for name in os.environ["BENCH"].split(",") if name in known)
        if not args.programs:
            return 0
    return 1 if globals()[args.what](args) else 0


if __name__ == "__main__":
    sys.exit(main())
