#!/usr/bin/env python3
"""perf.data files in every mode of perf, read by footpath and by perf script: the
samples must agree one for one. Mutations of the same files then go to the fuzz
driver.

    perfscript.py --dump DUMP --fuzz FUZZ [--rounds 100] [--case NAME]...
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned work(unsigned n) { unsigned s = 1; for (unsigned i = 0; i < n; i++) s = s * 1664525 + (s >> 7) + i; return s; }
int main(int argc, char **argv) {
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    pid_t child = fork();
    unsigned s = work(n * 1000000u);
    if (child) wait(NULL);
    return s == 42;
}
"""

MODES = {
    "file": ["-e", "cpu-clock", "-c", "200000"],
    "frequency": ["-e", "cpu-clock", "-F", "5000"],
    "two events": ["-e", "cpu-clock,task-clock", "-c", "300000"],
    "call graph": ["-e", "cpu-clock", "-c", "500000", "-g"],
    "compressed": ["-e", "cpu-clock", "-c", "100000", "-z"],
    "no inherit": ["-e", "cpu-clock", "-c", "300000", "-i"],
    "data addresses": ["-e", "cpu-clock", "-c", "300000", "-d", "--sample-cpu"],
    "build ids": ["-e", "cpu-clock", "-c", "300000", "--buildid-mmap"],
}
PIPES = {
    "pipe": ["-e", "cpu-clock", "-c", "200000"],
    "pipe, two events": ["-e", "cpu-clock,page-faults", "-c", "1000"],
    "pipe, compressed": ["-e", "cpu-clock", "-c", "200000", "-z"],
}


def script(path):
    """What perf says: event, pid, tid, time in ns, ip, period."""
    out = subprocess.run(["perf", "script", "--ns", "-i", path, "-F", "pid,tid,time,event,ip,period", "-G"],
                         capture_output=True, text=True, check=True).stdout
    found = []
    for line in out.splitlines():
        m = re.match(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+?):\s+([0-9a-f]+)", line)
        if m:
            pid, tid, s, ns, period, event, ip = m.groups()
            event = re.sub(r":[a-zA-Z]+$", "", event)
            found.append((event, int(pid), int(tid), int(s) * 10**9 + int(ns), ip.lstrip("0") or "0", int(period)))
    return sorted(found)


def dump(tool, path):
    done = subprocess.run([tool, path], capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        event, pid, tid, time, ip, period = line.split()
        found.append((re.sub(r":[a-zA-Z]+$", "", event), int(pid), int(tid), int(time), ip, int(period)))
    return sorted(found), done.stderr


def recorded(b, name):
    """A perf.data of this mode."""
    b.write("work.c", SOURCE)
    b.run("cc", "-O1", "-o", "work", "work.c")
    path = b.path("perf.data")
    piped = name in PIPES
    with open(path if piped else os.devnull, "wb") as out:
        b.run("perf", "record", "-q", "-o", "-" if piped else path, *(PIPES if piped else MODES)[name], "--", "./work", "8",
              stdout=out)
    return path


def check(b, name):
    path = recorded(b, name)
    expected = script(path)
    got, state = dump(b.args.dump, path)
    expect(expected == got, "perf script has %d samples, footpath %d (%s); perf only: %s; footpath only: %s" % (
        len(expected), len(got), state.strip(), sorted(set(expected) - set(got))[:3], sorted(set(got) - set(expected))[:3]))
    expect(len(expected) > 10, "%d samples" % len(expected))
    expect("compressed" not in name or "compressed=1" in state, "compressed: " + state)
    expect(("pipe" in name) == ("pipe=1" in state), "through a pipe: " + state)
    b.run(b.args.fuzz, b.args.rounds, "60", path)


if __name__ == "__main__":
    harness.main(__doc__, ("--dump", {}), ("--fuzz", {}), ("--rounds", {"default": "100"}),
                 cases={re.sub(r"\W+", "_", name): lambda b, name=name: check(b, name) for name in {**MODES, **PIPES}})
