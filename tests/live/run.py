#!/usr/bin/env python3
"""Programs with FOOTPATH_LIVE=1 that are killed: what they had counted is in the profile, once, whatever happens to
them and to the tools. kills.c counts in memory of its own, too.

    run.py --bin BUILD/bin [--llvm 19] [--runs N] [--case NAME]...
"""
import fcntl
import glob
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import mounts  # noqa: E402
from harness import Skipped, equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS, KINDS = 64, 16
FUNCTIONS = ["few", "many", "most", "plugin"]


class Bench(harness.Bench):
    def cc(self, *words):
        self.run(self.bin("footpath-cc"), "--fp-llvm=%s" % self.args.llvm, *words)

    def build(self, *flags):
        self.cc("-O1", "-rdynamic", *flags, os.path.join(HERE, "kills.c"), "-o", "kills", "-ldl", "-lpthread")
        self.cc("-O1", "-shared", "-fPIC", *flags, os.path.join(HERE, "plugin.c"), "-o", "plugin.so")

    def start(self, threads, how, **env):
        self.write("own", b"\0" * (THREADS * len(FUNCTIONS) * KINDS * 8))
        env = harness.environment(**{"FOOTPATH_LIVE": "1", **env})
        return subprocess.Popen(["./kills", "own", str(threads), how], env=env, cwd=self.folder, start_new_session=True,
                                stderr=subprocess.PIPE, text=True)

    def own(self):
        """Calls that have returned: function -> count of each kind."""
        words = struct.unpack("<%dQ" % (THREADS * len(FUNCTIONS) * KINDS), self.read("own"))
        return {name: [sum(words[(t * len(FUNCTIONS) + i) * KINDS + k] for t in range(THREADS)) for k in range(KINDS)]
                for i, name in enumerate(FUNCTIONS)}

    def calls_of_threads(self):
        """Calls of `few` that have returned, of each thread."""
        words = struct.unpack("<%dQ" % (THREADS * len(FUNCTIONS) * KINDS), self.read("own"))
        return [sum(words[t * len(FUNCTIONS) * KINDS:][:KINDS]) for t in range(THREADS)]

    def working(self, process, calls=1000):
        """Waits until the process has worked; half an hour is for what is stuck."""
        end = time.monotonic() + 1800
        while sum(self.own()["few"]) < calls:
            expect(process.poll() is None and time.monotonic() < end, "works")
            time.sleep(0.005)

    def killed(self, threads, how, **env):
        """Starts the program and kills it with its children at some time. Returns what it said."""
        process = self.start(threads, how, **env)
        self.working(process)
        time.sleep(random.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[1]  # children have standard error, too: this waits for all
        equal(process.returncode, -signal.SIGKILL, "killed")
        self.wait_for_locks()
        return said

    def wait_for_locks(self):
        """The kernel closes a process' files, and a little later it gives up the lock of what was mapped. Until then the
        process counts as running."""
        for name in self.live():
            with open(name, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)

    def live(self):
        """Files beside the profile; a child may have been killed while it made one."""
        for name in glob.glob(self.path("footpath.prof.*.new")):
            os.unlink(name)
        return sorted(glob.glob(self.path("footpath.prof.*")))

    def counts(self, *words):
        shown = json.loads(self.tool("show", "--json", *(words or ["footpath.prof"])).stdout)
        return {f["name"]: sorted((p["count"] for p in f["paths"]), reverse=True) for f in shown["functions"]}

    def check(self, counts, slack):
        """Every call that returned is counted; of the others, at most the one that a thread was in."""
        for name, mine in self.own().items():
            got = counts.get(name, [])
            got += [0] * (KINDS - len(got))
            mine = sorted(mine, reverse=True)
            expect(len(got) == KINDS and all(m <= g <= m + slack for m, g in zip(mine, got)) and
                   sum(mine) <= sum(got) <= sum(mine) + slack, name, "own %s, counted %s, %d threads" % (mine, got, slack))


def kills(b, threads, how, runs=None):
    processes = 1 if "fork" not in how else 4
    for _ in range(runs or b.args.runs):
        equal(b.killed(threads, how), "", "said")
        expect(1 <= sum(name.endswith(".live") for name in b.live()) <= processes, "a live file per process")
        b.check(b.counts(), max(1, threads) * processes)
        before = b.counts()
        b.tool("fold")
        equal(b.counts(), before, "folded")
        equal(b.live(), [], "nothing is left beside the profile")
        os.unlink(b.path("footpath.prof"))


def case_one_thread(b):
    b.build()
    kills(b, 0, "spin")


def case_threads(b):
    b.build()
    kills(b, 4, "spin")
    kills(b, 16, "spin")


def case_threads_that_end(b):
    b.build()
    kills(b, 4, "churn")


def case_fork(b):
    """Parent and children have a file each."""
    b.build()
    kills(b, 2, "fork")


def case_library(b):
    """A library that is unloaded and loaded again: what it wrote when it was unloaded is not counted twice."""
    b.build()
    kills(b, 2, "plugin")


def case_mixed(b):
    """Threads, processes and libraries that come and go at the same time."""
    b.build()
    for how in ("spin,plugin,forks", "churn,plugin,forks", "fork,churn,plugin"):
        kills(b, 3, how)


def case_other_builds(b):
    """Edges; frames that never return; where counters are not in the order of the code."""
    for flags in (["--fp-exits"], ["--fp-array-paths=4"], ["-static-pie"], ["-no-pie"]):
        b.build(*[flag for flag in flags if flag != "-static-pie"])
        if flags == ["-static-pie"]:
            b.cc("-O1", "-static-pie", os.path.join(HERE, "kills.c"), "-o", "kills", "-lpthread")
        kills(b, 4, "spin", 2)


def case_killed_long(b):
    """The campaign: 1,000 kills."""
    b.build()
    for threads, runs in ((0, 334), (4, 333), (16, 333)):
        kills(b, threads, "spin", runs)


def case_accumulates(b):
    """Runs that were killed, and one that ended: the profile is their sum, however often it is folded."""
    b.build()
    sums = dict.fromkeys(FUNCTIONS, 0)
    for i in range(3):
        b.killed(2, "spin")
        for name, counts in b.own().items():
            sums[name] += sum(counts)
        if i:
            b.tool("fold")
    for _ in range(3):
        b.tool("fold", "--quiet")
    for name, counts in b.counts().items():
        if name in sums:
            expect(sums[name] <= sum(counts) <= sums[name] + 6, "%s: %d of %d" % (name, sum(counts), sums[name]))
    equal(json.loads(b.tool("info", "--json", "footpath.prof").stdout)["runs"][0]["killed"], True, "told")


def case_fold_at_once(b):
    """Many fold at the same time: each run goes in once."""
    b.build()
    for _ in range(4):
        b.killed(1, "spin")
        os.rename(b.path("own"), b.path("own.old"))
    expected = b.counts()
    command = [b.bin("footpath"), "fold", "--quiet"]
    folders = [subprocess.Popen(command, cwd=b.folder, env=harness.environment()) for _ in range(12)]
    equal([one.wait() for one in folders], [0] * 12, "all end well")
    equal(b.counts(), expected, "the same counts")
    equal(b.live(), [], "all taken in")


def case_fold_killed(b):
    """Killed while it folds, at any moment: nothing is lost or doubled."""
    b.build()
    for _ in range(3):
        b.killed(1, "spin")
    expected, killed = b.counts(), 0
    while b.live():
        process = subprocess.Popen([b.bin("footpath"), "fold", "--quiet"], cwd=b.folder, env=harness.environment())
        try:
            process.wait(random.uniform(0, 0.02))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        killed += process.returncode != 0
        equal(b.counts(), expected, "the same counts after %d kills" % killed)
        if killed > 200:
            b.tool("fold")
    b.tool("fold")
    equal(b.counts(), expected, "the same counts at the end")
    # killed when it had made the profile and put nothing into it
    os.rename(b.path("footpath.prof"), b.path("kept.prof"))
    b.killed(1, "spin")
    b.write("footpath.prof", "")
    b.check(b.counts(), 1)
    b.tool("fold")
    b.check(b.counts(), 1)
    os.rename(b.path("kept.prof"), b.path("footpath.prof"))
    # killed behind the commit: the file is there still, and its run is known
    b.killed(1, "spin")
    kept = {name: b.read(name) for name in b.live()}
    b.tool("fold")
    expected = b.counts()
    for name, content in kept.items():
        b.write(name, content)
    equal(b.counts(), expected, "known by its run")
    b.tool("fold")
    equal((b.counts(), b.live()), (expected, []), "removed")


def ends(b, *flags):
    """A program that ends: the profile is what it is without live counters."""
    source = b.write("ends.c", """
        #include <signal.h>
        #include <stdlib.h>
        #include <unistd.h>
        volatile int sink;
        __attribute__((noinline)) void f(int n) { if (n & 1) sink += n; if (n & 2) sink ^= n; }
        int main(int argc, char **argv) {
            int n = atoi(argv[1]);
            for (int i = 0; i < n; i++) f(i);
            if (argv[2][0] == 'x') execl("/bin/true", "true", NULL);
            if (argv[2][0] == 'f') execl("/nonexistent", "no", NULL);
            if (argv[2][0] == '_') _exit(0);
            if (argv[2][0] == 'k') kill(getpid(), SIGKILL);
            if (argv[2][0] == 'a') abort();
            return 0; }""")
    b.cc("-O1", *flags, source, "-o", "ends")


def case_ends(b):
    """However it ends by itself, no file is left and the counts are the same."""
    ends(b)
    for how in "rx_fa":
        shown = []
        for live in "0", "1":
            b.run("./ends", "1000", how, env={"FOOTPATH_LIVE": live, "FOOTPATH_OUT": "footpath.prof"}, status=None, silent=True)
            shown.append(b.tool("show", "--plain", "--top", "0").stdout)
            os.unlink(b.path("footpath.prof"))
        equal(shown[1], shown[0], "the same profile, ended by " + how)
        equal(b.live(), [], "no live file, ended by " + how)


def case_no_room(b):
    """Where the file may not be that large, or cannot be made: one line, and the program counts on in memory."""
    ends(b)
    def limit(size):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "1"}, preexec_fn=limit(100 << 10))
    expect(done.stderr.startswith("footpath: cannot count in ") and done.stderr.count("\n") == 1, "one line", done.stderr)
    equal(b.counts()["f"], [250] * 4, "counted in memory")
    equal(b.live(), [], "nothing is left")
    b.build()
    os.unlink(b.path("footpath.prof"))
    b.write("own", b"\0" * (THREADS * len(FUNCTIONS) * KINDS * 8))
    env = harness.environment(FOOTPATH_LIVE="1")
    process = subprocess.Popen(["./kills", "own", "0", "spin"], cwd=b.folder, env=env, preexec_fn=limit(400 << 10),
                               stderr=subprocess.PIPE, text=True)
    b.working(process, 200000)
    process.terminate()
    said = process.communicate()[1]
    expect("cannot grow" in said and said.count("\n") == 1, "one line", said)
    b.check(b.counts(), 1)  # a signal that can be handled: all of it, from memory
    done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": "/proc/sys/footpath.prof"})
    expect("cannot count in /proc/sys/footpath.prof" in done.stderr, "a folder that cannot be written to", done.stderr)


