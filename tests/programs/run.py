#!/usr/bin/env python3
"""Builds and runs scenario programs in check mode and verifies them.

    run.py --bin BUILD/bin --llvm 19 [--opt=-O2] [--keep] [--case PROGRAM]...

The comment at the top of a program says how:

    cflags: -pthread          flags for the compiler
    run: ARGS -> STATUS       a run and how it ends: a number, or `signal N`
    paths: FUNCTION N         this many different paths of the function were taken
    calls: FUNCTION N         the function was called this often
    rows: FUNCTION N          `show` has this many rows of it, those of paths that were left included
    lib: FILE                 a shared library to build beside it
    returns: WHY              functions always return: path, edge and edge-min builds without --fp-exits are compared too

Every run must give the output and status of the uninstrumented program, and the
edges that the paths imply must be the edges that were counted: in one check build,
and across a path build and an edge-min build of the same program (both --fp-exits);
paths are counted with and without cycles, and in code with as many copies of blocks as there can be.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import limits  # noqa: E402
from harness import PROGRAMS, ROOT, Failure, Skipped, equal, expect  # noqa: E402


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


class Tester(harness.Bench):
    def build(self, source, found, mode, out):
        plus = source.endswith(".cc")
        if mode:
            compiler = [self.bin("footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + self.args.llvm]
            compiler += mode.split()
        else:
            compiler = ["clang%s-%s" % ("++" if plus else "", self.args.llvm), "-idirafter", os.path.join(ROOT, "include")]
        flags = " ".join(found["cflags"]).split() + [self.args.opt, "-w"]
        libraries = []
        for lib in found["lib"]:
            name = os.path.join(os.path.dirname(out), os.path.splitext(lib)[0] + ".so")
            self.must(compiler + flags + ["-shared", "-fPIC", os.path.join(os.path.dirname(source), lib), "-o", name])
            libraries.append(name)
        self.must(compiler + flags + [source, "-o", out, "-ldl"])
        return out

    def must(self, command):
        done = self.run(*command)
        expect(not done.stderr or "warning" in done.stderr, "%s\n%s" % (" ".join(command), done.stderr))

    def ends(self, exe, args, profile):
        """Status and output of a run."""
        if profile and os.path.exists(profile):
            os.unlink(profile)
        env = dict(os.environ, LC_ALL="C")
        env.pop("FOOTPATH_OUT", None)
        if profile:
            env["FOOTPATH_OUT"] = profile
        # a daemon keeps the output open until it ends
        done = limits.run([exe] + args, 120, capture_output=True, env=env, cwd=os.path.dirname(exe))
        return done.returncode, done.stdout

    def check_run(self, plain, checked, args, expected):
        profile = os.path.join(self.folder, "check.prof")
        wanted = self.ends(plain, args, None)
        equal(wanted[0], expected, "status, uninstrumented")
        got = self.ends(checked, args, profile)
        equal(got, wanted, str(args))
        self.verify(profile)
        return profile

    def check_counts(self, profile, what, lines):
        for line in lines:
            function, count = line.split()
            shown = self.json("show", "--json", "--function", function, profile, status=None)
            got = [f[what] for f in shown["functions"] if f["name"] == function]
            got = sum(len(x) if isinstance(x, list) else x for x in got)
            equal(got, int(count), "%s: %s" % (function, what))

    def scenario(self, source):
        found, runs = directives(source)
        if any(self.args.llvm in reason.split() for reason in found["not"]):
            raise Skipped("not for LLVM %s: %s" % (self.args.llvm, found["not"][0]))
        builds = {}
        for name, mode in (("plain", None), ("check", "--fp-mode=check"), ("paths", "--fp-mode=path --fp-exits"),
                           ("edges", "--fp-mode=edge-min --fp-exits"), ("alone", "--fp-mode=path"),
                           ("cycles", "--fp-mode=path --fp-metric=cycles --fp-exits"), ("each", "--fp-mode=edge"),
                           ("copied-check", "--fp-mode=check --fp-copies=all"),
                           ("copied", "--fp-mode=path --fp-exits --fp-copies=all"),
                           ("chords", "--fp-mode=edge-min"), ("early", "--fp-mode=edge-min --fp-at=early"),
                           ("early-paths", "--fp-mode=path --fp-at=early")):
            if name in ("each", "chords", "early", "early-paths") and not found["returns"]:
                continue
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
            builds[name] = self.build(source, found, mode, os.path.join(self.folder, name, "prog"))
        for args, expected in runs:
            self.check_run(builds["plain"], builds["copied-check"], args, expected)
            profile = self.check_run(builds["plain"], builds["check"], args, expected)
            wanted = self.ends(builds["plain"], args, None)
            # what depends on time or on other threads takes other ways in another run
            if "deterministic" not in " ".join(found["not"]):
                names = ("paths", "cycles", "edges", "copied")
                profiles = [os.path.join(self.folder, n + ".prof") for n in names]
                for name, profile_name in zip(names, profiles):
                    got = self.ends(builds[name], args, profile_name)
                    if got != wanted:
                        raise Failure("%s: %s: got %r, expected %r" % (args, name, got, wanted))
                if "daemon" not in args:
                    self.verify(profiles[0], profiles[2])
                    self.verify(profiles[3], profiles[2])
                    if "cycles" not in " ".join(found["not"]):
                        self.verify(profiles[1], profiles[2])
            alone = os.path.join(self.folder, "alone.prof")
            got = self.ends(builds["alone"], args, alone)
            if got != wanted:
                raise Failure("%s: --fp-mode=path changes the program: %r" % (args, got))
            for paths, edges in (("alone", "each"), ("alone", "chords"), ("early-paths", "early")):
                if not found["returns"]:
                    continue
                profiles = [os.path.join(self.folder, n + ".prof") for n in (paths, edges)]
                for name, profile_name in zip((paths, edges), profiles):
                    equal(self.ends(builds[name], args, profile_name), wanted, "%s: %s" % (args, name))
                self.verify(*profiles)
            self.check_counts(profile, "executed_paths", found["paths"])
            self.check_counts(profile, "calls", found["calls"])
            self.check_counts(profile, "paths", found["rows"])


if __name__ == "__main__":
    os.environ["FOOTPATH_VERIFY_IR"] = "1"
    sources = sorted(glob.glob(os.path.join(PROGRAMS, "*.c")) + glob.glob(os.path.join(PROGRAMS, "*.cc")))
    harness.main(__doc__, ("--opt", {"default": "-O2"}), bench=Tester,
                 cases={os.path.basename(path): lambda t, path=path: t.scenario(path) for path in sources})
