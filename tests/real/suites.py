#!/usr/bin/env python3
"""The test suites of real programs: the same results with footpath-cc as with clang.

    suites.py --bin BUILD/bin [--programs redis,cpython,postgresql] [--modes check,path] [--llvm 19] [--keep]
    suites.py --bin BUILD/bin --use [--eager] [--programs xz]
    suites.py --bin BUILD/bin --exe --programs sed,grep,gawk

Each program (recipes.py) is built by clang and by footpath-cc in fresh copies of its Debian
source, and its own tests are run with each. A test that passes with clang must pass with
footpath-cc; what clang itself fails is counted and left out. The profiles of all processes
of a check build must verify. A test that fails with footpath-cc alone is run once more, by
itself, where its suite can do so: one that passes then depends on time, and is printed.
With --use the program is counted while its tests run and built a third time by that profile
(--fp-use), with --eager copying wherever it is possible; the tests must say the same once more.
With --exe the programs that clang built are rewritten by footpath exe before the tests; no unexpected jump may be caught.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]
import corpus  # noqa: E402
import harness  # noqa: E402
from recipes import SUITES  # noqa: E402

# what a build is made with; None: clang alone
MODES = {
    "plain": None,
    "check": "--fp-mode=check --fp-exits",
    "path": "--fp-mode=path",
    "exits": "--fp-mode=path --fp-exits",
    "edge": "--fp-mode=edge",
    "edge-min": "--fp-mode=edge-min",
    "pep": "--fp-mode=pep",
    "counted": "--fp-at=early --fp-inline=small --fp-cuts=few --fp-values",
}
NOBODY = 65534


def said(text):
    """The lines by which the runtime warned."""
    return sorted(set(line for line in text.splitlines() if re.search(r"(^|\s)footpath: ", line)))


class Build:
    """One program, built one way, in a folder of its own."""

    def __init__(self, args, name, kind, flags):
        self.args, self.name, self.suite, self.flags = args, name, SUITES[name], flags
        self.folder = os.path.join(args.work, kind)
        self.copy = os.path.join(self.folder, name)
        self.profiles = os.path.join(self.folder, name + ".prof")
        self.user = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"] \
            if self.suite.user and os.getuid() == 0 else []
        ends = ("footpath-cc", "footpath-c++") if flags else ("clang-" + args.llvm, "clang++-" + args.llvm)
        cc, cxx = (os.path.join(args.bin, end) if flags else end for end in ends)
        self.env = dict(os.environ, CC=cc, CXX=cxx, LC_ALL="C", HOME=self.copy)
        if self.suite.cflags:
            self.env.update(CFLAGS=self.suite.cflags, CXXFLAGS=self.suite.cflags)
        if flags:
            # also where a process runs with an emptied environment
            self.env["FOOTPATH_CC_FLAGS"] = "%s --fp-llvm=%s --fp-out=%s/%%b.prof" % (flags, args.llvm, self.profiles)

    def shell(self, line, log, **more):
        """Status and what was printed, which also goes into a file."""
        with open(os.path.join(self.folder, "%s.%s" % (self.name, log)), "w+", errors="replace") as out:
            done = subprocess.run(self.user + ["sh", "-c", line], cwd=self.copy, env=dict(self.env, **more),
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            out.seek(0)
            return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", out.read())

    def build(self):
        for old in (self.copy, self.profiles, self.profiles + ".building"):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(os.path.join(corpus.CACHE, self.suite.package), self.copy, symlinks=True)
        for folder in (self.profiles, self.profiles + ".building"):
            os.makedirs(folder)
        if self.user:
            subprocess.run(["chown", "-R", "%d:%d" % (NOBODY, NOBODY), self.copy, self.profiles, self.profiles + ".building"], check=True)
        start = time.time()
        status, text = self.shell("set -e; " + self.suite.build, "build.log", FOOTPATH_OUT=self.profiles + ".building/%b.prof")
        self.build_time = time.time() - start
        if status:
            raise SystemExit("%s does not build with %s:\n%s" % (self.name, self.env["CC"], text[-3000:]))

    def rewrite(self):
        """All programs of the copy that clang linked, in place. Gives how many, and why not the others."""
        done, refused = 0, []
        for folder, _, names in os.walk(self.copy):
            for path in (os.path.join(folder, name) for name in names):
                if not is_program(path):
                    continue
                said = subprocess.run([os.path.join(self.args.bin, "footpath"), "exe", path, "-o", path + ".counting"], capture_output=True, text=True)
                if said.returncode:
                    refused.append(said.stderr.strip())
                    continue
                shutil.copystat(path, path + ".counting")
                shutil.chown(path + ".counting", os.stat(path).st_uid, os.stat(path).st_gid)
                os.rename(path + ".counting", path)
                done += 1
        return done, refused

    def caught(self):
        """Unexpected jumps that the profiles tell of."""
        return [line.strip() for profile in sorted(glob.glob(os.path.join(self.profiles, "*"))) for line in subprocess.run(
            [os.path.join(self.args.bin, "footpath"), "info", profile], capture_output=True, text=True).stdout.splitlines() if "caught:" in line]

    def run_tests(self, log, groups=()):
        """Of the groups alone, or all. One file for each program: the runs of all its processes are appended."""
        return self.shell(self.suite.test, log, FOOTPATH_OUT=self.profiles + "/%b.prof", AGAIN=" ".join(groups))

    def test(self):
        start = time.time()
        self.status, text = self.run_tests("log")
        self.time = time.time() - start
        self.results = self.suite.results(self.copy, text)
        self.said = said("\n".join([text] + self.logs()))
        if len(self.results) < self.suite.least:
            raise SystemExit("%s: %d results of tests with %s:\n%s" % (self.name, len(self.results), self.env["CC"], text[-3000:]))

    def logs(self):
        """What the tests' processes said in files."""
        found = [name for pattern in self.suite.logs for name in glob.glob(os.path.join(self.copy, pattern), recursive=True)]
        if self.suite.logs and not found:
            raise SystemExit("%s: its tests left none of %s" % (self.name, ", ".join(self.suite.logs)))
        texts = []
        for name in found:
            with open(name, errors="replace") as f:
                texts.append(f.read())
        return texts

    def test_again(self, tests):
        """Tests that passed once depend on time or on chance: they are not broken by how they were built."""
        _, text = self.run_tests("again.log", sorted(set(map(self.suite.group, tests))))
        again = self.suite.results(self.copy, text)
        return [test for test in tests if again.get(test) == "ok"]

    def verify(self):
        """Sums over all profiles, and what differs."""
        sums = {"processes": 0, "programs": 0, "functions": 0, "edges": 0, "different": 0}
        differences = []
        # a run that waited for a lock too long is beside its profile, and read with that
        for profile in [p for p in sorted(os.listdir(self.profiles)) if not p.endswith(".run")]:
            profile = os.path.join(self.profiles, profile)
            tool = os.path.join(self.args.bin, "footpath")
            done = subprocess.run([tool, "verify", "--json", profile], capture_output=True, text=True)
            info = subprocess.run([tool, "info", "--json", profile], capture_output=True, text=True).stdout
            if not done.stdout:
                differences.append("%s: %s" % (profile, done.stderr.strip()))
                continue
            said = json.loads(done.stdout)
            sums["programs"] += 1
            # a process has one run for each of its modules
            sums["processes"] += len(set((run["host"], run["pid"], run["start_ns"]) for run in json.loads(info)["runs"]))
            for key in ("functions", "edges", "different"):
                sums[key] += said[key]
            differences += ["%s: %s" % (os.path.basename(profile), json.dumps(d)) for d in said["differences"]]
            if done.returncode and not said["differences"]:
                differences.append("%s: %s" % (profile, done.stderr.strip() or done.stdout))
        return sums, differences