def fill(path):
    """Until the disk is full. What is written is bytes of a file."""
    with open(path, "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 4096):
                pass
        except OSError:
            pass


def only_line(said, *words):
    """One line of the runtime with these words."""
    expect(said.count("\n") == 1 and all(word in said for word in words), "one line with %s" % (words,), said)


def case_full_disk(b):
    """A disk of 1 MB is too small for the file, then it is full from the start: one line each, and the program counts on in memory."""
    b.build()
    ends(b)
    with mounts.memory(b.path("disk"), "1m") as disk:
        out = disk + "/out.prof"
        process = b.start(16, "spin", FOOTPATH_OUT=out)
        b.working(process, 200000)
        before = b.own()  # threads go on while the profile is written: without --fp-exits nobody holds them
        process.terminate()
        only_line(process.communicate()[1], "out.prof.", ".live cannot grow: the disk is nearly full")
        counts = b.counts(out)
        for name in FUNCTIONS[:3]:
            first, last = (sorted(own[name], reverse=True) for own in (before, b.own()))
            expect(len(counts[name]) == KINDS and all(f <= c <= l + 16 for f, c, l in zip(first, counts[name], last)), name,
                   "own %s before, counted %s, own %s at the end" % (first, counts[name], last))
        equal(os.listdir(disk), ["out.prof"], "no live file")
        fill(disk + "/rest")
        os.truncate(disk + "/rest", os.path.getsize(disk + "/rest") - (100 << 10))
        done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": disk + "/ends.prof"})
        only_line(done.stderr, "cannot count in ", "the disk is nearly full; counts are lost if the program is killed")
        equal(b.counts(disk + "/ends.prof")["f"], [250] * 4, "counted in memory")


def case_disk_fills_up(b):
    """Others fill the disk while the program counts: its pages are promised. Nothing can be folded then, and nothing is lost."""
    b.build()
    with mounts.memory(b.path("disk"), "4m") as disk:
        out = disk + "/out.prof"
        process = b.start(0, "spin", FOOTPATH_OUT=out)
        b.working(process, 20000)
        fill(disk + "/rest")
        b.working(process, sum(b.own()["few"]) + 20000)
        process.kill()
        equal(process.communicate()[1], "", "said")
        counts = b.counts(out)
        b.check(counts, 1)
        said = b.tool("fold", out, status=1).stderr
        only_line(said, "out.prof: cannot write: No space left on device; the live files stay as they are")
        equal(b.counts(out), counts, "the same, not folded")
        os.unlink(disk + "/rest")
        b.tool("fold", out)
        equal((b.counts(out), os.listdir(disk)), (counts, ["out.prof"]), "folded")


def case_read_only(b):
    """A folder that cannot be written to: a run says so, what is in it can be read, and folding fails with a word."""
    b.build()
    ends(b)
    with mounts.memory(b.path("disk"), "4m") as disk:
        out = disk + "/out.prof"
        b.killed(1, "spin", FOOTPATH_OUT=out)
        mounts.make_read_only(disk, True)
        counts = b.counts(out)
        b.check(counts, 1)
        only_line(b.tool("fold", out, status=1).stderr, "out.prof: cannot open: Read-only file system")
        done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": disk + "/ends.prof"})
        first, second = done.stderr.splitlines()
        only_line(first + "\n", "cannot count in ", "Read-only file system; counts are lost if the program is killed")
        expect("ends.prof" in second and "Read-only file system" in second, "no profile either", second)
        mounts.make_read_only(disk, False)
        b.tool("fold", out)
        equal((b.counts(out), os.listdir(disk)), (counts, ["out.prof"]), "folded")


def case_user_space(b):
    """A file system in user space, as one on a network: mappings of it are not reliable. A profile may lie there."""
    ends(b)
    mounts.alone()
    os.mkdir(b.path("far"))
    done = b.run(sys.executable, os.path.join(HERE, "fuse.py"), "far", "sh", "-c", "./ends 1000 r && cp far/out.prof . && ls far > list",
                 env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": "far/out.prof"}, status=None)
    if done.returncode == harness.SKIPPED:
        raise Skipped(done.stdout.strip())
    equal(done.returncode, 0, "status")
    only_line(done.stderr, "cannot count in ", "it is on a network or in user space; counts are lost if the program is killed")
    equal((b.counts("out.prof")["f"], b.read("list")), ([250] * 4, b"out.prof\n"), "counted in memory")


def case_another_folder(b):
    """The file lies beside the profile, whatever folder the variable names."""
    ends(b)
    done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "/dev/shm"})
    only_line(done.stderr, "FOOTPATH_LIVE=/dev/shm is neither 0 nor 1", "beside the profile")
    equal(b.counts()["f"], [250] * 4, "counts")


