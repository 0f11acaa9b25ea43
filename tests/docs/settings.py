#!/usr/bin/env python3
"""The tables of docs/runtime.md, row by row: names of profiles, when they are written,
what is said.

    settings.py --bin BUILD/bin --llvm 19
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class Place(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.program = self.path("prog")
        self.cc("-O1", "--fp-cuts=loops", os.path.join(HERE, "settings.c"), "-o", self.program)

    def fresh(self):
        """A new empty folder to run in."""
        return tempfile.mkdtemp(dir=self.folder)

    def program_in(self, where, *words, **variables):
        return self.run(self.program, *words, cwd=where, env=variables, status=None)

    def expect(self, what, got, wanted):
        equal(got, wanted, what)

    def calls(self, profile, name="work"):
        """None: the profile cannot be read yet."""
        shown = self.tool("show", "--json", profile, status=None)
        if shown.returncode:
            return None
        return sum(f["calls"] for f in json.loads(shown.stdout)["functions"] if f["name"] == name)


def written(path):
    """When; None: not yet."""
    return os.stat(path).st_mtime_ns if os.path.exists(path) else None


def case_names(p):
    where = p.fresh()
    p.expect("silent", p.program_in(where).stderr, "")
    p.expect("default name", os.listdir(where), ["footpath.prof"])
    p.program_in(where)
    p.expect("runs append", p.calls(os.path.join(where, "footpath.prof")), 2)
    where = p.fresh()
    p.program_in(where, FOOTPATH_OUT="%b-%h-%%.x")
    p.expect("%b %h %%", os.listdir(where), ["prog-%s-%%.x" % socket.gethostname()])
    where = p.fresh()
    p.program_in(where, FOOTPATH_OUT="%t-%p")
    found = os.listdir(where)
    p.expect("%t %p", bool(len(found) == 1 and re.match(r"\d{8}-\d{6}-\d+$", found[0])), True)
    where = p.fresh()
    p.program_in(where, "fork", FOOTPATH_OUT="a.%p")
    p.expect("a child has its own pid", len(os.listdir(where)), 2)
    where = p.fresh()
    p.program_in(where, "fork")
    p.expect("a child appends its own run", p.calls(os.path.join(where, "footpath.prof")), 2)
    where = p.fresh()
    p.program_in(where, "chdir", "/")
    p.expect("relative to where it started", os.listdir(where), ["footpath.prof"])
    p.program_in(where, "out", "other.prof")
    p.expect("footpath_set_output", sorted(os.listdir(where)), ["footpath.prof", "other.prof"])


def case_moments(p):
    where = p.fresh()
    p.program_in(where, "exec", "/bin/true")
    # what main did up to its loop is a path of its own
    p.expect("written before exec", p.calls(os.path.join(where, "footpath.prof"), "main"), 1)
    p.expect("but the run is there", os.listdir(where), ["footpath.prof"])
    where = p.fresh()
    profile = os.path.join(where, "footpath.prof")
    child = subprocess.Popen([p.program, "sleep"], cwd=where, env=harness.environment(FOOTPATH_DUMP_SIGNAL="SIGUSR2"),
                             stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    for _ in range(2):
        before = written(profile)
        child.send_signal(signal.SIGUSR2)
        while written(profile) == before or p.calls(profile) != 1:
            time.sleep(0.05)
    p.expect("dumps of one run count once", p.calls(profile), 1)
    p.expect("it goes on", child.poll(), None)
    child.terminate()
    p.expect("dies of its signal", child.wait(), -signal.SIGTERM)
    p.expect("the last record counts", p.calls(profile), 1)


def case_messages(p):
    where = p.fresh()
    said = p.program_in(where, FOOTPATH_LOG="1").stderr
    p.expect("FOOTPATH_LOG", said, "footpath: wrote %s/footpath.prof\n" % os.path.realpath(where))
    done = p.program_in(where, FOOTPATH_OUT="/nowhere/at/all.prof")
    p.expect("status stays", done.returncode, 0)
    p.expect("cannot write", "set FOOTPATH_OUT" in done.stderr and done.stderr.count("\n") == 1, True)
    p.expect("typing mistake", "did you mean FOOTPATH_OUT?" in p.program_in(where, FOOTPATH_OUTT="x").stderr, True)
    p.expect("not a signal", "FOOTPATH_DUMP_SIGNAL=x is not a signal" in
             p.program_in(where, FOOTPATH_DUMP_SIGNAL="x").stderr, True)
    taken = os.path.join(where, "taken")
    with open(taken, "w") as f:
        f.write("something that is no profile")
    p.program_in(where, FOOTPATH_OUT="taken")
    with open(taken) as f:
        p.expect("a file of others stays", f.read(), "something that is no profile")
    p.expect("and ours is beside it", len([n for n in os.listdir(where) if n.startswith("taken.")]), 1)


if __name__ == "__main__":
    harness.main(__doc__, bench=Place)