def is_program(path):
    """An executable that is linked dynamically."""
    if os.path.islink(path) or not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as f:
        head = f.read(4096)
    return head[:4] == b"\x7fELF" and b"ld-linux" in head


def compare(plain, ours):
    """Tests that clang passes and ours does not, or that are missing."""
    noise = re.compile(plain.suite.noise or "(?!)")
    return sorted(t for t, said in plain.results.items() if said == "ok" and ours.results.get(t) != "ok" and not noise.search(t))


def report(plain, ours, kind):
    worse = compare(plain, ours)
    lucky = ours.test_again(worse) if worse and ours.suite.group else []
    worse = [test for test in worse if test not in lucky]
    passed = [sum(said == "ok" for said in build.results.values()) for build in (plain, ours)]
    print("%s, %s: %d tests, clang passes %d, ours %d; %d that clang passes do not; status %d and %d; "
          "build %d s and %d s, tests %d s and %d s (%.2f)" % (
              plain.name, kind, len(plain.results), passed[0], passed[1], len(worse), plain.status, ours.status,
              plain.build_time, ours.build_time, plain.time, ours.time, ours.time / max(plain.time, 0.1)), flush=True)
    for test in lucky:
        print("   %s: %s, then passed alone" % (test, ours.results.get(test, "did not run")))
    for test in worse[:40]:
        print("   %s: %s" % (test, ours.results.get(test, "did not run")))
    for line in ours.said[:10]:
        print("   said: %s" % line)
    bad = bool(worse) or bool(ours.said) or (not plain.status) != (not ours.status)
    if "check" in kind:
        sums, differences = ours.verify()
        print("   verify: %d processes of %d programs, %d functions, %d edges, %d different" % tuple(sums.values()), flush=True)
        for line in differences[:20]:
            print("   %s" % line)
        bad = bad or bool(differences) or not sums["edges"]
    return bad


