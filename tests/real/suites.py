#!/usr/bin/env python3
"""The test suites of real programs: the same results with footpath-cc as with clang.

    suites.py --bin BUILD/bin [--suites m4,gawk,xz] [--mode "--fp-mode=path --fp-exits"] [--llvm 19] [--keep]

Each program is built twice, in fresh copies of its Debian source, and its own tests are
run with both. What they say, test by test, must be the same; the profile that the tests
of a check build leave must verify.
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
    if done.returncode:
        raise SystemExit("%s does not build with %s:\n%s" % (name, cc, done.stdout[-2000:]))
    profile = os.path.join(folder, name + ".prof")
    env["FOOTPATH_OUT"] = profile
    done = subprocess.run(["sh", "-c", test], cwd=copy, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(os.path.join(folder, name + ".log"), "w") as out:
        out.write(done.stdout)
    if not flags and not args.keep: # ours is needed for its map
        shutil.rmtree(copy, ignore_errors=True)
    return done.returncode, re.findall("(?m)" + lines.replace("(PASS", "(?:PASS"), done.stdout), profile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--mode", default="--fp-mode=check")
    parser.add_argument("--suites", default="m4,gawk,xz")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    names, failed = args.suites.split(","), 0
    subprocess.run([os.path.join(ROOT, "bench", "fetch"), corpus.CACHE] + [SUITES[n][0] for n in names], check=True)
    for name in names:
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