def case_next_run(b):
    """footpath run takes in what earlier runs have left, and what its own has, if it was killed. So does a build by the profile."""
    ends(b)
    dies = {"FOOTPATH_LIVE": "1"}
    for i in range(2):
        b.run("./ends", "1000", "k", env=dies, status=-signal.SIGKILL)
    equal(len(b.live()), 2, "live files")
    b.tool("run", "./ends", "1000", "r")
    equal((b.counts()["f"], b.live()), ([750] * 4, []), "all three")
    os.unlink(b.path("footpath.prof"))
    done = b.tool("run", "./ends", "1000", "k", env=dies, status=128 + signal.SIGKILL)
    expect("f " in done.stderr and "counted nothing" not in done.stderr, "shown", done.stderr)
    equal((b.counts()["f"], b.live()), ([250] * 4, []), "the one that was killed")


def case_use(b):
    """A build by the profile of killed processes, which has no file yet, and then more of them: the guide is made again."""
    ends(b, "--fp-at=early")
    for i in 1, 2:
        b.run("./ends", "1000", "k", env={"FOOTPATH_LIVE": "1"}, status=-signal.SIGKILL)
        b.cc("-O2", "--fp-use=footpath.prof", "-S", "-emit-llvm", "ends.c", "-o", "ends.ll")
        text = b.read("ends.ll").decode()
        expect('!"function_entry_count", i64 %d}' % (1000 * i) in text, "counts of %d runs" % i, text[-2000:])
        equal([name for name in b.live() if name.endswith(".live")], [], "taken in")


