#!/usr/bin/env python3
"""Are the counts of real programs exact?

    run.py --bin BUILD/bin [--short] [--programs bzip2,lua] [--llvm 19] [--keep]

For every program of bench/corpus.py, built by its own build system:
  plain   clang alone
  check   --fp-mode=check                  same output; one run proves itself
  paths   --fp-mode=path --fp-exits        the edges that these paths imply are
  edges   --fp-mode=edge --fp-exits        the ones counted here,
  chord   --fp-mode=edge-min --fp-exits    and here
  plan0   --fp-mode=path                   the same without --fp-exits: only then do
  edge0   --fp-mode=edge                   loops count their laps where they are left
The short run leaves `edges` out. Every build gives the plain one's output and status.
Exit status 1 if anything differs. Runs are compared across builds under fixed_heap.c, so that data ordered by
address is ordered alike; where that is not enough, corpus.py says so and why, and
the line of that program repeats it.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]
import corpus  # noqa: E402
import harness  # noqa: E402
import inputs  # noqa: E402

# names of one length: a longer path is another stack and other addresses
BUILDS = {
    "plain": None,
    "check": "--fp-mode=check",
    "paths": "--fp-mode=path --fp-exits",
    "edges": "--fp-mode=edge --fp-exits",
    "chord": "--fp-mode=edge-min --fp-exits",
    "plan0": "--fp-mode=path",
    "edge0": "--fp-mode=edge",
}


class Difference(Exception):
    pass


class Check:
    def __init__(self, args, program, data):
        self.args, self.program, self.data = args, program, data

    def folder(self, build):
        return os.path.join(self.args.work, build)

    def build(self, name):
        flags = BUILDS[name]
        cc, cxx, env = "clang-" + self.args.llvm, "clang++-" + self.args.llvm, {}
        if flags:
            cc, cxx = (os.path.join(self.args.bin, "footpath-" + end) for end in ("cc", "c++"))
            env = {"FOOTPATH_CC_FLAGS": "%s --fp-llvm=%s" % (flags, self.args.llvm)}
        os.makedirs(self.folder(name), exist_ok=True)
        cflags = self.args.opt
        if name not in ("plain", "check"):
            cflags += " " + self.program.compare_flags
        return corpus.build(self.program, self.folder(name), cc, cxx, cflags, env)

    def run(self, name, exe, which, heap=None):
        """Status, output and where the profile is."""
        folder = self.folder(name)
        where = os.path.join(folder, self.program.name + ".run")
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        profile = os.path.join(where, "out.prof")
        line = corpus.command(self.program, which, exe, self.data, os.path.join(folder, self.program.name))
        env = {"PATH": os.environ["PATH"], "HOME": where, "LC_ALL": "C", "FOOTPATH_OUT": profile}
        if heap:
            env["LD_PRELOAD"] = heap
        done = subprocess.run(["setarch", "-R", "sh", "-c", line], cwd=where, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        output = done.stdout.replace(folder.encode(), b"BUILD")
        if self.program.noise:
            output = re.sub(self.program.noise.encode() + b".*", b"", output, flags=re.M)
        return done.returncode, output, profile

    def same(self, name, exe, which, wanted, heap=None):
        got = self.run(name, exe, which, heap)
        if got[0] != wanted[0]:
            raise Difference("%s ends with %d, plain with %d" % (name, got[0], wanted[0]))
        if got[1] != wanted[1]:
            raise Difference("%s gives other output than plain" % name)
        return got[2]

    def verify(self, *profiles):
        done = subprocess.run([os.path.join(self.args.bin, "footpath"), "verify", *profiles], capture_output=True, text=True)
        if done.returncode or "identical" not in done.stdout or "counterpart" in done.stdout:
            names = " and ".join(os.path.relpath(p, self.args.work).split("/")[0] for p in profiles)
            raise Difference("verify %s: %s%s" % (names, done.stdout[-1500:], done.stderr[-500:]))
        return done.stdout.strip()

    def json(self, *words):
        done = subprocess.run([os.path.join(self.args.bin, "footpath"), *words, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)

    def verify_without_exits(self, profiles):
        """Frames that never return lose their path: the build with --fp-exits tells
        which functions they are of, and how many there are."""
        left = collections.Counter()
        for function in self.json("show", profiles["paths"])["functions"]:
            for path in function["paths"]:
                left[function["name"]] += path["count"] if path["ends_at"] == "left" else 0
        result = self.json("verify", profiles["plan0"], profiles["edge0"])
        wrong = [d for d in result["differences"] if abs(d["by_paths"] - d["counted"]) > left[d["function"]]]
        if wrong or result["unmatched"] or len(result["differences"]) != result["different"]:
            raise Difference("verify plan0 and edge0: %d edges differ, %d unmatched, such as %s" %
                             (result["different"], result["unmatched"], wrong[:3]))

    def all(self):
        names = ("plain", "check") if self.args.check_only else [n for n in BUILDS if n != "edges" or not self.args.short]
        exe = {name: self.build(name) for name in names}
        wanted = self.run("plain", exe["plain"], self.args.size)
        if wanted[0] not in self.program.ends or not wanted[1]:
            raise Difference("the plain build ends with %d and %d bytes of output" % (wanted[0], len(wanted[1])))
        result = self.verify(self.same("check", exe["check"], self.args.size, wanted))
        return result if self.args.check_only else result + self.across(exe)

    def across(self, exe):
        if self.program.varies:
            return "; across builds: " + self.program.varies
        which = "compare" if self.program.compare else self.args.size
        wanted = self.run("plain", exe["plain"], which, self.args.heap)
        profiles = {name: self.same(name, exe[name], which, wanted, self.args.heap)
                    for name in exe if name not in ("plain", "check")}
        for edges in ("edges", "chord"):
            if edges in profiles:
                self.verify(profiles["paths"], profiles[edges])
        self.verify_without_exits(profiles)
        return ", across builds too"


def one(args, program, data):
    check, start = Check(args, program, data), time.time()
    try:
        text, ok = check.all(), True
    except (Difference, RuntimeError) as problem:
        text, ok = str(problem), False
    if not args.keep:
        for name in BUILDS:
            shutil.rmtree(os.path.join(check.folder(name), program.name), ignore_errors=True)
    print("%-12s %s%s (%d s)" % (program.name, "" if ok else "FAILED: ", text, time.time() - start), flush=True)
    return ok


def main():
    parser = harness.arguments(__doc__)
    parser.set_defaults(bin=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--opt", default="-O2")
    parser.add_argument("--size", default="small", choices=["small", "large"])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--check-only", action="store_true", help="not across builds")
    parser.add_argument("--programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="leave the builds under .cache/real")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    args.work = os.path.join(ROOT, ".cache", "real", args.llvm + args.opt)
    os.makedirs(args.work, exist_ok=True)
    args.heap = os.path.join(args.work, "fixed_heap.so")
    subprocess.run(["clang-" + args.llvm, "-O2", "-shared", "-fPIC", "-fno-builtin", "-o", args.heap,
                    os.path.join(ROOT, "tests", "real", "fixed_heap.c")], check=True)
    programs = corpus.names(args.programs, args.short)
    corpus.fetch(programs)
    data = inputs.make(os.path.join(ROOT, ".cache", "inputs"))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda p: one(args, p, data), programs))
    print("%d of %d programs identical" % (sum(results), len(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
