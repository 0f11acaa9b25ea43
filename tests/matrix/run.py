#!/usr/bin/env python3
"""One way of building after the other: the program behaves as clang's own build does.

    run.py --bin BUILD/bin --llvm 19,22 --mode MODE [--everything | --random N [--seed N]]

Of every cell of the table (table.py) the program of tests/programs is built by plain clang
and by footpath-cc, with the same level, debug information, LTO and linker. Both must give
the same output, messages and status or signal in every run that the program's head names.
Counts are verified where the mode allows: those of check builds by themselves, those of path
builds with exits against an edge-min build of the same cell. A cell that fails prints the
commands that repeat it.
"""
import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import table

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "programs")]
import harness  # noqa: E402
import limits  # noqa: E402
from harness import PROGRAMS, Failure  # noqa: E402
from run import directives  # noqa: E402

CPU = 120  # seconds of a run


def build_flags(cell):
    """What both compilers get."""
    flags = [cell["level"], "-w"] + ["-g"] * cell["debug"]
    if cell["lto"] != "none":
        flags.append("-flto=" + cell["lto"])
    flags.append("-fuse-ld=" + cell["linker"])
    kind = {"pie": ["-pie", "-fPIE"], "no-pie": ["-no-pie", "-fno-pie"], "static": ["-static"]}
    return flags + kind[cell["kind"]]


def our_flags(cell):
    mode = cell["mode"]
    flags = ["--fp-mode=" + mode, "--fp-threads=" + cell["threads"], "--fp-at=" + cell["at"], "--fp-cuts=" + cell["cuts"],
             "--fp-metric=" + cell["metric"]] + ["--fp-exits"] * cell["exits"]
    # traps need stand-ins for libc's functions, which a static program has not got
    if mode == "pep" and cell["kind"] == "static":
        flags.append("--fp-pep=flag")
    return flags


class Cell:
    def __init__(self, args, cell):
        self.args, self.cell = args, cell
        self.source = os.path.join(PROGRAMS, cell["program"])
        self.found, self.runs = directives(self.source)
        self.folder = tempfile.mkdtemp(prefix="footpath-matrix-")
        self.commands = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, out, ours):
        plus = "++" if self.source.endswith(".cc") else ""
        llvm = self.cell["llvm"]
        if ours is None:
            compiler = ["/usr/lib/llvm-%s/bin/clang%s" % (llvm, plus), "-idirafter", os.path.join(os.path.dirname(TESTS), "include")]
        else:
            compiler = [os.path.join(self.args.bin, "footpath-c" + (plus or "c")), "--fp-llvm=" + llvm, *ours]
        os.makedirs(self.path(out), exist_ok=True)
        exe = os.path.join(self.path(out), "prog")  # programs may print their name
        flags = " ".join(self.found["cflags"]).split() + build_flags(self.cell)
        # a linker may warn, of static programs that use dlopen for example: so then must clang's own
        self.commands.append(shlex.join(compiler + flags + [self.source, "-o", exe]))
        done = subprocess.run(compiler + flags + [self.source, "-o", exe], capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Failure("does not build: " + done.stderr[-2000:])
        return exe, done.stderr

    def build_silently(self, out, ours, said):
        """Says nothing unless the plain build said something."""
        exe, words = self.build(out, ours)
        # known: gold warns of the runtime's weak dlopen in some static programs, the others do not
        dlopen = self.cell["linker"] == "gold" and self.cell["kind"] == "static" and \
            all("Using 'dlopen' in statically" in line for line in words.splitlines())
        if not said and words and not dlopen:
            raise Failure("says while building: " + words)
        return exe

    def run(self, exe, words, profile):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FOOTPATH")}
        env.update(LC_ALL="C", FOOTPATH_OUT=profile)
        if os.path.exists(profile):
            os.unlink(profile)
        self.commands.append("FOOTPATH_OUT=%s %s" % (profile, shlex.join([exe, *words])))
        done = limits.run([exe, *words], CPU, capture_output=True, env=env, cwd=os.path.dirname(exe))
        return done.returncode, done.stdout, done.stderr

    def same(self, exe, words, wanted, name):
        got = self.run(exe, words, self.path(name + ".prof"))
        if got != wanted:
            raise Failure("clang's build: %d %r %r\nours: %d %r %r" % (wanted + got))

    def verify(self, *names):
        command = [os.path.join(self.args.bin, "footpath"), "verify", *(self.path(n + ".prof") for n in names)]
        self.commands.append(shlex.join(command))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or "identical" not in done.stdout or done.stderr:
            raise Failure("verify: " + (done.stdout + done.stderr)[-2000:])

    def check(self):
        plain, said = self.build("plain", None)
        builds = {"ours": our_flags(self.cell)}
        mode = self.cell["mode"]
        repeats = "deterministic" not in " ".join(self.found["not"])
        exact = self.cell["threads"] != "shared" or "-pthread" not in self.found["cflags"]
        if mode == "path" and self.cell["exits"] and exact and repeats:
            builds["edges"] = our_flags(dict(self.cell, mode="edge-min", metric="count"))
        if mode == "use":
            builds["ours"] = ["--fp-at=early", "--fp-cuts=few"]
        for name, flags in builds.items():
            builds[name] = self.build_silently(name, flags, said)
        for words, _ in self.runs:
            wanted = self.run(plain, words, self.path("plain.prof"))
            for name, exe in builds.items():
                self.same(exe, words, wanted, name)
            if mode == "check" and exact:
                self.verify("ours")
            if "edges" in builds and "daemon" not in words:
                self.verify("ours", "edges")
            if mode == "use" and os.path.exists(self.path("ours.prof")):
                used = self.build_silently("used", ["--fp-use=" + self.path("ours.prof")], said)
                self.same(used, words, wanted, "used")


def one(args, cell):
    """What failed, or None."""
    test = Cell(args, cell)
    try:
        test.check()
        return None
    except (Failure, subprocess.TimeoutExpired) as failure:
        return "%s\n  %s\n%s" % (" ".join("%s=%s" % item for item in sorted(cell.items())), "\n  ".join(test.commands), failure)
    finally:
        if not args.keep:
            shutil.rmtree(test.folder)


def main():
    args = harness.parse(harness.arguments(
        __doc__,
        ("--mode", {"required": True, "choices": table.MODES}),
        ("--everything", {"action": "store_true"}),
        ("--random", {"type": int, "metavar": "N"}),
        ("--seed", {"type": int, "default": 1}),
        ("--jobs", {"type": int, "default": 1}),
        ("--list", {"action": "store_true", "help": "print the cells and run none"}),
        ("--keep", {"action": "store_true", "help": "leave the builds"})))
    os.environ["FOOTPATH_VERIFY_IR"] = "1"
    llvms = args.llvm.split(",")
    if args.random:
        cells = table.some(llvms, args.mode, args.random, args.seed)
    elif args.everything:
        cells = table.everything(llvms, args.mode)
    else:
        cells = [cell for cell in table.sample(llvms) if cell["mode"] == args.mode]
    if args.list:
        for cell in cells:
            print(cell)
        return 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for problem in pool.map(lambda cell: one(args, cell), cells):
            if problem:
                failed += 1
                print(problem + "\n", flush=True)
    print("%s: %d cells, %d failed" % (args.mode, len(cells), failed))
    return 1 if failed or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