def case_refused(b):
    """What cannot be live says so."""
    for flags, word in (["--fp-threads=shared"], "--fp-threads"), (["--fp-mode=pep"], "sampled"):
        ends(b, *flags)
        done = b.run("./ends", "1000", "r", env={"FOOTPATH_LIVE": "1"})
        expect("not live" in done.stderr and word in done.stderr, "refused", done.stderr)
        equal(b.live(), [], "no file")
    b.cc("-O1", "-shared", "-fPIC", "--fp-threads=atomic", os.path.join(HERE, "plugin.c"), "-o", "plugin.so")
    b.cc("-O1", "-rdynamic", os.path.join(HERE, "kills.c"), "-o", "kills", "-ldl", "-lpthread")
    expect("plugin.so is built with" in b.killed(0, "plugin"), "a library")


def case_baked_in(b):
    """--fp-live in the link does what the variable does; the variable can say no."""
    ends(b, "--fp-live")
    b.build("--fp-live")
    b.killed(2, "spin", FOOTPATH_LIVE="")
    b.check(b.counts(), 2)
    b.tool("fold")
    b.killed(2, "spin", FOOTPATH_LIVE="0")
    equal(b.live(), [], "not live")


def case_store(b):
    """In the spool of a store."""
    b.build()
    b.killed(2, "spin", FOOTPATH_OUT="store:s.store")
    b.check(b.counts("store:s.store"), 2)
    b.check(b.counts("store:s.store"), 2)
    equal(glob.glob(b.path("s.store.spool", "*.live")), [], "taken in")


