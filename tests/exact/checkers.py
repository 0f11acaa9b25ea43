#!/usr/bin/env python3
"""Instrumented programs under valgrind and the sanitizers: no report of the runtime.

    checkers.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Programs without faults of their own, without suppressions: whatever is reported would
be ours. Output, status and counts must be right as well.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import PROGRAMS, equal  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# what runs, and the flags it is built with
VALGRIND = ["valgrind", "--error-exitcode=99", "-q"]
CHECKERS = {
    "memcheck": (VALGRIND + ["--leak-check=full"], ""),
    "helgrind": (VALGRIND + ["--tool=helgrind"], ""),
    "address": ([], "-fsanitize=address"),
    "thread": ([], "-fsanitize=thread"),
}
SOURCES = {
    "memcheck": ["workers.c", "exceptions.cc", "exit_deep.c"],
    "helgrind": ["workers.c"],
    "address": ["workers.c", "exceptions.cc", "longjmp_frames.c", "control_flow.c"],
    "thread": ["workers.c"],
}


def find(name):
    return next(path for path in (os.path.join(folder, name) for folder in (HERE, PROGRAMS)) if os.path.exists(path))


# LeakSanitizer, in one run of thirty of the plain program beside three others: it could not stop a thread, and what it says
# of leaks then means nothing.
NOT_STOPPED = "was not suspended. False leaks are possible."


def stopped_run(b, *command):
    """A run in which LeakSanitizer stopped all threads."""
    for _ in range(50):
        done = b.run(*command, env={"FOOTPATH_OUT": b.path("out.prof")}, status=None)
        if NOT_STOPPED not in done.stderr:
            return done
    raise harness.Failure("LeakSanitizer never stopped all threads: " + done.stderr)


def check(b, checker, name):
    prefix, flags = CHECKERS[checker]
    words = ["-O1", "-gdwarf-4", "-w", "-pthread", *flags.split(), find(name), "-o"]
    b.clang(*words, "plain")
    b.cc("--fp-mode=check", *words, "checked")
    wanted, got = (stopped_run(b, *prefix, b.path(exe)) for exe in ("plain", "checked"))
    equal((got.returncode, got.stdout, got.stderr), (wanted.returncode, wanted.stdout, wanted.stderr),
          "status, output and messages")
    b.verify("out.prof")


if __name__ == "__main__":
    harness.main(__doc__, cases={"%s_%s" % (checker, name.split(".")[0]): lambda b, c=checker, n=name: check(b, c, n)
                                 for checker, names in SOURCES.items() for name in names})
