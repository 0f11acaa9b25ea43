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
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 65536
FATAL = [signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXFSZ]


class Failure(Exception):
    pass


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


def info(args, profile):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "info", "--json", profile], capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise Failure("footpath info: %d %s" % (done.returncode, done.stderr))
    return json.loads(done.stdout)


def calls_of(args, profile):
    done = subprocess.run([os.path.join(args.bin, "footpath"), "show", "--json", "--function", "step", profile],
                          capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise Failure("footpath show: %d %s" % (done.returncode, done.stderr))
    return sum(f["calls"] for f in json.loads(done.stdout)["functions"] if f["name"] == "step")


def check(args, profile, ended, expected):
    """ended: pid and what it said on standard error; expected: calls of all."""
    runs = [run["pid"] for run in info(args, profile)["runs"]]
    for pid, said in ended:
        if runs.count(pid) > 1:
            raise Failure("run %d is there %d times" % (pid, runs.count(pid)))
        if pid not in runs and "footpath: " not in said:
            raise Failure("run %d is missing and did not say so" % pid)
    if all(pid in runs for pid, _ in ended) and calls_of(args, profile) != expected:
        raise Failure("%d calls, expected %d" % (calls_of(args, profile), expected))
    return sum(pid not in runs for pid, _ in ended)


def round_of(args, rng, exe, folder, number):
    threads = (1, 8)[number % 2]
    profile = os.path.join(folder, "round%d.prof" % number)
    programs = [start(exe, profile, threads, str(rng.randrange(10000)), *rng.choice(([], ["dump"]))) for _ in range(2)]
    for program in programs:  # "end": from here on every signal comes around the end
        if os.read(program.stdout.fileno(), 4) != b"end\n":
            raise Failure("no end in sight: %s" % program.communicate()[1])
    sent = strike(rng, programs)
    ended = []
    for program in programs:
        _, said = finish(program, sent[program.pid], args.limit)
        ended.append((program.pid, said))
    beside = len(os.listdir(folder)) > 1
    missing = check(args, profile, ended, 2 * threads * CALLS)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return [p.returncode for p in programs], missing, beside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--count", type=int, default=100, help="runs; two at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a program hangs")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = tempfile.mkdtemp(prefix="footpath-signals-")
    exe = os.path.join(folder, "ends")
    subprocess.run([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-array-paths=1000000", "-O1",
                    "-pthread",
                    os.path.join(HERE, "ends.c"), "-o", exe], check=True)
    rounds = os.path.join(folder, "rounds")
    os.mkdir(rounds)
    rng, by_signal, missing, beside = random.Random(args.seed), 0, 0, 0
    for number in range(args.count // 2):
        try:
            codes, lost, aside = round_of(args, rng, exe, rounds, number)
        except Failure as failure:
            print("round %d (seed %d): %s" % (number, args.seed, failure))
            return 1
        by_signal += sum(code < 0 for code in codes)
        missing += lost
        beside += aside
    shutil.rmtree(folder)
    print("%d runs, %d ended by a signal, %d said that they are missing, in %d of %d rounds a run lay beside the profile"
          % (number * 2 + 2, by_signal, missing, beside, number + 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
