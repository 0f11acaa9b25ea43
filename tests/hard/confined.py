#!/usr/bin/env python3
"""Programs that confine themselves by seccomp end as they do without footpath.

    confined.py --bin BUILD/bin [--llvm 19]

Each is built plainly and with footpath-cc: status and output must be the same, and the calls up to the
filter must be in the profile; all of them where the filter was refused, or FOOTPATH_SECCOMP=allow says
that it lets us write.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
#        how it confines itself, variables, end by a signal, calls in the profile
CASES = [("prctl", {}, False, 1000), ("syscall", {}, False, 1000), ("strict", {}, False, 1000),
         ("prctl", {}, True, 1000), ("refused", {}, False, 1500), ("refused", {}, True, 1500),
         ("allow", {}, False, 1000), ("allow", {"FOOTPATH_SECCOMP": "allow"}, False, 1500),
         ("syscall", {"FOOTPATH_DUMP_SECONDS": "0.01"}, False, 1000)]


def run(exe, how, variables, profile, by_signal):
    words = [exe, how] + (["wait"] if by_signal else [])
    program = subprocess.Popen(words, env=dict(os.environ, FOOTPATH_OUT=profile, **variables), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    said = os.read(program.stdout.fileno(), 5)
    if by_signal:
        program.send_signal(signal.SIGTERM)
    _, err = program.communicate(timeout=120)
    return program.returncode, said, err


def calls_of(args, profile):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "show", "--json", "--function", "step", profile],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    return sum(f["calls"] for f in json.loads(done.stdout)["functions"] if f["name"] == "step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="footpath-confined-")
    failed = 0
    for name, flag in (("plain", "--fp-mode=none"), ("counted", "--fp-mode=path")):
        subprocess.run([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, flag, "-O1",
                        os.path.join(HERE, "confined.c"), "-o", os.path.join(folder, name)], check=True)
    for number, (how, variables, by_signal, calls) in enumerate(CASES):
        profile = os.path.join(folder, "%d.prof" % number)
        plain = run(os.path.join(folder, "plain"), how, variables, profile, by_signal)
        counted = run(os.path.join(folder, "counted"), how, variables, profile, by_signal)
        if plain[0] in (9, 10) and plain[0] == counted[0]:
            print("skipped: the kernel sets no filter")
            return 77
        got = calls_of(args, profile)
        if plain != counted or got != calls:
            failed += 1
            print("%s %s%s: plainly %s, counted %s; %s calls, expected %d"
                  % (how, variables, " and a signal" if by_signal else "", plain, counted, got, calls))
    shutil.rmtree(folder)
    print("%d of %d cases" % (len(CASES) - failed, len(CASES)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
