#!/usr/bin/env python3
"""Many runs at a time merging themselves into one combined profile.

    concurrent.py --bin BUILD/bin [--llvm 19] [--runs 64] [--repeat 100] [--seed 1]

In every repetition all runs start together; `footpath combine` compacts the profile
under them, over and over; one run in some repetitions is killed at a random moment.
All the others must be there, and every count right.
"""
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def events(b, name):
    data = b.json("show", "--json", name)
    return data["runs"], {(e["function"], e["kind"], e.get("id", 0)): e for e in data["events"]}


class Compactor(threading.Thread):
    def __init__(self, tool, name):
        super().__init__()
        self.tool, self.name, self.stop, self.times, self.problem = tool, name, False, 0, None

    def run(self):
        while not self.stop:
            if os.path.exists(self.name) and os.path.getsize(self.name) > 64:
                done = subprocess.run([self.tool, "combine", "-o", self.name, self.name], capture_output=True, text=True)
                if done.returncode and "no runs" not in done.stderr:
                    self.problem = done.stderr
                self.times += 1
            time.sleep(0.002)


def start(exe, name, rounds, kill_after):
    env = dict(os.environ, FOOTPATH_OUT=name)
    run = subprocess.Popen([exe, str(rounds), "some words and 12 34 !"], env=env, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    if kill_after is not None:
        threading.Timer(kill_after, run.send_signal, [signal.SIGKILL]).start()
    return run


def repetition(b, exe, number, rng):
    args, name = b.args, b.path("%d.cp" % number)
    compactor = Compactor(b.bin("footpath"), name) if number % 2 else None
    if compactor:
        compactor.start()
    rounds = [rng.randrange(1, 30) for _ in range(args.runs)]
    killed = rng.randrange(args.runs) if number % 3 else None
    kill_after = [None] * args.runs
    if killed is not None:
        kill_after[killed] = rng.random() * rng.choice([0.004, 0.02])
    runs = [start(exe, name, *how) for how in zip(rounds, kill_after)]
    for i, run in enumerate(runs):
        _, text = run.communicate()
        if i != killed and (run.returncode or text):
            raise Failure("repetition %d: a run ended with %d: %s" % (number, run.returncode, text.decode()))
    if compactor:
        compactor.stop = True
        compactor.join()
        if compactor.problem:
            raise Failure("repetition %d: combine: %s" % (number, compactor.problem))
    seen, found = events(b, name)
    sure = [r for i, r in enumerate(rounds) if i != killed]
    expected = sure
    if killed is not None and seen == args.runs:
        expected = rounds  # it had written before it was killed
    if seen != len(expected):
        raise Failure("repetition %d: %d runs, expected %d" % (number, seen, len(expected)))
    check(found, expected, number)
    os.unlink(name)
    return seen, compactor.times if compactor else 0


def check(found, rounds, number):
    """one_round is called once a round; a round has 3 words and 2 numbers."""
    for function, each in (("one_round", 1), ("one_word", 3), ("one_number", 2)):
        e = found[function, "calls", 0]
        counts = [each * r for r in rounds]
        got = (e["count"], e["least"], e["most"], e["runs"], e["seen"])
        if got != (sum(counts), min(counts), max(counts), len(rounds), len(rounds)):
            raise Failure("repetition %d: %s is %s, expected %s" % (number, function, got, counts))
        if abs(e["mean"] - sum(counts) / len(counts)) > 1e-6 * e["mean"]:
            raise Failure("repetition %d: %s has the mean %r" % (number, function, e["mean"]))


def case_concurrent(b):
    rng, exe = random.Random(b.args.seed), b.path("example")
    b.cc("-O1", "-g", os.path.join(HERE, "example.c"), "-o", exe)
    total = compactions = lost = 0
    for number in range(b.args.repeat):
        seen, times = repetition(b, exe, number, rng)
        total += seen
        lost += b.args.runs - seen
        compactions += times
    print("%d repetitions: %d runs present, %d killed before they wrote, %d compactions meanwhile"
          % (b.args.repeat, total, lost, compactions))


if __name__ == "__main__":
    harness.main(__doc__, *((name, {"type": int, "default": value})
                            for name, value in (("--runs", 64), ("--repeat", 100), ("--seed", 1))))