def looks(b, times):
    b.build()
    process = b.start(4, "spin")
    b.working(process)
    before = {}
    for _ in range(times):
        own = b.own()
        now = b.counts("pid:%d" % process.pid)
        for name, counts in before.items():
            # sorted lists: each count is at least what some count was before
            expect(all(n >= o for n, o in zip(now[name], counts)), "never falls: " + name)
        for name, mine in own.items():
            expect(sum(now.get(name, [])) >= sum(mine), "what has returned is counted: " + name)
        before = now
    expect(sum(before["few"]) > 0, "counts")
    process.kill()
    process.communicate()
    for name, counts in b.counts().items():
        expect(all(n >= o for n, o in zip(counts, before.get(name, []))), "the end: " + name)


def case_looks(b):
    """A running program is read without stopping it: counts never fall, and nothing that has returned is missing."""
    looks(b, 20)
    expect("--pid" in b.tool("show", "--pid", "x", status=2).stderr, "a number")
    expect("does not count" in b.tool("show", "--pid", str(os.getpid()), status=1).stderr, "not live")
    gone = str(1 << 30)  # more than any kernel gives
    expect("no such process" in b.tool("show", "--pid", gone, status=1).stderr, "no process")
    said = b.tool("watch", "--pid", gone, "--every", "0.1", status=1).stderr
    expect("no such process" in said and "is it a footpath profile" not in said, "nothing to watch", said)


def case_looks_long(b):
    looks(b, 1000)


if __name__ == "__main__":
    main(__doc__, ("--runs", {"type": int, "default": 4, "help": "kills of each kind"}), bench=Bench)
