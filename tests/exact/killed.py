#!/usr/bin/env python3
"""A run killed in the middle of writing leaves the earlier profile readable and whole.

    killed.py --bin BUILD/bin [--llvm 19] [--count 30] [--seed 1]

Three runs are written. Then, over and over: a program that writes its profile without
a pause is killed by SIGKILL at a random moment; the three runs must be there, with the
killed one's last whole profile or without it, and the next run must find its place.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 262144


def runs_of(args, profile):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "info", "--json", profile], capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise SystemExit("footpath info: %d %s" % (done.returncode, done.stderr))
    return sum(module["runs"] for module in json.loads(done.stdout)["modules"])


def calls_of(args, profile):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "show", "--functions", "--function", "ways", profile],
                          capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise SystemExit("footpath show: %d %s" % (done.returncode, done.stderr))
    return int(done.stdout.strip().splitlines()[-1].split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = tempfile.mkdtemp(prefix="footpath-killed-")
    exe, kept, profile = (os.path.join(folder, name) for name in ("killed", "kept.prof", "out.prof"))
    subprocess.run([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-array-paths=1000000", "-O1",
                    os.path.join(HERE, "killed.c"), "-o", exe], check=True)
    for _ in range(3):
        subprocess.run([exe, "once"], env=dict(os.environ, FOOTPATH_OUT=kept), check=True)
    rng, torn, with_it = random.Random(args.seed), 0, 0
    for number in range(args.count):
        shutil.copy(kept, profile)
        size = os.path.getsize(kept)
        program = subprocess.Popen([exe], env=dict(os.environ, FOOTPATH_OUT=profile))
        # when it has begun to write: at once, or any moment of the next few profiles
        while os.path.getsize(profile) == size and program.poll() is None:
            pass
        if number % 2:
            time.sleep(rng.random() * 0.02)
        program.kill()
        if program.wait() != -9:
            raise SystemExit("the program ended by itself: %d" % program.returncode)
        runs = runs_of(args, profile)
        if runs not in (3, 4):
            raise SystemExit("kill %d: %d runs, expected 3 or 4" % (number, runs))
        with open(profile, "rb") as f:
            data = f.read(48)
        committed = max((int.from_bytes(data[at + 8:at + 12], "little"), int.from_bytes(data[at:at + 8], "little"))
                        for at in (16, 32))[1]
        torn += committed != os.path.getsize(profile)
        with_it += runs == 4
        if number % 10 == 0:
            subprocess.run([exe, "once"], env=dict(os.environ, FOOTPATH_OUT=profile), check=True)
            if calls_of(args, profile) != (runs + 1) * CALLS:
                raise SystemExit("kill %d: %d calls, expected %d" % (number, calls_of(args, profile), (runs + 1) * CALLS))
    shutil.rmtree(folder)
    print("killed %d times, %d in the middle of a record: the earlier runs always whole, the killed one's last profile %d times"
          % (args.count, torn, with_it))
    return 0


if __name__ == "__main__":
    sys.exit(main())
