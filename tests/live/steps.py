#!/usr/bin/env python3
"""Libraries that come and go, forks and pauses with FOOTPATH_LIVE=1, in programs that are killed: each count is there once.

    steps.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import fcntl
import glob
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, main  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.c")
LIBRARY = "__attribute__((noinline)) int %s(int n) { if (n & 1) return n * 3; return n - 1; }\nint called(int n) { return %s(n) + 1; }\n"


class Bench(harness.Bench):
    def build(self, *flags):
        for name in ("plugin", "other"):
            self.write(name + ".c", LIBRARY % ("in_" + name, "in_" + name))
            self.cc("-O1", "-shared", "-fPIC", *flags, name + ".c", "-o", name + ".so")
        self.cc("-O1", "-DCOUNTED", *flags, SOURCE, "-o", "counted", "-ldl")
        self.clang("-O1", *flags, SOURCE, "-o", "plain", "-ldl")

    def wait_for_locks(self, most):
        """The kernel gives up the lock of a mapped file a little after the process has ended."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            locked = 0
            for name in glob.glob(self.path("*.live")):
                with open(name, "rb") as file:
                    try:
                        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    except BlockingIOError:
                        locked += 1
            if locked <= most:
                return
            time.sleep(0.01)

    def steps(self, program, letters):
        """Runs it to its end; gives the runs and the calls of each function, and what it printed."""
        if os.path.exists(self.path("footpath.prof")):
            os.unlink(self.path("footpath.prof"))
        env = harness.environment(FOOTPATH_LIVE="1")
        process = subprocess.Popen([self.path(program), letters], env=env, cwd=self.folder, start_new_session=True,
                                   stdout=subprocess.PIPE, text=True)
        try:
            equal(process.wait(600), -signal.SIGKILL if "k" in letters and "f" not in letters else 0, "the end of " + letters)
            self.wait_for_locks(letters.count("o"))
            shown = self.json("show", "--json", "--top", "0", "--program", "all", "footpath.prof")
            calls = {f["name"]: f["calls"] for f in shown["functions"] if f["calls"]}
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # children that wait
            except ProcessLookupError:
                pass
            said = process.communicate()[0]
        self.tool("fold")
        folded = self.json("show", "--json", "--top", "0", "--program", "all", "footpath.prof")
        equal({f["name"]: f["calls"] for f in folded["functions"] if f["calls"] and f["name"].startswith("in_")},
              {name: n for name, n in calls.items() if name.startswith("in_")}, "calls of libraries after folding " + letters)
        return shown["runs"], calls, said


def case_signals_of_children(b):
    """A child of fork blocks the signals that its parent blocks, and no other."""
    b.build()
    equal(b.steps("counted", "sw")[2], "0\n", "children that block a signal")


def case_loaded(b):
    """A library that was loaded, written and unloaded has its counts once, in the run of the program."""
    b.build()
    for letters, calls in (("lck", 100), ("lcdk", 100), ("lcdcuk", 200), ("lcdulcdk", 200), ("lculculck", 300)):
        runs, found, _ = b.steps("counted", letters)
        equal((runs, found.get("in_plugin")), (1, calls), "runs, and calls in " + letters)


def case_plain_program(b):
    """In a program that counts nothing, what is loaded after the last library has gone is live, too."""
    b.build()
    for letters, calls in (("lck", (100, None)), ("lculck", (200, None)), ("lcumck", (100, 100)), ("lculcumcumck", (200, 200))):
        found = b.steps("plain", letters)[1]
        equal((found.get("in_plugin"), found.get("in_other")), calls, "calls in " + letters)


def case_child_goes_on(b):
    """A parent that was killed is taken in while its child lives, also where a library had been unloaded."""
    b.build()
    found = b.steps("counted", "lcuwok")[1]
    equal((found.get("in_plugin"), found.get("work")), (100, 1000), "calls of the parent")


def case_paused_child(b):
    """Counting that was paused in the parent goes on in the child's own file."""
    b.build()
    equal(b.steps("counted", "wpfwrwk")[1].get("work"), 2000, "calls")


def case_sanitizer(b):
    """Where a sanitizer has memory at the usual places, the file lies elsewhere, and libraries find room for their counters."""
    b.build("-fsanitize=address")
    equal(b.steps("counted", "lcwk")[1].get("in_plugin"), 100, "calls")


if __name__ == "__main__":
    main(__doc__, bench=Bench)
