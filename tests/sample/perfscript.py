#!/usr/bin/env python3
"""perf.data files in every mode of perf, read by footpath and by perf script: the
samples must agree one for one. Mutations of the same files then go to the fuzz
driver.

    perfscript.py DUMP FUZZ [ROUNDS]
"""
import os
import re
import subprocess
import sys
import tempfile

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


def main():
    tool, fuzz, rounds = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "100"
    failed, passed, files = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "work.c"), "w") as out:
            out.write(SOURCE)
        program = os.path.join(folder, "work")
        subprocess.run(["cc", "-O1", "-o", program, os.path.join(folder, "work.c")], check=True)
        for name, options in list(MODES.items()) + list(PIPES.items()):
            path = os.path.join(folder, name.replace(" ", "-").replace(",", "") + ".data")
            target = "-" if name in PIPES else path
            with open(path if name in PIPES else os.devnull, "wb") as out:
                done = subprocess.run(["perf", "record", "-q", "-o", target] + options + ["--", program, "8"],
                                      stdout=out, stderr=subprocess.PIPE)
            if done.returncode:
                print("%s: perf record failed: %s" % (name, done.stderr.decode()[-300:]))
                failed += 1
                continue
            expected = script(path)
            got, state = dump(tool, path)
            files.append(path)
            right = expected == got and len(expected) > 10
            right &= ("compressed" not in name) or "compressed=1" in state
            right &= ("pipe" in name) == ("pipe=1" in state)
            passed, failed = passed + right, failed + (not right)
            if not right:
                print("%s: perf script has %d samples, footpath %d (%s); first differences:" % (
                    name, len(expected), len(got), state.strip()))
                print("  perf only:", sorted(set(expected) - set(got))[:3])
                print("  footpath only:", sorted(set(got) - set(expected))[:3])
        done = subprocess.run([fuzz, rounds] + files, capture_output=True, text=True)
        passed, failed = passed + (done.returncode == 0), failed + (done.returncode != 0)
        if done.returncode:
            print("fuzz driver: %s" % done.stderr[-1000:])
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
