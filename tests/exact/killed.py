#!/usr/bin/env python3
"""A run killed in the middle of writing leaves the earlier profile readable and whole.

    killed.py --bin BUILD/bin [--llvm 19] [--count 30] [--seed 1]

Three runs are written. Then, over and over: a program that writes its profile without
a pause is killed by SIGKILL at a random moment; the three runs must be there, with the
killed one's last whole profile or without it, and the next run must find its place.
"""
import os
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 262144


def runs_of(b, profile):
    return sum(module["runs"] for module in b.json("info", "--json", profile, silent=True)["modules"])


def calls_of(b, profile):
    shown = b.tool("show", "--functions", "--function", "ways", profile, silent=True).stdout
    return int(shown.strip().splitlines()[-1].split()[1])


def case_killed(b):
    exe, kept, profile = map(b.path, ("killed", "kept.prof", "out.prof"))
    b.cc("--fp-array-paths=1000000", "-O1", os.path.join(HERE, "killed.c"), "-o", exe)
    for _ in range(3):
        b.run(exe, "once", env={"FOOTPATH_OUT": kept})
    rng, torn, with_it = random.Random(b.args.seed), 0, 0
    for number in range(b.args.count):
        shutil.copy(kept, profile)
        size = os.path.getsize(kept)
        program = subprocess.Popen([exe], env=dict(os.environ, FOOTPATH_OUT=profile))
        # when it has begun to write: at once, or any moment of the next few profiles
        while os.path.getsize(profile) == size and program.poll() is None:
            pass
        if number % 2:
            time.sleep(rng.random() * 0.02)
        program.kill()
        equal(program.wait(), -9, "status of the killed program")
        runs = runs_of(b, profile)
        expect(runs in (3, 4), "kill %d: %d runs, expected 3 or 4" % (number, runs))
        with open(profile, "rb") as f:
            data = f.read(48)
        committed = max((int.from_bytes(data[at + 8:at + 12], "little"), int.from_bytes(data[at:at + 8], "little"))
                        for at in (16, 32))[1]
        torn += committed != os.path.getsize(profile)
        with_it += runs == 4
        if number % 10 == 0:
            b.run(exe, "once", env={"FOOTPATH_OUT": profile})
            equal(calls_of(b, profile), (runs + 1) * CALLS, "kill %d: calls" % number)
    print("killed %d times, %d in the middle of a record: the earlier runs always whole, the killed one's last profile %d times"
          % (b.args.count, torn, with_it))


if __name__ == "__main__":
    harness.main(__doc__, ("--count", {"type": int, "default": 30}), ("--seed", {"type": int, "default": 1}))
