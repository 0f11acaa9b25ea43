#!/usr/bin/env python3
"""Signals while a profile is written: no program hangs, changes its end, or loses its run in silence.

    signals.py --bin BUILD/bin [--llvm 19] [--count 100] [--seed 1]

Pairs of programs that share one profile, with 1 and with 8 threads, are sent SIGTERM, SIGINT,
SIGALRM, SIGXFSZ (each would kill) or SIGUSR2 (writes the profile) once or several times around
their end. Each must end as it was told: by its exit status, or by a signal that it was sent. Each
run must be in the profile once, with all that it had counted when it said that its end is near, or
have said on standard error that it is not. A program that a signal struck before that may have
counted less, never more.
"""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 65536
FATAL = [signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXFSZ]


def start(exe, profile, threads, *how):
    env = dict(os.environ, FOOTPATH_OUT=profile, FOOTPATH_DUMP_SIGNAL="USR2")
    return subprocess.Popen([exe, str(threads), str(CALLS), *how], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def strike(rng, programs):
    """Signals at random moments of the last 10 ms; which program was sent what."""
    sent = {p.pid: [] for p in programs}
    events = []
    for program in programs:
        for _ in range(rng.choice((1, 1, 2, 4))):
            which = rng.choice(FATAL + [signal.SIGUSR2] * 3)
            events.append((rng.random() * 0.01, program, which))
    begin = time.monotonic()
    for at, program, which in sorted(events, key=lambda e: e[0]):
        left = begin + at - time.monotonic()
        if left > 0:
            time.sleep(left)
        if program.poll() is None:
            sent[program.pid].append(which)
            program.send_signal(which)
    return sent


def finish(program, sent, limit):
    try:
        out, err = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        program.kill()
        raise Failure("hang after %s" % sent)
    allowed = {-s for s in sent if s in FATAL} | {7}
    if program.returncode not in allowed:
        raise Failure("ended with %d after %s: %s" % (program.returncode, sent, err.decode()))
    return out == b"end\n", err.decode()


def calls_of(b, profile):
    shown = b.json("show", "--json", "--function", "step", profile, silent=True)
    return sum(f["calls"] for f in shown["functions"] if f["name"] == "step")


def check(b, profile, ended, expected):
    """ended: pid and what it said on standard error; expected: calls of all."""
    runs = [run["pid"] for run in b.json("info", "--json", profile, silent=True)["runs"]]
    for pid, said in ended:
        if runs.count(pid) > 1:
            raise Failure("run %d is there %d times" % (pid, runs.count(pid)))
        if pid not in runs and "footpath: " not in said:
            raise Failure("run %d is missing and did not say so" % pid)
    if all(pid in runs for pid, _ in ended):
        expect(calls_of(b, profile) == expected, "%d calls, expected %d" % (calls_of(b, profile), expected))
    return sum(pid not in runs for pid, _ in ended)


def round_of(b, rng, exe, folder, number):
    threads = (1, 8)[number % 2]
    profile = os.path.join(folder, "round%d.prof" % number)
    programs = [start(exe, profile, threads, str(rng.randrange(10000)), *rng.choice(([], ["dump"]))) for _ in range(2)]
    for program in programs:  # "end": from here on every signal comes around the end
        if os.read(program.stdout.fileno(), 4) != b"end\n":
            raise Failure("no end in sight: %s" % program.communicate()[1])
    sent = strike(rng, programs)
    ended = []
    for program in programs:
        _, said = finish(program, sent[program.pid], b.args.limit)
        ended.append((program.pid, said))
    beside = len(os.listdir(folder)) > 1
    missing = check(b, profile, ended, 2 * threads * CALLS)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return [p.returncode for p in programs], missing, beside


def case_signals(b):
    exe, rounds, args = b.path("ends"), b.path("rounds"), b.args
    b.cc("--fp-array-paths=1000000", "-O1", "-pthread", os.path.join(HERE, "ends.c"), "-o", exe)
    os.mkdir(rounds)
    rng, by_signal, missing, beside = random.Random(args.seed), 0, 0, 0
    for number in range(args.count // 2):
        try:
            codes, lost, aside = round_of(b, rng, exe, rounds, number)
        except Failure as failure:
            raise Failure("round %d (seed %d): %s" % (number, args.seed, failure))
        by_signal += sum(code < 0 for code in codes)
        missing += lost
        beside += aside
    print("%d runs, %d ended by a signal, %d said that they are missing, in %d of %d rounds a run lay beside the profile"
          % (number * 2 + 2, by_signal, missing, beside, number + 1))


if __name__ == "__main__":
    harness.main(__doc__, ("--count", {"type": int, "default": 100, "help": "runs; two at a time"}),
                 ("--seed", {"type": int, "default": 1}),
                 ("--limit", {"type": float, "default": 1800, "help": "seconds after which a program hangs"}))
