#!/usr/bin/env python3
"""Builds and runs scenario programs in check mode and verifies them.

    run.py --bin BUILD/bin --llvm 19 [--opt=-O2] [--keep] PROGRAM...

The comment at the top of a program says how:

    cflags: -pthread          flags for the compiler
    run: ARGS -> STATUS       a run and how it ends: a number, or `signal N`
    paths: FUNCTION N         this many different paths of the function were taken
    calls: FUNCTION N         the function was called this often
    rows: FUNCTION N          `show` has this many rows of it, those of paths that were left included
    lib: FILE                 a shared library to build beside it
    returns: WHY              functions always return: path and edge builds without --fp-exits are compared too

Every run must give the output and status of the uninstrumented program, and the
edges that the paths imply must be the edges that were counted: in one check build,
and across a path build and an edge-min build of the same program (both --fp-exits);
paths are counted with and without cycles.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import limits  # noqa: E402


SKIPPED = 77  # what ctest takes for skipped


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def directives(path):
    with open(path) as f:
        head = f.read().split("*/", 1)[0]
    found = {"cflags": [], "run": [], "paths": [], "calls": [], "rows": [], "lib": [], "not": [], "returns": []}
    for name, value in re.findall(r"^[ /*]*(cflags|run|paths|calls|rows|lib|not|returns):(.*)$", head, re.M):
        found[name].append(value.strip())
    runs = []
    for line in found["run"] or ["-> 0"]:
        args, _, status = line.rpartition("->")
        status = status.strip()
        expected = -int(status.split()[1]) if status.startswith("signal") else int(status)
        runs.append((args.split(), expected))
    return found, runs


class Tester:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.passed = 0

    def tool(self, *words):
        return subprocess.run([os.path.join(self.args.bin, "footpath"), *words], capture_output=True, text=True)

    def build(self, source, found, mode, out):
        plus = source.endswith(".cc")
        if mode:
            compiler = [os.path.join(self.args.bin, "footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + self.args.llvm]
            compiler += mode.split()
        else:
            compiler = ["clang%s-%s" % ("++" if plus else "", self.args.llvm), "-idirafter", INCLUDE]
        flags = " ".join(found["cflags"]).split() + [self.args.opt, "-w"]
        libraries = []
        for lib in found["lib"]:
            name = os.path.join(os.path.dirname(out), os.path.splitext(lib)[0] + ".so")
            self.must(compiler + flags + ["-shared", "-fPIC", os.path.join(os.path.dirname(source), lib), "-o", name])
            libraries.append(name)
        self.must(compiler + flags + [source, "-o", out, "-ldl"])
        return out

    def must(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or (done.stderr and "warning" not in done.stderr):
            raise Failure("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))

    def run(self, exe, args, profile):
        if profile and os.path.exists(profile):
            os.unlink(profile)
        env = dict(os.environ, LC_ALL="C")
        env.pop("FOOTPATH_OUT", None)
        if profile:
            env["FOOTPATH_OUT"] = profile
        # a daemon keeps the output open until it ends
        done = limits.run([exe] + args, 120, capture_output=True, env=env, cwd=os.path.dirname(exe))
        return done.returncode, done.stdout

    def verify(self, *profiles):
        done = self.tool("verify", *profiles)
        if done.returncode or "identical" not in done.stdout:
            raise Failure("verify %s: %s%s" % (" ".join(profiles), done.stdout, done.stderr))

    def check_run(self, plain, checked, args, expected):
        profile = os.path.join(self.folder, "check.prof")
        wanted = self.run(plain, args, None)
        if wanted[0] != expected:
            raise Failure("uninstrumented: status %d, expected %d" % (wanted[0], expected))
        got = self.run(checked, args, profile)
        if got != wanted:
            raise Failure("%s: got %r, expected %r" % (args, got, wanted))
        self.verify(profile)
        return profile

    def check_counts(self, profile, what, lines):
        for line in lines:
            function, count = line.split()
            shown = json.loads(self.tool("show", "--json", "--function", function, profile).stdout)
            got = [f[what] for f in shown["functions"] if f["name"] == function]
            got = sum(len(x) if isinstance(x, list) else x for x in got)
            if got != int(count):
                raise Failure("%s: %s is %d, expected %s" % (function, what, got, count))

    def scenario(self, source):
        found, runs = directives(source)
        if any(self.args.llvm in reason.split() for reason in found["not"]):
            raise Skipped("not for LLVM %s: %s" % (self.args.llvm, found["not"][0]))
        builds = {}
        for name, mode in (("plain", None), ("check", "--fp-mode=check"), ("paths", "--fp-mode=path --fp-exits"),
                           ("edges", "--fp-mode=edge-min --fp-exits"), ("alone", "--fp-mode=path"),
                           ("cycles", "--fp-mode=path --fp-metric=cycles --fp-exits"), ("each", "--fp-mode=edge")):
            if name == "each" and not found["returns"]:
                continue
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
            builds[name] = self.build(source, found, mode, os.path.join(self.folder, name, "prog"))
        for args, expected in runs:
            profile = self.check_run(builds["plain"], builds["check"], args, expected)
            # what depends on time or on other threads takes other ways in another run
            if "deterministic" not in " ".join(found["not"]):
                names = ("paths", "cycles", "edges")
                profiles = [os.path.join(self.folder, n + ".prof") for n in names]
                wanted = self.run(builds["plain"], args, None)
                for name, profile_name in zip(names, profiles):
                    got = self.run(builds[name], args, profile_name)
                    if got != wanted:
                        raise Failure("%s: %s: got %r, expected %r" % (args, name, got, wanted))
                if "daemon" not in args:
                    self.verify(profiles[0], profiles[2])
                    if "cycles" not in " ".join(found["not"]):
                        self.verify(profiles[1], profiles[2])
            alone, each = (os.path.join(self.folder, n + ".prof") for n in ("alone", "each"))
            got = self.run(builds["alone"], args, alone)
            if got != self.run(builds["plain"], args, None):
                raise Failure("%s: --fp-mode=path changes the program: %r" % (args, got))
            if found["returns"]:
                self.run(builds["each"], args, each)
                self.verify(alone, each)
            self.check_counts(profile, "executed_paths", found["paths"])
            self.check_counts(profile, "calls", found["calls"])
            self.check_counts(profile, "paths", found["rows"])
            self.passed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--opt", default="-O2")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    os.environ["FOOTPATH_VERIFY_IR"] = "1"
    failed = passed = skipped = 0
    for source in args.programs:
        folder = tempfile.mkdtemp(prefix="footpath-")
        tester = Tester(args, folder)
        try:
            tester.scenario(os.path.abspath(source))
        except Skipped as reason:
            print("%s: %s" % (os.path.basename(source), reason))
            skipped += 1
        except (Failure, subprocess.TimeoutExpired) as failure:
            print("%s %s LLVM %s: %s" % (os.path.basename(source), args.opt, args.llvm, failure))
            failed += 1
        passed += tester.passed
        if not args.keep:
            shutil.rmtree(folder)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0 if passed else SKIPPED if skipped else 1


INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "include")

if __name__ == "__main__":
    sys.exit(main())
