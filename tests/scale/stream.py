#!/usr/bin/env python3
"""`footpath show --json` of many paths: the text is written as it is made, and not kept in
memory. The text of millions of paths takes gigabytes.

    stream.py --bin BUILD/bin [--case NAME]...
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

FUNCTIONS, PATHS = 300, 100


def memory(b, out, *words):
    """The most memory that a command took, in bytes; its output goes to a file. AddressSanitizer would keep
    what was freed."""
    env = harness.environment(ASAN_OPTIONS="quarantine_size_mb=1")
    with open(b.path(out), "wb") as to:
        command = subprocess.Popen([b.bin("footpath"), *words], stdout=to, cwd=b.folder, env=env)
        _, status, used = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    equal(command.returncode, 0, "status of " + " ".join(words))
    return used.ru_maxrss * 1024


def case_json(b):
    b.run(os.path.join(b.args.bin, "..", "make-profile"), "many.prof", str(FUNCTIONS), str(PATHS))
    few = memory(b, "few", "show", "--top", "1", "many.prof")
    all_of_it = memory(b, "all.json", "show", "--json", "many.prof")
    size = os.path.getsize(b.path("all.json"))
    print("%d bytes of JSON; %d more bytes of memory than for one path" % (size, all_of_it - few))
    expect(all_of_it - few < size // 4, "bytes of memory for %d bytes of JSON:" % size, all_of_it - few)
    with open(b.path("all.json"), encoding="utf-8") as f:
        shown = json.load(f)
    equal(sum(len(function["paths"]) for function in shown["functions"]), FUNCTIONS * PATHS, "paths")


def case_failing_output(b):
    """What cannot be written is told once, and the command fails."""
    b.run(os.path.join(b.args.bin, "..", "make-profile"), "many.prof", "20", "100")
    with open("/dev/full", "wb") as full:
        done = b.tool("show", "--json", "many.prof", status=1, stdout=full)
    equal(done.stderr.count("No space left on device"), 1, "messages")


if __name__ == "__main__":
    harness.main(__doc__)
