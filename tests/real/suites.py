#!/usr/bin/env python3
"""The test suites of real programs: the same results with footpath-cc as with clang.

    suites.py --bin BUILD/bin [--suites m4,gawk,xz] [--mode "--fp-mode=path --fp-exits"] [--llvm 19] [--keep]
    suites.py --bin BUILD/bin --use [--eager] [--suites xz]

Each program is built twice, in fresh copies of its Debian source, and its own tests are
run with both. What they say, test by test, must be the same; the profile that the tests
of a check build leave must verify. With --use the program is counted while its tests run
and built a third time by that profile (--fp-use), with --eager copying wherever it is
possible; the tests must say the same once more.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import corpus  # noqa: E402

# package, how to build, how to run the tests, which lines of their output are results
AM = "ACLOCAL=true AUTOCONF=true AUTOMAKE=true AUTOHEADER=true MAKEINFO=true HELP2MAN=true"
SUITES = {
    "m4": ("m4", "./configure --quiet --disable-nls >/dev/null && make -s -j2 %s >/dev/null" % AM,
           "make -C checks check %s" % AM, r"^Checking .*|^Failed .*|^Skipped .*|^All checks .*|^\./\S+\s*$"),
    "gawk": ("gawk", "./configure --quiet --disable-nls --disable-mpfr --without-readline --disable-extensions >/dev/null "
             "&& make -s -j2 %s SUBDIRS='support .' >/dev/null" % AM,
             "make -k -C test %s diffout basic unix-tests gawk-extra" % AM, r"^\w+$|^============.*|^\*+ .*"),
    "xz": ("xz-utils", "./configure --quiet --disable-shared --disable-nls --disable-doc >/dev/null && make -s -j2 %s >/dev/null"
           % AM, "make check %s" % AM, r"^(PASS|FAIL|SKIP|XFAIL|ERROR): .*|^# .*"),
}


def build_and_test(args, name, kind, flags):
    package, build, test, lines = SUITES[name]
    folder = os.path.join(ROOT, ".cache", "suites", kind)
    copy = os.path.join(folder, name)
    shutil.rmtree(copy, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    shutil.copytree(os.path.join(corpus.CACHE, package), copy, symlinks=True)
    for old in glob.glob(os.path.join(folder, name + ".prof*")):
        os.unlink(old)
    cc = os.path.join(args.bin, "footpath-cc") if flags else "clang-" + args.llvm
    env = dict(os.environ, CC=cc, CFLAGS="-O2 -w", LC_ALL="C", FOOTPATH_OUT=os.path.join(folder, name + ".building.prof"))
    if flags:
        env["FOOTPATH_CC_FLAGS"] = "%s --fp-llvm=%s" % (flags, args.llvm)
    done = subprocess.run(["sh", "-ec", build], cwd=copy, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    with open(os.path.join(folder, name + ".build.log"), "w") as out:
        out.write(done.stdout)
    if done.returncode:
        raise SystemExit("%s does not build with %s:\n%s" % (name, cc, done.stdout[-2000:]))
    profile = os.path.join(folder, name + ".prof")
    # the programs that only test are builds of their own
    env["FOOTPATH_OUT"] = os.path.join(folder, "%b.prof") if args.use else profile
    done = subprocess.run(["sh", "-c", test], cwd=copy, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(os.path.join(folder, name + ".log"), "w") as out:
        out.write(done.stdout)
    if not flags and not args.keep: # ours is needed for its map
        shutil.rmtree(copy, ignore_errors=True)
    return done.returncode, re.findall("(?m)" + lines.replace("(PASS", "(?:PASS"), done.stdout), profile


COUNT = "--fp-at=early --fp-inline=small --fp-cuts=few --fp-values"


def use(args, name):
    """Trained on the suite and built by that: the same results?"""
    start = time.time()
    plain = build_and_test(args, name, "plain", None)
    counted = build_and_test(args, name, "counted", COUNT)
    how = "--fp-use=%s --fp-remarks%s" % (counted[2], " --fp-eager-copies" if args.eager else "")
    used = build_and_test(args, name, "used", how)
    with open(os.path.join(ROOT, ".cache", "suites", "used", name + ".build.log")) as f:
        log = f.read()
    sums = [sum(map(int, column)) for column in zip(*re.findall(r"(\d+) functions by the profile, (\d+) stale, (\d+) not in it; (\d+) copies", log))]
    same = plain[:2] == counted[:2] == used[:2] and len(plain[1]) > 10 and bool(sums) and sums[0] > 0
    print("%s: %d lines of results, status %d; counted %s, built by the profile %s; %s (%d s)" % (
        name, len(plain[1]), plain[0], "the same" if plain[:2] == counted[:2] else "DIFFERENT",
        "the same" if plain[:2] == used[:2] else "DIFFERENT, status %d" % used[0],
        "%d functions by the profile, %d stale, %d not in it, %d copies" % tuple(sums) if sums else "NO PROFILE USED",
        time.time() - start), flush=True)
    for line in sorted(set(plain[1]) ^ set(used[1]))[:20]:
        print("   %s %s" % ("plain:" if line in plain[1] else "ours: ", line))
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--mode", default="--fp-mode=check")
    parser.add_argument("--suites", default="m4,gawk,xz")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--use", action="store_true", help="count, and build by the profile")
    parser.add_argument("--eager", action="store_true", help="with --use: copy wherever it is possible")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    names, failed = args.suites.split(","), 0
    subprocess.run([os.path.join(ROOT, "bench", "fetch"), corpus.CACHE] + [SUITES[n][0] for n in names], check=True)
    for name in names:
        if args.use:
            failed += not use(args, name)
            continue
        start = time.time()
        plain = build_and_test(args, name, "plain", None)
        ours = build_and_test(args, name, "footpath", args.mode)
        same = plain[:2] == ours[:2] and len(plain[1]) > 10
        verified = "not in check mode"
        if "check" in args.mode:
            done = subprocess.run([os.path.join(args.bin, "footpath"), "verify", ours[2]], capture_output=True, text=True)
            verified = (done.stdout.strip().splitlines() or [done.stderr.strip()])[-1]
            same = same and not done.returncode
        failed += not same
        print("%s: %d lines of results, status %d; with footpath-cc %s; verify: %s (%d s)" % (
            name, len(plain[1]), plain[0], "the same" if plain[:2] == ours[:2] else "DIFFERENT, status %d" % ours[0],
            verified, time.time() - start), flush=True)
        for line in sorted(set(plain[1]) ^ set(ours[1]))[:20]:
            print("   %s %s" % ("plain:" if line in plain[1] else "ours: ", line))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