def make(args, name, kind, flags):
    build = Build(args, name, kind, flags)
    os.makedirs(build.folder, exist_ok=True)
    memory = os.path.join(build.folder, "%s.%s.json" % (name, args.llvm))
    if args.reuse and os.path.exists(memory):
        with open(memory) as f:
            vars(build).update(json.load(f))
        return build
    build.build()
    build.test()
    with open(memory, "w") as f:
        json.dump({key: getattr(build, key) for key in ("status", "results", "said", "build_time", "time")}, f)
    return build


def use(args, name):
    """Trained on the suite and built by that: the same results?"""
    plain = make(args, name, "plain", None)
    counted = make(args, name, "counted", MODES["counted"])
    failed = report(plain, counted, "counted")
    how = "--fp-use=%s --fp-remarks%s" % (training(args, counted), " --fp-eager-copies" if args.eager else "")
    used = make(args, name, "used", how)
    with open(os.path.join(used.folder, name + ".build.log")) as f:
        log = f.read()
    sums = [sum(map(int, column)) for column in zip(*re.findall(r"(\d+) functions by the profile, (\d+) stale, (\d+) not in it; (\d+) copies", log))]
    failed += report(plain, used, "built by its profile")
    print("   %s" % ("%d functions by the profile, %d stale, %d not in it, %d copies" % tuple(sums) if sums else "NO PROFILE USED"))
    return failed or not sums or not sums[0]


def rewritten(args, name):
    """Built by clang and rewritten: the same results, and no trap?"""
    plain = make(args, name, "plain", None)
    ours = Build(args, name, "exe", None)
    os.makedirs(ours.folder, exist_ok=True)
    ours.build()
    done, refused = ours.rewrite()
    ours.test()
    failed, caught = report(plain, ours, "rewritten"), ours.caught()
    print("   %d programs rewritten, %d not; %d functions with unexpected jumps; profiles of %d programs" % (
        done, len(refused), len(caught), len(os.listdir(ours.profiles))))
    for line in refused[:10] + caught[:10]:
        print("   %s" % line)
    return failed or bool(caught) or not done


def training(args, counted):
    """The profile of the largest program: the ones that only test are builds of their own."""
    return max(glob.glob(os.path.join(counted.profiles, "*")), key=os.path.getsize)


def main():
    parser = harness.arguments(__doc__)
    parser.set_defaults(bin=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--modes", default="check", help="of " + ", ".join(MODES))
    parser.add_argument("--programs", "--suites", default=",".join(SUITES), help="of " + ", ".join(SUITES))
    parser.add_argument("--work", default=os.path.join(ROOT, ".cache", "suites"), help="folder for builds; the user nobody must be able to enter it")
    parser.add_argument("--keep", action="store_true", help="keep the builds")
    parser.add_argument("--reuse", action="store_true", help="builds that were tested before are not made again")
    parser.add_argument("--use", action="store_true", help="count, and build by the profile")
    parser.add_argument("--exe", action="store_true", help="rewrite what clang built")
    parser.add_argument("--eager", action="store_true", help="with --use: copy wherever it is possible")
    args = parser.parse_args()
    # a shell that starts this beside other work has these ignored, and tests would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    args.bin, args.work = os.path.abspath(args.bin), os.path.abspath(args.work)
    names, failed = args.programs.split(","), 0
    subprocess.run([os.path.join(ROOT, "bench", "fetch"), corpus.CACHE] + [SUITES[n].package for n in names], check=True)
    for name in names:
        if args.use or args.exe:
            failed += use(args, name) if args.use else rewritten(args, name)
            continue
        plain = make(args, name, "plain", None)
        for kind in args.modes.split(","):
            ours = make(args, name, kind, MODES[kind])
            failed += report(plain, ours, kind)
            if not args.keep:
                shutil.rmtree(ours.copy, ignore_errors=True)
        if not args.keep:
            shutil.rmtree(plain.copy, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
