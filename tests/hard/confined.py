#!/usr/bin/env python3
"""Programs that confine themselves by seccomp end as they do without footpath.

    confined.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Each is built plainly and with footpath-cc: status and output must be the same, and the calls up to the
filter must be in the profile; all of them where the filter was refused, or FOOTPATH_SECCOMP=allow says
that it lets us write.
"""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
#        how it confines itself, variables, end by a signal, calls in the profile
CASES = {"prctl": ("prctl", {}, False, 1000), "syscall": ("syscall", {}, False, 1000), "strict": ("strict", {}, False, 1000),
         "prctl_and_signal": ("prctl", {}, True, 1000), "refused": ("refused", {}, False, 1500),
         "refused_and_signal": ("refused", {}, True, 1500), "allow": ("allow", {}, False, 1000),
         "allow_said": ("allow", {"FOOTPATH_SECCOMP": "allow"}, False, 1500),
         "syscall_and_dumps": ("syscall", {"FOOTPATH_DUMP_SECONDS": "0.01"}, False, 1000)}


def run(exe, how, variables, profile, by_signal):
    words = [exe, how] + (["wait"] if by_signal else [])
    program = subprocess.Popen(words, env=dict(os.environ, FOOTPATH_OUT=profile, **variables), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    said = os.read(program.stdout.fileno(), 5)
    if by_signal:
        program.send_signal(signal.SIGTERM)
    _, err = program.communicate()
    return program.returncode, said, err


def check(b, how, variables, by_signal, calls):
    results, profile = [], b.path("out.prof")
    for mode in ("none", "path"):
        exe = b.path(mode)
        b.cc("--fp-mode=" + mode, "-O1", os.path.join(HERE, "confined.c"), "-o", exe)
        results.append(run(exe, how, variables, profile, by_signal))
    plain, counted = results
    if plain[0] in (9, 10) and plain[0] == counted[0]:
        raise Skipped("the kernel sets no filter")
    equal(counted, plain, "status, output and messages")
    shown = b.json("show", "--json", "--function", "step", profile)
    equal(sum(f["calls"] for f in shown["functions"] if f["name"] == "step"), calls, "calls")


if __name__ == "__main__":
    harness.main(__doc__, cases={name: lambda b, case=case: check(b, *case) for name, case in CASES.items()})
