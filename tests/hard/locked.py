#!/usr/bin/env python3
"""Profiles that somebody keeps locked, and files that cannot be written.

    locked.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Programs that end while a reader holds the lock end nevertheless; their runs are read at once, and
are in the profile after the next run, each once, also when several programs and `footpath merge`
come at the same time. What our own writes raise does not reach the program.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 1000


class Bench(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.exe = self.path("ends")
        self.profile = self.path("work", "out.prof")
        self.cc("-O1", "-pthread", os.path.join(HERE, "ends.c"), "-o", self.exe)
        self.fresh()

    def fresh(self):
        shutil.rmtree(self.path("work"), ignore_errors=True)
        os.mkdir(self.path("work"))

    def start(self, out=None):
        env = dict(os.environ, FOOTPATH_OUT=out or self.profile)
        return subprocess.Popen([self.exe, "1", str(CALLS), "0"], env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, program, status=7):
        out, err = program.communicate()
        expect(program.returncode == status and out == "end\n", "ended with %d: %s" % (program.returncode, err))
        return err

    def tool(self, *words):
        return super().tool(*words, silent=True).stdout

    def expect(self, runs, *files):
        files = files or (self.profile,)
        known = sum(m["runs"] for m in json.loads(self.tool("info", "--json", *files))["modules"])
        shown = json.loads(self.tool("show", "--json", "--function", "step", *files))["functions"]
        calls = sum(f["calls"] for f in shown if f["name"] == "step")
        equal((known, calls), (runs, runs * CALLS), "runs and calls")

    def beside(self):
        return sorted(n for n in os.listdir(os.path.dirname(self.profile)) if n != "out.prof")

    def nothing_beside(self):
        equal(self.beside(), [], "left beside the profile")

    def lock(self, how=fcntl.LOCK_EX):
        """By a reader: it can open the file for reading only."""
        fd = os.open(self.profile, os.O_RDONLY | os.O_CREAT)
        fcntl.flock(fd, how)
        return fd


def case_reader_holds_the_lock(b):
    b.end(b.start())
    for how in (fcntl.LOCK_EX, fcntl.LOCK_SH):
        b.fresh()
        b.end(b.start())
        held = b.lock(how)
        for program in [b.start() for _ in range(5)]:
            b.end(program)
        equal(len(b.beside()), 5, "files beside the profile")
        b.expect(6)
        b.expect(6, *[b.profile] + [os.path.join(os.path.dirname(b.profile), n) for n in b.beside()])
        os.close(held)
        b.expect(6)
        b.end(b.start())
        b.nothing_beside()
        b.expect(7)


def case_lock_is_waited_for(b):
    held = b.lock()
    program = b.start()
    time.sleep(0.3)
    os.close(held)
    b.end(program)
    b.expect(1)


def case_empty_file_locked(b):
    held = b.lock()
    b.end(b.start())
    equal(len(b.beside()), 1, "files beside the profile")
    os.close(held)
    b.end(b.start())
    b.expect(2)
    b.nothing_beside()


def case_many_take_in_at_once(b):
    b.end(b.start())
    held = b.lock()
    for program in [b.start() for _ in range(12)]:
        b.end(program)
    merges = [subprocess.Popen([b.bin("footpath"), "merge", b.profile, "-o", b.profile]) for _ in range(2)]
    programs = [b.start() for _ in range(6)]
    os.close(held)
    for program in programs:
        b.end(program)
    if any(merge.wait() for merge in merges):
        raise Failure("footpath merge failed")
    b.expect(19)
    b.end(b.start())
    b.expect(20)
    b.nothing_beside()


def case_taken_in_but_not_removed(b):
    """As a kill between the two leaves it: the run is in both places, and counts once."""
    b.end(b.start())
    held = b.lock()
    b.end(b.start())
    name = os.path.join(os.path.dirname(b.profile), b.beside()[0])
    shutil.copy(name, b.folder)
    os.close(held)
    b.end(b.start())
    shutil.copy(os.path.join(b.folder, os.path.basename(name)), name.replace(".run", ".fold"))
    b.expect(3)
    b.end(b.start())
    b.expect(4)
    b.tool("merge", b.profile, "-o", b.profile)
    b.nothing_beside()
    b.expect(4)


def case_removed_profile(b):
    """A run beside a profile that was removed is not in the next one."""
    b.end(b.start())
    held = b.lock()
    b.end(b.start())
    os.close(held)
    os.unlink(b.profile)
    b.end(b.start())
    b.expect(1)


def case_combined_in_place(b):
    b.end(b.start())
    held = b.lock()
    b.end(b.start())
    os.close(held)
    b.tool("combine", b.profile, "-o", b.profile)
    b.nothing_beside()
    b.end(b.start())
    out = b.tool("show", b.profile)
    if "3 runs" not in out:
        raise Failure("combined: %s" % out)


def case_children_while_writing(b):
    """A child that is made while another thread writes has the locked file open: it keeps nobody out."""
    exe, count = os.path.join(b.folder, "forks"), 40
    b.cc("-O1", "-pthread", os.path.join(HERE, "forks.c"), "-o", exe)
    program = subprocess.Popen([exe, str(count)], env=dict(os.environ, FOOTPATH_OUT=b.profile), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    if os.read(program.stdout.fileno(), 5) != b"made\n" or program.wait() != 7:
        raise Failure("ended with %s" % program.returncode)
    held = b.lock(fcntl.LOCK_EX | fcntl.LOCK_NB)  # no child has it
    os.close(held)
    program.stdin.close()
    program.stdout.read()  # until the last child is gone
    known = sum(m["runs"] for m in json.loads(b.tool("info", "--json", b.profile))["modules"])
    if known != count + 1:
        raise Failure("%d runs, expected %d" % (known, count + 1))


def case_no_room(b):
    """A limit of file size: the write fails, the program does not notice."""
    for before in (False, True):
        if before:
            b.end(b.start())
        done = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$0" 1 10 0', b.exe], capture_output=True, text=True,
                              env=dict(os.environ, FOOTPATH_OUT=b.profile))
        if done.returncode != 7 or "cannot write" not in done.stderr:
            raise Failure("without room: %d %s" % (done.returncode, done.stderr))


def case_closed_stderr(b):
    """A message into a closed pipe: no SIGPIPE."""
    read, write = os.pipe()
    os.close(read)
    program = subprocess.Popen([b.exe, "1", "10", "0"], stdout=subprocess.PIPE, stderr=write,
                               env=dict(os.environ, FOOTPATH_OUT="/nowhere/at/all"),
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    os.close(write)
    program.communicate()
    if program.returncode != 7:
        raise Failure("closed standard error: %d" % program.returncode)


def case_not_a_file(b):
    fifo = os.path.join(os.path.dirname(b.profile), "fifo")
    os.mkfifo(fifo)
    for name in ("/dev/stdout", "/dev/fd/1", "/dev/zero", fifo):
        if "footpath: " not in b.end(b.start(name)):
            raise Failure("%s: nothing said" % name)
    if b.end(b.start("/dev/null")):
        raise Failure("/dev/null: something said")


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
